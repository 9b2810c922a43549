"""The audit: strongest evidence, aliases, the committed ledger recomputed."""

import json
from dataclasses import replace
from importlib.resources import files

import pytest

from adversarium.experiments.catalogue import claims, load, selected_claims
from adversarium.report.readme import committed_ledger
from adversarium.report.tables import summary
from adversarium.sweeps.audit import NOT_YET, audit, write_ledger
from adversarium.sweeps.run import key_of, run_block
from adversarium.sweeps.store import Store, shipped

CHEAP = 2.0  # seconds


def test_claims_without_an_experiment_are_not_yet_implemented_never_undecided(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    waiting = [c for c in claims().values() if not c.experiment and not c.alias_of]
    ledger, failures = audit(waiting, store)
    assert failures == [] and {e["verdict"] for e in ledger["claims"]} == {NOT_YET}


def test_an_alias_has_the_verdict_of_its_target(tmp_path, monkeypatch):
    import adversarium.sweeps.audit as module
    from adversarium.experiments.catalogue import Claim

    known = {**claims()}
    twin = Claim(id="conv.twin", source="x", kind="inequality", statement="y", alias_of="conv.eq16")
    monkeypatch.setattr(module, "claims", lambda: {**known, "conv.twin": twin})
    ledger, _ = audit([twin, known["conv.eq16"]], Store(tmp_path / "s.sqlite"))
    one, two = ledger["claims"]
    assert one["verdict"] == two["verdict"] == "holds"
    assert one["command"] == two["command"]


def test_stronger_evidence_is_taken_and_named(tmp_path, monkeypatch):
    from dataclasses import replace

    import adversarium.sweeps.audit as module

    small = dict(sizes=((20, 8_000, 13.0, 0.13),), steps=5, m=64)
    original = module.load("boat.thm3.1.train_error")
    cheap = replace(
        original, presets={"quick": {**small, "seeds": 5}, "paper": {**small, "seeds": 7}}
    )
    monkeypatch.setattr(module, "load", lambda id: cheap)
    store, chosen = Store(tmp_path / "s.sqlite"), selected_claims(("boat.thm3.1.train_error",))
    chosen = [c for c in chosen if c.experiment]
    assert audit(chosen, store)[0]["claims"][0]["preset"] == "quick"
    assert audit(chosen, store, "paper")[0]["claims"][0]["seeds"] == 7
    strongest = audit(chosen, store)[0]["claims"][0]
    assert (strongest["preset"], strongest["seeds"]) == ("paper", 7)


def test_the_committed_ledger_has_every_claim_with_our_texts():
    entries = committed_ledger()["claims"]
    assert [e["id"] for e in entries] == list(claims())
    for e in entries:
        claim = claims()[e["id"]]
        assert (e["statement"], e["kind"], e["source"]) == (
            claim.statement,
            claim.kind,
            claim.source,
        )
        assert (e["verdict"] == NOT_YET) == (not claims().get(claim.alias_of, claim).experiment)
    counted = [int(number) for _, _, *numbers in summary(entries) for number in numbers]
    assert sum(counted) == len(claims())


def _sample() -> list[str]:
    """Every entry that costs under two seconds, and the cheapest of each kind per paper."""
    judged = [e for e in committed_ledger()["claims"] if e["measured"]]
    cheap = {e["id"] for e in judged if e["seconds"] < CHEAP}
    for pair in {(e["paper"], e["kind"]) for e in judged}:
        own = [e for e in judged if (e["paper"], e["kind"]) == pair and e["seconds"] < 60]
        if own:
            cheap.add(min(own, key=lambda e: e["seconds"])["id"])
    return sorted(cheap)


@pytest.mark.slow
@pytest.mark.parametrize("id", _sample())
def test_a_committed_entry_is_recomputed_from_an_empty_store(id, tmp_path):
    (old,) = [e for e in committed_ledger()["claims"] if e["id"] == id]
    (claim,) = [c for c in selected_claims((id,)) if c.id == id]
    by_rows = old["preset"] == "paper"  # its rows come with the code
    store = Store(tmp_path / "s.sqlite")
    ledger, failures = audit([claim], store, old["preset"], fresh=not by_rows)
    (new,) = ledger["claims"]
    assert failures == [] and new["verdict"] == old["verdict"]
    for a, b in zip(new["measured"], old["measured"], strict=True):
        assert a["name"] == b["name"]
        for key in ("mean", "low", "high"):
            if a[key] is None or b[key] is None:
                assert a[key] == b[key]
            else:
                spread = abs(b["high"] - b["low"]) if b["low"] is not None else 0.0
                assert a[key] == pytest.approx(b[key], rel=1e-3, abs=1e-9 + 0.05 * spread)


def test_shipped_rows_begin_as_a_run_of_today_does():
    for id in ("rnrf.fig3", "rnrf.phases"):
        by_key = {block.key: block for block in shipped(id)}
        run = load(id).runs("paper")[1]
        block = by_key[key_of(run)]
        rows = run_block(replace(run, steps=20, final=(), folds=()), (0, 1))
        for probe in ("robust_features[0]", "nonrobust_features[1]"):
            t, values = rows[probe]
            times, kept = block.rows[probe]
            picked = [list(times).index(moment) for moment in t]
            assert values == pytest.approx(kept[:2, picked], rel=1e-3)


def test_writing_a_partial_ledger_replaces_only_its_own_entries(tmp_path):
    path = tmp_path / "ledger.json"
    whole = json.loads((files("adversarium") / "ledger.json").read_text())
    path.write_text(json.dumps(whole))
    ledger, _ = audit([claims()["conv.eq17"]], Store(tmp_path / "s.sqlite"))
    changed = {**ledger, "claims": [{**ledger["claims"][0], "note": "new"}]}
    write_ledger(path, changed)
    kept = json.loads(path.read_text())["claims"]
    assert len(kept) == len(whole["claims"])
    for old, new in zip(whole["claims"], kept, strict=True):
        assert new == old or (new["id"], new["note"]) == ("conv.eq17", "new")
