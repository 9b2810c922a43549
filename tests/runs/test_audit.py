"""The audit runs only what is needed and uses the strongest rows; the committed ledger
recomputed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import adversarium.runs.audit as module
from adversarium.measure.errors import risk, train_error
from adversarium.plans import (
    AtMost,
    Each,
    Every,
    Hypothesis,
    Level,
    Need,
    NotTestable,
    Parts,
    Quantity,
    Read,
    Rows,
    Run,
    Trial,
    last,
    where,
)
from adversarium.plans.catalogue import selected_claims
from adversarium.plans.evidence import Evidence, Series
from adversarium.plans.experiment import Experiment
from adversarium.plans.gates import Gate
from adversarium.plans.loading import load
from adversarium.plans.papers import claims
from adversarium.plans.run import narrowed
from adversarium.plans.verdict import Outcome, Part, Verdict, Why, combine
from adversarium.runs.audit import (
    FRESH,
    AuditOptions,
    _partly_seen,
    audit,
    failing_parts,
    needed,
    planned_jobs,
    require_recorded,
    run_missing,
    stored_evidence,
    stored_verdicts,
)
from adversarium.runs.compute import compute
from adversarium.runs.jobs import Unit, resolve
from adversarium.runs.ledger import NOT_YET
from adversarium.runs.ledger_file import committed
from adversarium.runs.reader import Reader, evidence
from adversarium.runs.results import shipped
from adversarium.runs.scope import decided, judged, judged_rows, regime, spans
from adversarium.runs.store import Store
from tests.runs.small import clusters

CHEAP = 2.0  # seconds


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "s.sqlite")
    yield opened
    opened.close()


def test_claims_without_an_experiment_are_not_yet_implemented_never_undecided(store):
    bare = claims()["cgro.eq.decomp"]
    waiting = [replace(bare, id="cgro.later", experiment="")]
    ledger, failures = audit(waiting, store)
    assert failures == [] and {e.verdict for e in ledger.claims} == {NOT_YET}


def test_an_alias_has_the_verdict_of_its_target(store, monkeypatch):
    target = claims()["cgro.eq.decomp"]
    twin = replace(target, id="cgro.twin", experiment="", alias_of=target.id)
    monkeypatch.setattr(module, "claims", lambda: {**claims(), twin.id: twin})
    ledger, _ = audit([twin, target], store)
    one, two = ledger.claims
    assert one.verdict == two.verdict == "holds"
    assert one.command == two.command and one.measured == two.measured


def plan(sizes, broken=False):
    """Two families, of which each claim needs one."""
    for d in sizes:
        yield clusters(d=d, family="size", at={"d": Read("data.d")}, folds=())
    eta = -1.0 if broken else 0.05
    yield clusters(d=20, radius=0.2, eta=eta, family="control", final=(train_error,))


def gates(run):
    if not isinstance(run, Run):
        return ()
    return (Gate("d/n", run.data.d / run.n, 4.0), Gate("m", float(run.network.m), high=99.0))


TOY = Experiment(
    "toy.thm",
    "",
    plan,
    {"quick": dict(sizes=(20, 30), seeds=5), "paper": dict(sizes=(20, 30, 40), seeds=6)},
    {
        "toy.control": AtMost(last("risk", "control"), 9.0),
        "toy.size": AtMost(last("risk", where("size", d=30)), 9.0),
        "toy.cited": NotTestable("level", Why.CITED, "elsewhere"),
        "toy.both": Every(AtMost(last("train_error", "control"), 9.0),
                          AtMost(last("risk", where("size", d=20)), 9.0)),
    },
    gates=gates,
)  # fmt: skip


def claim(id):
    return replace(claims()["boat.thm3.1.train_error"], id=id, experiment="toy.thm")


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(module, "load", lambda id: TOY)
    return TOY


def test_only_the_runs_and_the_numbers_that_a_claim_needs_are_run(store, toy):
    ledger, failures = audit([claim("toy.control")], store)
    (entry,) = ledger.claims
    assert failures == [] and (entry.verdict, entry.preset, entry.seeds) == ("holds", "quick", 5)
    assert entry.engine == "gram" and entry.seconds > 0
    keys = {job.key: job.task.family for job in planned_jobs(TOY, "quick")}
    assert {keys[key] for (key,) in store._db.execute("SELECT key FROM runs")} == {"control"}
    assert {name for (name,) in store._db.execute("SELECT name FROM arrays")} == {"risk"}
    assert audit([claim("toy.control")], store)[0].claims[0].seconds == entry.seconds


def test_two_audits_add_up_and_the_second_runs_what_the_first_did_not(store, toy):
    audit([claim("toy.control")], store)
    before = set(store._db.execute("SELECT * FROM arrays"))
    ledger, _ = audit([claim("toy.both"), claim("toy.size")], store)
    assert [e.verdict for e in ledger.claims] == ["holds", "holds"]
    after = set(store._db.execute("SELECT * FROM arrays"))
    assert before < after
    labels = {job.key: job.task.label for job in planned_jobs(TOY, "quick")}
    ran = {labels[key] for (key,) in store._db.execute("SELECT key FROM runs")}
    assert ran == {"control", "size, d = 20", "size, d = 30"}


def test_a_citation_rests_on_no_rows(store, toy):
    ledger, _ = audit([claim("toy.cited")], store)
    (entry,) = ledger.claims
    assert entry.verdict == "not testable" and entry.reason.startswith("cited result")
    assert entry.preset == "quick"
    assert list(store._db.execute("SELECT * FROM runs")) == []


def unlucky(state, scene):
    """Raise an error."""
    raise ZeroDivisionError("by hand")


def test_a_run_that_fails_leaves_its_claims_undecided_and_is_reported(store, monkeypatch):
    quick = dict(sizes=(20,), broken=True, seeds=5)
    broken = replace(TOY, presets={"quick": quick, "paper": quick})
    monkeypatch.setattr(module, "load", lambda id: broken)
    with pytest.raises(ValueError, match="eta > 0"):
        audit([claim("toy.control")], store)

    def failing(**knobs):
        yield clusters(family="control", probes=(unlucky,))

    bad = replace(TOY, plan=failing, presets={"quick": dict(seeds=5), "paper": dict(seeds=5)},
                  checks={"toy.control": AtMost(last("unlucky", "control"), 9.0)})  # fmt: skip
    monkeypatch.setattr(module, "load", lambda id: bad)
    ledger, failures = audit([claim("toy.control")], store)
    assert ledger.claims[0].verdict == "undecided"
    assert ledger.claims[0].reason.startswith(Why.FAILED) and "by hand" in failures[0]
    assert "by hand" in store.failures()[0]["reason"]


def test_stronger_evidence_is_taken_and_named(store, toy):
    chosen = [claim("toy.control"), claim("toy.cited")]
    assert audit(chosen, store)[0].claims[0].preset == "quick"
    assert audit(chosen, store, AuditOptions("paper"))[0].claims[0].seeds == 6
    strongest, citation = audit(chosen, store)[0].claims
    assert (strongest.preset, strongest.seeds) == ("paper", 6)
    assert citation.preset == "quick"
    asked = audit(chosen, store, AuditOptions(seeds=(0, 1, 2, 3, 4)))[0].claims[0]
    assert (asked.preset, asked.seeds) == ("quick", 5)
    assert asked.command.endswith("--preset quick --seeds 0,1,2,3,4")


def test_what_is_asked_afresh_is_computed_again(store, toy):
    audit([claim("toy.control")], store)
    (key,) = [key for (key,) in store._db.execute("SELECT key FROM runs")]
    stamp = store.provenance(key, range(5))["time"]
    audit([claim("toy.control")], store)
    assert store.provenance(key, range(5))["time"] == stamp
    audit([claim("toy.control")], store, AuditOptions(fresh=True))
    assert store.provenance(key, range(5))["time"] > stamp


def test_an_entry_says_what_its_evidence_spans_and_how_it_meets_the_hypotheses(store, toy):
    ledger, _ = audit([claim("toy.both")], store)
    (entry,) = ledger.claims
    assert [(g.text, g.factor) for g in entry.regime] == [("d/n", 20 / 8), ("m", 6.0)]
    assert not entry.regime[0].holds and entry.regime[1].holds
    assert [p.name for p in entry.parts] == ["train_error (control)", "risk (size, d = 20)"]
    assert len(entry.sharpness) == 2


def test_the_worst_run_speaks_for_a_hypothesis():
    tasks = TOY.tasks("paper")
    assert {g.text: g.factor for g in regime(TOY, tasks)} == {"d/n": 20 / 8, "m": 6.0}
    assert regime(replace(TOY, gates=None), tasks) == ()


def test_evidence_spans_the_letters_of_its_paper_and_the_coordinates_of_its_runs():
    boat = replace(TOY, id="boat.toy")
    told = spans(boat, boat.tasks("paper"))
    assert told["d"] == (20, 30, 40) and told["n"] == (8,) and told["radius"] == (0.2, 0.3)
    own = replace(boat, file=Path("own.py"))  # a user's file has no paper
    assert spans(own, own.tasks("paper")) == {"d": (20, 30, 40)}


def test_stored_evidence_is_the_strongest_that_is_there(store):
    assert stored_evidence(TOY, store) is None
    quick = planned_jobs(TOY, "quick")
    run_missing(TOY, quick, range(5), Reader(store, TOY.id))
    preset, seeds, jobs, rows = stored_evidence(TOY, store)
    assert (preset, seeds, len(jobs), len(rows)) == ("quick", (0, 1, 2, 3, 4), 3, 3)
    made = stored_verdicts(TOY, TOY.checks, Reader(store, TOY.id), "quick")
    assert {id: v.verdict for id, (v, _) in made.items()} == {
        "toy.control": "holds",
        "toy.size": "holds",
        "toy.cited": "not testable",
        "toy.both": "holds",
    }
    whole = evidence(Reader(store, TOY.id), quick, range(5))
    assert judged(TOY.checks["toy.both"], whole) == made["toy.both"][0]


def test_what_is_needed_of_a_task_is_narrowed_to_its_names():
    tasks = TOY.tasks("quick")
    (task,) = needed(tasks, [Need(where("control"), ("train_error",))])
    assert task.probes == (train_error,) and task.final == (train_error,)
    (both,) = needed(tasks, [Need(where("control"), ("risk",)), Need(where("control"))])
    assert both.probes == (risk, train_error)
    assert needed(tasks, []) == []


def _sample() -> list[str]:
    """Return the entries that take under two seconds, and the cheapest of each kind per paper."""
    known = [e for e in committed() if e.measured]
    cheap = {e.id for e in known if e.seconds < CHEAP}
    for pair in {(e.paper, e.kind) for e in known}:
        alike = [e for e in known if (e.paper, e.kind) == pair and e.seconds < 60]
        if alike:
            cheap.add(min(alike, key=lambda e: e.seconds).id)
    return sorted(cheap)


@pytest.mark.slow
@pytest.mark.parametrize("id", _sample())
def test_a_committed_entry_is_recomputed_from_an_empty_store(id, store):
    (old,) = [e for e in committed() if e.id == id]
    (chosen,) = [c for c in selected_claims((id,)) if c.id == id]
    by_rows = old.preset == "paper"  # its rows come with the code
    ledger, failures = audit([chosen], store, AuditOptions(old.preset, fresh=not by_rows))
    (new,) = ledger.claims
    assert failures == [] and new.verdict == old.verdict
    fresh = [{m.name: m for m in part.measured} for part in new.parts]
    decisive = zip(fresh, old.parts, strict=True)
    for a, b in ((known[m.name], m) for known, part in decisive for m in part.measured):
        for mine, known in ((a.mean, b.mean), (a.low, b.low), (a.high, b.high)):
            if mine is None or known is None:
                assert mine == known
            else:
                spread = abs(b.high - b.low) if b.low is not None else 0.0
                assert mine == pytest.approx(known, rel=1e-3, abs=1e-9 + 0.05 * spread)


@pytest.mark.parametrize("id", ("rnrf.fig3", "rnrf.phases"))
def test_shipped_rows_begin_as_a_run_of_today_does(id):
    by_key = {block.key: block for block in shipped(id)}
    run = load(id).tasks("paper")[1]
    block = by_key[resolve(run).key]
    short = narrowed(replace(run, steps=20), frozenset(("robust_features", "nonrobust_features")))
    (begun,) = compute(Unit((resolve(short),), ((0, 1),))).blocks
    assert len(begun.kept) == 2
    for probe, kept in begun.kept.items():
        for name, mine in kept.series.items():
            whole = block.kept[probe].series[name]
            place = [block.seeds.index(seed) for seed in (0, 1)]
            picked = [list(whole.t).index(t) for t in mine.t]
            assert mine.values == pytest.approx(whole.values[place][:, picked], rel=1e-3)


def test_shipped_rows_are_those_of_todays_plans():
    for id in ("cgro.constructions", "cgrm.constructions", "cgrm.modified"):
        jobs = {job.key: job for job in planned_jobs(load(id), "paper")}
        assert {block.key for block in shipped(id)} == set(jobs), id
        for block in shipped(id):
            asked = jobs[block.key].asked
            assert block.kept and set(block.kept) <= set(asked), id
            if isinstance(jobs[block.key].task, Run):
                names = {r.id for r in jobs[block.key].task.recordings}
                assert names == set(asked)


def test_a_check_of_a_number_that_no_run_records_is_refused(store, toy):
    lost = replace(toy, checks={"toy.lost": Level(last("rsik", "control"), 0, 1)})
    with pytest.raises(ValueError, match="needs 'rsik', which the plan does not record; it rec"):
        require_recorded(lost, ["toy.lost"], toy.tasks("quick"))


def sized(family, numbers, **runs):
    """Return one run per value of the only coordinate in `runs`, with the same rows in each."""
    ((letter, values),) = runs.items()
    series = {name: Series(np.zeros(1), np.full((5, 1), v)) for name, v in numbers.items()}
    seeds = tuple(range(5))
    return [
        Rows(Trial(function=max, family=family, at={letter: value}), seeds, series)
        for value in values
    ]


def test_a_statement_for_all_values_of_a_letter_needs_three_over_a_factor_of_four():
    def word(values, risk=0.5, **fields):
        rows = Evidence(tuple(sized("size", {"risk": risk}, d=values)))
        for_all = replace(claim("toy.control"), for_all=("d",), **fields)
        return decided(TOY, for_all, Each(where("size"), bounded), rows)

    def bounded(run):
        return AtMost(last("risk", run), 1.0)

    assert word((10, 20, 40)).verdict == "holds"
    narrow = word((20, 30, 40))
    assert narrow.why is Why.SPANS and "d: 20, 30, 40" in narrow.reason
    assert word((10, 40)).why is Why.SPANS
    assert word((10,), proved=True).verdict == "holds"
    assert word((10,), risk=2.0).verdict == "fails"  # one counterexample is enough


def bounded_parts(*families):
    return Parts({f: Each(where(f), lambda run: AtMost(last("risk", run), 1.0)) for f in families})


def test_every_named_part_is_held_against_its_own_evidence():
    wide = sized("wide", {"risk": 0.5}, d=(1, 2, 4))
    thin = sized("thin", {"risk": 0.5}, n=(1, 2, 4))
    rows, check = Evidence((*wide, *thin)), bounded_parts("wide", "thin")
    for_all = replace(claim("toy.control"), for_all=("d",))
    seen = decided(TOY, for_all, check, rows)
    assert [part.outcome for part in seen.parts] == [Outcome.HOLDS, Outcome.UNDECIDED]
    assert seen.outcome == Outcome.UNDECIDED and "thin" in seen.reason and "d: not" in seen.reason
    apart = replace(for_all, for_part={"thin": ("n",)})  # what a part has fewer letters of
    assert decided(TOY, apart, check, rows).verdict == "holds"


def large_d(task):
    return (Gate("d", float(task.coordinates["d"]), low=10.0), Gate("1/d", 1.0, printed=False))


@pytest.mark.parametrize("value", [0.5, 2.0])
def test_a_hypothesis_that_is_not_met_leaves_a_part_undecided_unless_it_is_waived(value):
    experiment = replace(TOY, gates=large_d)
    outside = sized("outside", {"risk": value}, d=(1, 20))
    inside = sized("inside", {"risk": value}, d=(20,))
    rows, check = Evidence((*outside, *inside)), bounded_parts("outside", "inside")
    word = "holds" if value <= 1 else "fails"

    def decide(rows=rows, **waived):
        about_no_letter = replace(claim("toy.control"), for_all=(), waived=waived)
        return decided(experiment, about_no_letter, check, rows)

    bound = decide()
    assert [part.outcome for part in bound.parts] == ["undecided", word]
    assert bound.parts[0].reason == "out of regime: d = 1, required ≥ 10: no (outside, d = 1)"
    assert decide(d="proof: only d > 0 is used").outcome == word
    assert decide(d="arm: inside").outcome == word
    # an arm that has another verdict, or that lies outside itself, shows nothing
    other = Evidence((*outside, *sized("inside", {"risk": 2.5 - value}, d=(20,))))
    assert decide(other, d="arm: inside").parts[0].outcome == "undecided"
    assert decide(d="arm: outside").parts[0].outcome == "undecided"


def test_a_violation_by_a_published_experiment_is_labelled_as_outside_the_hypotheses():
    experiment = replace(TOY, gates=large_d)
    published = replace(claim("toy.control"), waived={"*": "published"})
    check = bounded_parts("outside")
    for value, label in ((2.0, True), (0.5, False)):
        rows = Evidence(tuple(sized("outside", {"risk": value}, d=(1,))))
        found = decided(experiment, published, check, rows)
        assert ("outside the theorem's hypotheses (d = 1" in found.reason) == label


def test_rows_that_are_only_reported_do_not_count_as_evidence():
    rows = Evidence((*sized("a", {"risk": 0.5}, d=(1,)), *sized("b", {"risk": 0.5}, d=(9,))))
    check = Parts(
        {"a": bounded_parts("a").checks["a"], "b": Hypothesis("level", last("risk", "b"))}
    )
    found = decided(TOY, claim("toy.control"), check, rows)
    assert spans(TOY, [run.task for run in judged_rows(check, found, rows)])["d"] == (1,)


def test_only_the_parts_that_fail_are_seen_again():
    good, bad = Level(last("risk"), 0), Level(last("train_error"), 5)
    check = Every(Parts({"good": good, "bad": bad}), Level(last("risk"), -1))
    verdict = Verdict(
        Outcome.MIXED, within=(Part("good", Outcome.HOLDS), Part("bad", Outcome.FAILS))
    )
    assert failing_parts(check, verdict).needs == bad.needs
    assert failing_parts(good, Verdict(Outcome.FAILS)) is good


def drawn(rng, shift):
    """Return a number that is below 1 in the first seeds and, for another shift, only there."""
    seed = rng.initial_seed() % 1000 / 1000
    return {"drawn": seed + shift}


def chancy(monkeypatch, check):
    def plan():
        yield Trial(function=drawn, parameters={"shift": 2.0})

    made = replace(
        TOY,
        plan=plan,
        presets={"quick": dict(seeds=6), "paper": dict(seeds=6)},
        checks={"toy.chance": check},
    )
    monkeypatch.setattr(module, "load", lambda id: made)
    return made


def test_a_failure_by_chance_is_seen_again_on_fresh_seeds(store, monkeypatch):
    chancy(monkeypatch, Level(last("drawn"), 0, 1))
    (entry,) = audit([claim("toy.chance")], store)[0].claims
    assert entry.verdict == "fails" and entry.chance and "reproduced on 6 fresh" in entry.reason
    (key,) = (key for (key,) in store._db.execute("SELECT key FROM runs"))
    assert store.seeds(key) == {*range(6), *range(FRESH, FRESH + 6)}
    asked = audit([claim("toy.chance")], store, AuditOptions(seeds=(0, 1, 2, 3, 4, 5, 6)))[
        0
    ].claims[0]
    assert asked.verdict == "fails" and store.seeds(key) == {*range(7), *range(FRESH, FRESH + 6)}


def test_a_failure_that_fresh_seeds_do_not_show_is_undecided(store, monkeypatch):
    lucky = Quantity(
        "lucky", lambda rows: rows.one(where()).last("drawn") - 9 * (rows.seeds[0] >= FRESH),
        last("drawn").needs,
    )  # fmt: skip
    chancy(monkeypatch, Level(lucky, high=1))
    (entry,) = audit([claim("toy.chance")], store)[0].claims
    assert entry.verdict == "undecided" and "but holds on 6 fresh seeds" in entry.reason


def test_failing_parts_that_are_not_seen_again_are_open_and_the_others_stay():
    def verdict(*words):
        Parts = tuple(Part(f"({i})", word, reason="why") for i, word in enumerate(words))
        return Verdict(combine([p.outcome for p in Parts]), within=Parts, chance=True)

    first = verdict(Outcome.HOLDS, Outcome.FAILS, Outcome.FAILS)
    made = _partly_seen(first, verdict(Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED), 10)
    assert [p.outcome for p in made.parts] == [Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED]
    assert made.outcome == Outcome.MIXED
    assert "reproduced on 10 fresh seeds" in made.parts[1].reason
    assert "not reproduced on 10 fresh seeds (why)" in made.parts[2].reason
