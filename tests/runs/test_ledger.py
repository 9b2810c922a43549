"""The ledger: every claim with its verdict, in our words; the keys of the JSON are stable."""

import json
import math
from dataclasses import replace
from importlib.resources import files

import pytest

from adversarium.plans.evidence import Summary
from adversarium.plans.gates import Gate
from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import claims
from adversarium.plans.verdict import Outcome, Part, Sensitivity, Verdict
from adversarium.report.tables import summary
from adversarium.runs.audit import audit
from adversarium.runs.ledger import NOT_YET, Facts, Ledger, entry, read
from adversarium.runs.ledger_file import committed, line_of, read_line, write_ledger
from adversarium.runs.store import Store

KEYS = {
    *("id", "paper", "source", "statement", "kind", "verdict", "measured", "expected", "reason"),
    *("seeds", "preset", "engine", "seconds", "corrected", "command", "note"),
    *("parts", "regime", "spans", "sharpness", "reading", "for_all", "alias_of", "chance"),
    *("evidence", "waived", "finding", "numbers", "asked"),
}


def made():
    """Return an entry whose fields are all set."""
    numbers = (Summary("x", 1.0, 0.5, 1.5, (1.0, None)),)
    parts = (
        Part("signal", Outcome.HOLDS, numbers, "", (Sensitivity("half width", 0.5),)),
        Part("noise", Outcome.FAILS, (), "why"),
    )
    verdict = Verdict(Outcome.FAILS, numbers, None, 2.0, "why", within=parts)
    facts = Facts(
        "quick", 5, "full", 1.25, "0,1", (Gate("α/β", 2.0, low=1.0), Gate("P", math.inf)),
        {"d": (10, 40)},
    )  # fmt: skip
    return entry(claims()["rnrf.fig3.transition"], verdict, facts, claims())


def test_the_committed_ledger_has_every_claim_with_our_texts():
    entries = committed()
    assert [e.id for e in entries] == list(claims())
    for e in entries:
        claim = claims()[e.id]
        assert (e.statement, e.kind, e.source) == (claim.statement, claim.kind, claim.source)
        assert (e.verdict == NOT_YET) == (not claims().get(claim.alias_of, claim).experiment)
    counted = [int(number) for _, _, *numbers in summary(entries) for number in numbers]
    assert sum(counted) == sum(not claim.alias_of for claim in claims().values())


def test_an_entry_has_the_keys_of_the_contract():
    plain = made().plain()
    assert set(plain) == KEYS
    assert set(plain["measured"][0]) == {"name", "mean", "low", "high", "values"}
    assert set(plain["parts"][0]["measured"][0]) == {"name", "mean", "low", "high", "wanted"}
    assert set(plain["expected"]) == {"text", "low", "high"}
    assert set(plain["parts"][0]) == {
        *("name", "verdict", "measured", "reason", "sharpness", "low", "high")
    }
    assert set(plain["regime"][0]) == {"text", "factor", "printed", "low", "high", "holds", "run"}
    assert plain["spans"] == {"d": [10, 40]} and plain["sharpness"] == [
        {"part": "signal", "what": "half width", "value": 0.5}
    ]
    assert plain["command"].endswith("--preset quick --seeds 0,1")


def test_an_entry_that_was_written_is_read_again():
    one = made()
    text = json.dumps(one.plain(), allow_nan=False)
    again = read(json.loads(text))
    words = ("statement", "note", "reading")  # their mathematics is written as plain text
    assert again == replace(one, **{w: plain_text(getattr(one, w)) for w in words})
    assert again.regime[1].holds
    assert json.dumps(again.plain(), allow_nan=False) == text


def test_an_entry_of_an_older_ledger_has_no_parts():
    old = {k: v for k, v in made().plain().items() if k not in ("parts", "regime", "spans",
           "sharpness", "reading")}  # fmt: skip
    assert read(old).parts == () and read(old).verdict == "fails"


def test_a_claim_without_a_verdict_says_so_and_names_its_correction():
    corrected = next(id for id in claims() if id.endswith(".corrected"))
    bare = entry(claims()[corrected.removesuffix(".corrected")], None, Facts(), claims())
    assert bare.verdict == NOT_YET and bare.corrected == corrected and bare.command is None
    assert bare.measured == () and bare.plain()["measured"] == []


@pytest.fixture
def whole(tmp_path):
    """Return a copy of the committed ledger."""
    path = tmp_path / "ledger.json"
    path.write_text((files("adversarium.papers") / "ledger.json").read_text(encoding="utf-8"))
    return path


def test_writing_a_partial_ledger_replaces_only_its_own_entries(whole, tmp_path):
    before = json.loads(whole.read_text())["claims"]
    ledger, _ = audit([claims()["cgro.eq.decomp"]], Store(tmp_path / "s.sqlite"))
    write_ledger(whole, replace(ledger, claims=(replace(ledger.claims[0], reason="new"),)))
    kept = json.loads(whole.read_text())["claims"]
    assert len(kept) == len(before)
    for old, new in zip(before, kept, strict=True):
        assert new == old or (new["id"], new["reason"]) == ("cgro.eq.decomp", "new")
    assert [path.name for path in tmp_path.glob("*partial")] == []


def test_a_file_that_is_no_ledger_is_left_untouched(tmp_path):
    path = tmp_path / "ledger.json"
    for text in ("hello", "[1, 2]", '{"claims": [{"no": "id"}]}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="is not a ledger"):
            write_ledger(path, Ledger((made(),)))
        assert path.read_text() == text
    with pytest.raises(ValueError, match="cannot be written"):
        write_ledger(tmp_path / "no" / "where.json", Ledger((made(),)))


def test_the_committed_ledger_is_small_and_has_one_line_per_part():
    text = (files("adversarium.papers") / "ledger.json").read_text(encoding="utf-8")
    assert len(text.encode()) < 500_000
    parts = [part for line in json.loads(text)["claims"] for part in line.get("parts", ())]
    assert len(parts) > 700 and text.count('{"part"') == len(parts)
    assert max(map(len, text.splitlines())) < 8000


def test_a_line_of_the_ledger_has_what_an_entry_decides():
    one = made()
    again = read_line(json.loads(json.dumps(line_of(one), allow_nan=False)))
    assert (again.verdict, again.seeds, again.preset) == (one.verdict, one.seeds, one.preset)
    assert [(p.name, p.outcome, p.reason) for p in again.parts] == [
        (p.name, p.outcome, p.reason) for p in one.parts
    ]
    assert [(g.text, g.holds) for g in again.regime] == [(g.text, g.holds) for g in one.regime]
    assert again.statement == one.statement and again.spans == one.spans


def test_the_numbers_nearest_to_the_edge_are_written_down():
    numbers = tuple(Summary(f"n{i}", i, i, i, (float(i),), (None, 9)) for i in range(10))
    part = Part("p", Outcome.HOLDS, numbers, low=None, high=9)
    line = line_of(replace(made(), parts=(part,)))["parts"][0]
    assert set(line["numbers"]) == {"n8", "n9"} and line["of"] == 10
