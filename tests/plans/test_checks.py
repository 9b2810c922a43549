"""The rules: what holds, what fails, what stays undecided, and for which reason."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from adversarium import plans
from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Evidence,
    Existence,
    Exponent,
    Frequency,
    Given,
    Hypothesis,
    Identity,
    InRegime,
    Level,
    Need,
    NoDecay,
    NoGrowth,
    NotTestable,
    Open,
    Ordering,
    Parts,
    Present,
    UnlessRefuted,
    end,
    exactly,
    last,
    quantity,
    where,
)
from adversarium.plans.evidence import NO_ROWS, Quantity, Rows
from adversarium.plans.verdict import Outcome, Verdict, Why, combine, undecided
from adversarium.runs.scope import judged
from tests.plans.tables import patches, rows, run

BOTH = where(("a", "b"))


@pytest.mark.parametrize("name", ("u", "test_error", "test_error − train_error", "norm", "active"))
def test_a_verdict_does_not_depend_on_what_a_number_is_called(name):
    few = Quantity(name, lambda rows: np.array([0.0, 0.0, 0.01, 0.0, 0.2]))
    verdict = Level(few, 0.0, 1.0).judge(Evidence())
    assert (
        verdict.outcome == Outcome.UNDECIDED and verdict.measured[0].low < 0
    )  # kept as it is judged
    assert Level(few, high=1.0).judge(Evidence()).outcome == Outcome.HOLDS


NEAR_HALF = [0.5, 0.51, 0.49, 0.5, 0.52]


def word(check, evidence):
    return check.judge(evidence).verdict


def test_level():
    check = Level(last("x"), 0, 1)
    assert word(check, rows(x=NEAR_HALF)) == "holds"
    assert word(check, rows(x=[1.5, 1.51, 1.49, 1.5, 1.52])) == "fails"
    straddles = check.judge(rows(x=[0.9, 1.1, 0.95, 1.0, 0.98]))
    assert straddles.verdict == "undecided" and "too few seeds" in straddles.reason
    assert "seeds would decide it" in straddles.reason and straddles.why is Why.FEW_SEEDS
    assert word(check, rows(x=[0.5] * 4)) == "undecided"
    lost = check.judge(rows(x=[0.5, 0.5, 0.5, 0.5, math.nan]))
    assert lost.verdict == "undecided" and "1 of 5" in lost.reason
    assert "too few seeds" in check.judge(rows(x=[math.nan])).reason


def test_identity():
    assert word(Identity(last("e"), 1e-12), rows(e=[1e-13])) == "holds"
    assert word(Identity(last("e"), 1e-12), rows(e=[1e-13, 1e-11])) == "fails"
    assert word(Identity(last("e"), 1e-12), rows(e=[math.nan])) == "fails"


def test_inequality_and_its_certificate():
    plain = AtMost(last("w"), 0.0)
    assert word(plain, rows(w=[-1, -1, -1, -1, -0.5])) == "holds"
    assert "0.5" in plain.judge(rows(w=[-1, -1, -1, -1, -0.5])).reason
    assert word(plain, rows(w=[-1, -1, -1, -1, 0.1])) == "fails"
    assert word(plain, rows(w=[-1, math.nan, -1, -1, -1])) == "undecided"
    stepped = rows(**{"w": [-1, -1, -1, -1, 0.1], "step of w": [0, 0, 0, 0, 7]})
    assert "(seed 4, step 7)" in plain.judge(stepped).reason
    assert word(plain, rows(w=[-1, -1])) == "undecided"
    proven = AtMost(last("w"), 0.0, proof=last("p"))
    assert word(proven, rows(w=[0] * 5, p=[0] * 5)) == "holds"
    weak = proven.judge(rows(w=[0] * 5, p=[0, 0, 0.2, 0, 0]))
    assert weak.verdict == "undecided" and weak.reason.startswith("inexact attack")
    assert weak.why is Why.ATTACK
    assert word(proven, rows(w=[0, 0, 0, 0, 0.1], p=[1] * 5)) == "fails"


def test_ordering_is_paired():
    a, b = np.array([1.0, 5.0, 9.0, 2.0, 7.0]), np.array([0.9, 4.8, 8.9, 1.8, 6.9])
    assert word(Ordering(last("a"), than=last("b")), rows(a=a, b=b)) == "holds"
    assert word(Ordering(last("b"), than=last("a")), rows(a=a, b=b)) == "fails"
    assert word(Ordering(last("a"), than=last("b")), rows(a=a, b=a[::-1])) == "undecided"
    assert word(Ordering(last("a"), than=last("b"), by=0.5), rows(a=a, b=b)) == "fails"


def sized(slope, sizes=(100, 200, 400, 800)):
    rng = np.random.default_rng(0)
    return Evidence(
        tuple(
            run("size", {"d": d}, y=d**slope * np.exp(0.01 * rng.normal(size=5)))
            for d in reversed(sizes)
        )
    )


def test_exponent_needs_four_sizes_over_a_factor_of_eight():
    check = Exponent("slope", "y", "d", where("size"), -1.0, 0.15)
    assert word(check, sized(-1.0)) == "holds"
    assert word(check, sized(-0.5)) == "fails"
    few = check.judge(sized(-1.0, (100, 200, 400)))
    assert few.verdict == "undecided" and few.reason.startswith("spans too little")
    assert word(check, sized(-1.0, (100, 200, 300, 400))) == "undecided"


def test_an_exponent_may_be_open_on_one_side_or_taken_of_a_reading():
    above = Exponent("slope", "y", "d", where("size"), -1.0, (math.inf, 0.15))
    assert word(above, sized(-3.0)) == "holds" and word(above, sized(-0.5)) == "fails"
    number = end("y")
    over = Exponent("slope", number, "d", where("size"), 0.0, 0.15, per=lambda d: 1 / d)
    assert word(over, sized(-1.0)) == "holds"
    assert over.needs == (Need(where("size"), ("y",)),)
    fitted = Level(last("s"), 0.8, 1.2, kind="exponent")
    assert fitted.kind == "exponent" and word(fitted, rows(s=[1.0, 1.01, 0.99, 1, 1])) == "holds"


def test_frequency():
    check = Frequency(last("s"), 100, 0.9)
    assert word(check, rows(s=[99, 98, 97, 99, 100])) == "holds"
    assert word(check, rows(s=[70, 72, 69, 75, 71])) == "fails"
    assert word(check, rows(s=[90, 91, 90, 92, 89])) == "undecided"
    assert word(check, rows(s=[100, 100])) == "undecided"


def test_existence():
    assert word(Existence(last("found")), rows(found=[1])) == "holds"
    assert word(Existence(last("found")), rows(found=[1, 0, 1])) == "fails"
    unbuilt = Existence(last("found")).judge(rows(found=[1, math.nan]))
    assert unbuilt.why is Why.REGIME and "1 of 2" in unbuilt.reason


def test_every_and_each_pass_on_the_worst():
    good, bad, open_ = (Level(last("x"), *edges) for edges in ((0, 1), (5, 6), (0.4999, 0.50001)))
    evidence = rows(x=NEAR_HALF)
    assert word(Every(good, good), evidence) == "holds"
    assert word(Every(good, open_), evidence) == "undecided"
    assert word(Every(open_, bad), evidence) == "fails"
    a, b = run("a", x=NEAR_HALF), run("b", x=[2.0] * 5)
    all_runs = Each(where(), lambda place: Level(last("x", place), 0, 1))
    assert word(all_runs, Evidence((a,))) == "holds"
    assert word(all_runs, Evidence((a, b))) == "fails"
    nothing = Each(where("c"), lambda place: good).judge(Evidence((a, b)))
    assert nothing.verdict == "undecided" and "no such run" in nothing.reason
    absent = Parts({f"part {i}": Each(where(f"c{i}"), lambda place: good) for i in range(30)})
    told = absent.judge(Evidence((a, b)))
    assert told.reason.startswith("part 0 and 29 more parts: undecided, no such run")
    assert len(told.parts) == 30 and len(told.reason) < 120


def test_out_of_regime_is_undecided_never_a_failure():
    check = InRegime(last("C"), 2.0)
    assert word(check, rows(C=[2.4])) == "setting"
    assert check.judge(rows(C=[0.4])).reason.startswith("out of regime")
    claim = AtMost(last("w"), 0.0)
    outside = Every(claim, check).judge(rows(C=[0.4] * 5, w=[1.0] * 5))
    assert outside.verdict == "undecided" and "out of regime" in outside.reason
    assert word(Every(claim, check), rows(C=[4] * 5, w=[1.0] * 5)) == "fails"
    assert word(Every(Every(claim, check), claim), rows(C=[0.4] * 5, w=[1.0] * 5)) == "undecided"


def points_of(family):
    """The number of training points of a run: it needs the run, but no rows."""

    def of(rows):
        run = rows.one(where(family))
        return np.full(len(run.seeds), float(run.run.n))

    return quantity(f"n ({family})", of, Need(where(family), NO_ROWS))


def test_a_hypothesis_on_the_configuration_is_read_from_the_run_itself():
    check = InRegime(points_of("E"), 10)
    few, many = (Evidence((Rows(patches(family="E", n=n), (0, 1), {}),)) for n in (6, 12))
    assert word(check, many) == "setting" and word(check, few) == "undecided"
    assert "n (E) = 6 < 10" in check.judge(few).reason


def test_why_decides_and_not_the_words_of_a_reason():
    failing = AtMost(last("w"), 0.0)
    remark = NotTestable(
        "inequality", Why.CITED, "proven elsewhere, where nothing is out of regime"
    )
    both = Every(remark, failing).judge(rows(w=[1.0] * 5))
    assert "out of regime" in remark.judge(rows()).reason
    assert both.verdict == "fails" and both.why is None
    named = Every(failing, AtMost(last("out of regime"), 2.0))
    assert word(named, rows(**{"w": [1.0] * 5, "out of regime": [1.0] * 5})) == "fails"
    hidden = Verdict(Outcome.UNDECIDED, detail="nobody says so", why=Why.REGIME)

    class Outside:
        kind, needs = "level", ()

        def judge(self, rows):
            return hidden

    assert word(Every(failing, Outside()), rows(w=[1.0] * 5)) == "undecided"


def test_an_undecided_part_leaves_a_failure_standing_whatever_the_reason():
    failing = AtMost(last("w"), 0.0)
    for why in Why:
        told = undecided(why, "a reason")

        class Open:
            kind, needs = "level", ()

            def judge(self, rows, told=told):
                return told

        both = Every(Open(), failing).judge(rows(w=[1.0] * 5))
        assert both.verdict == ("undecided" if why is Why.REGIME else "fails")
        assert Every(Open()).judge(rows()).why is why


def test_what_no_experiment_decides_is_not_testable_and_says_why():
    verdict = NotTestable("level", Why.CITED, "Theorem 2 of another paper").judge(Evidence())
    assert verdict.outcome == Outcome.NOT_TESTABLE and verdict.why is Why.CITED
    assert verdict.reason.startswith("cited result: Theorem 2")
    vacuous = NotTestable("frequency", Why.VACUOUS, "the bound is negative").judge(Evidence())
    assert vacuous.verdict == "not testable" and "vacuous: the bound" in vacuous.reason


def test_a_hypothesis_is_told_with_its_factors_and_judged_by_nobody():
    told = Hypothesis("level", last("x"), last("w")).judge(rows(x=NEAR_HALF, w=[1.0] * 5))
    assert told.outcome == Outcome.SETTING and [m.name for m in told.measured] == ["x", "w"]
    both = Every(InRegime(last("w"), 0.5), Level(last("x"), 0, 1))
    assert both.judge(rows(x=NEAR_HALF, w=[1.0] * 5)).outcome == Outcome.HOLDS
    assert both.judge(rows(x=NEAR_HALF, w=[0.1] * 5)).why is Why.REGIME


def test_what_finite_sizes_cannot_refute_is_undecided_where_it_fails():
    check = UnlessRefuted(AtMost(last("w"), 0.0), "constants")
    assert word(check, rows(w=[-1.0] * 5)) == "holds"
    failed = check.judge(rows(w=[1.0] * 5))
    assert failed.why is Why.CONSTANT and "constants; violated" in failed.reason


def test_every_part_keeps_its_name_word_numbers_and_reason():
    check = Parts(
        {
            "signal": Level(last("x"), 0, 1),
            "noise": Every(AtMost(last("w"), 0.0), AtMost(last("w"), 9.0)),
            "e": Identity(last("e"), 1e-9),
        }
    )
    verdict = check.judge(rows(x=NEAR_HALF, w=[1.0] * 5, e=[0.0] * 5))
    assert [p.name for p in verdict.parts] == ["signal", "noise", "e"]
    assert [p.outcome for p in verdict.parts] == [Outcome.HOLDS, Outcome.FAILS, Outcome.HOLDS]
    assert verdict.verdict == "mixed" and len(verdict.measured) == 4
    assert [len(p.measured) for p in verdict.parts] == [1, 2, 1]
    assert "violated in 5 of 5" in verdict.parts[1].reason
    assert verdict.parts[0].measured[0].name == "x"
    runs = Evidence((run("a", x=NEAR_HALF), run("b", x=[3.0] * 5)))
    told = Each(where(), lambda place: Level(last("x", place), 0, 1)).judge(runs)
    assert told.verdict == "fails"  # one statement at two places: no part of it
    assert [(p.name, str(p.outcome)) for p in told.parts] == [
        ("x (a)", "holds"),
        ("x (b)", "fails"),
    ]
    alike = Each(where(), lambda place: Level(last("x", place), 0, 4)).judge(runs)
    assert [(p.name, len(p.measured)) for p in alike.parts] == [("x (2 runs)", 2)]


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        (("holds", "holds"), "holds"),
        (("holds", "fails"), "mixed"),
        (("holds", "undecided"), "undecided"),
        (("fails", "undecided"), "fails"),
        (("mixed", "undecided"), "mixed"),
        (("holds", "not testable"), "mixed"),
        (("fails", "not testable"), "fails"),
        (("not testable", "setting"), "not testable"),
        (("setting",), "setting"),
    ],
)
def test_the_word_of_several_parts(words, whole):
    assert combine([Outcome(word) for word in words]) == whole


def test_chance_is_shared_among_the_parts_of_a_claim():
    check = Level(last("x"), 0, 1)
    close = rows(x=[0.96, 0.93, 0.95, 0.97, 0.93])  # at 99 % just inside, at 99.9 % not
    assert word(check, close) == "holds"
    ten = Every(*[Level(last("x"), -i, 1) for i in range(10)])
    assert word(ten, close) == "undecided"
    sure = Every(check, *[AtMost(last("x"), 2.0) for _ in range(9)])  # no interval decides those
    assert word(sure, close) == "holds"


def test_no_growth_allows_what_the_statement_leaves_open():
    grown = {slope_: sized(slope_) for slope_ in (-1.0, 0.0, 0.25, 1.0)}
    said = {s: word(NoGrowth("y", "y", "d", where("size")), e) for s, e in grown.items()}
    assert said == {-1.0: "holds", 0.0: "holds", 0.25: "fails", 1.0: "fails"}
    logs = {s: word(NoGrowth("y", "y", "d", where("size"), logs=2), e) for s, e in grown.items()}
    assert logs == {-1.0: "holds", 0.0: "holds", 0.25: "undecided", 1.0: "fails"}
    falls = {s: word(NoDecay("y", "y", "d", where("size")), e) for s, e in grown.items()}
    assert falls == {-1.0: "fails", 0.0: "holds", 0.25: "holds", 1.0: "holds"}


def test_always_asks_every_seed():
    values = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.52]
    assert word(Level(last("x"), 0, 0.515), rows(x=values)) == "holds"
    always = Level(last("x"), 0, 0.515, always=True).judge(rows(x=values))
    assert always.verdict == "fails" and "1 of 10 seeds" in always.reason


def test_a_verdict_of_one_rule_is_its_own_part():
    (only,) = Level(last("x"), 0, 1).judge(rows(x=NEAR_HALF)).parts
    assert only.name == "x" and only.outcome == Outcome.HOLDS and only.sharpness


@pytest.mark.parametrize(
    ("check", "evidence", "said"),
    [
        (Level(last("x"), 0, 1), rows(x=[0.5] * 5), {"half width": 0, "from the edge": 0.5}),
        (Level(last("x"), high=1), rows(x=[3.0] * 5), {"half width": 0, "from the edge": -2}),
        (Level(last("x")), rows(x=[3.0] * 5), {"half width": 0}),
        (AtMost(last("x"), 2.0), rows(x=[0.5] * 5), {"factor below the bound": 4}),
        (AtMost(last("x"), 0.0), rows(x=[-0.5] * 5), {"slack": 0.5}),
        (AtMost(last("x"), 0.0), rows(x=[0.5] * 5), {"slack": -0.5}),
        (Identity(last("x"), 1e-9), rows(x=[1e-12]), {"tolerance": 1e-9}),
        (
            Ordering(last("x"), than=last("y"), by=1.0),
            rows(x=[5.0] * 5, y=[2.0] * 5),
            {"half width": 0, "from the edge": 2},
        ),
        (Existence(last("x")), rows(x=[1, 1, 1]), {"cases": 3}),
    ],
)
def test_a_verdict_says_how_sharp_it_is(check, evidence, said):
    verdict = check.judge(evidence)
    assert {s.what: s.value for s in verdict.sharpness} == said
    assert verdict.parts[0].sharpness == verdict.sharpness


def test_of_several_places_the_widest_interval_and_the_smallest_slack_speak():
    evidence = Evidence((run("a", x=NEAR_HALF), run("b", x=[0.8, 0.9, 0.7, 0.8, 0.8])))
    places = Each(where(), lambda place: Level(last("x", place), 0, 1))
    (part,) = Parts({"both": places}).judge(evidence).parts
    told = {s.what: s.value for s in part.sharpness}
    one, two = (
        {s.what: s.value for s in place.judge(evidence.shared(2)).parts[0].sharpness}
        for place in (Level(last("x", name), 0, 1) for name in "ab")
    )
    assert told["half width"] == max(one["half width"], two["half width"])
    assert told["from the edge"] == min(one["from the edge"], two["from the edge"])


def test_a_random_hypothesis_drops_seeds_and_is_told():
    values, start = [1.0, 1.1, 0.9, 1.0, 50.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0, 1.0]
    evidence = Evidence((run(seeds=(0, 1, 2, 3, 7, 9), x=values, start=start),))
    event = Quantity("start", lambda r: r.one(where()).last("start"), points=1)
    check = AtMost(last("x"), 2.0)
    assert word(check, evidence) == "fails" and "seed 7" in check.judge(evidence).reason
    kept = Given(event, check).judge(evidence)
    assert kept.verdict == "holds" and "seed 1)" in kept.reason
    assert len(kept.measured[0].values) == 5
    assert kept.measured[-1].mean == pytest.approx(5 / 6) and kept.measured[-1].high <= 1
    never = Quantity("never", lambda r: np.zeros(6))
    assert word(Given(never, check), evidence) == "undecided"


def test_checks_that_depend_on_what_was_run():
    def of_all(evidence):
        return [Identity(last("x", exactly(one.task)), 0.0) for one in evidence]

    check = Present("identity", of_all, "needs a run", (Need(where()),))
    assert word(check, Evidence((run("a", x=[0.0]), run("b", x=[0.0])))) == "holds"
    assert word(check, Evidence((run("a", x=[0.0]), run("b", x=[1.0])))) == "fails"
    empty = check.judge(Evidence())
    assert empty.verdict == "undecided" and "needs a run" in empty.reason


def event():
    return Quantity(
        "start",
        lambda r: r.one(where("a")).last("start"),
        (Need(where("a"), ("start",)),),
    )


def all_kinds():
    """A check of every rule, on the runs a and b of `WHOLE`."""
    x, w = last("x", "a"), last("w", "a")
    return {
        "identity": Identity(last("e", "a"), 1e-9),
        "at_most": AtMost(w, 2.0, proof=last("w", "b")),
        "level": Level(x, 0, 1),
        "power": Level(x, 0, 1, kind="exponent"),
        "ordering": Ordering(w, than=x),
        "exponent": Exponent("slope", "y", "d", where("size"), -1.0, 0.15),
        "frequency": Frequency(last("s", "a"), 100, 0.9),
        "existence": Existence(last("found", "a")),
        "in_regime": InRegime(w, 0.5),
        "given": Given(event(), AtMost(w, 2.0)),
        "unless_refuted": UnlessRefuted(AtMost(w, 0.0), "constants"),
        "cited": NotTestable("level", Why.CITED, "elsewhere"),
        "every": Every(Level(x, 0, 1), AtMost(last("w", "b"), 0.0)),
        "each": Each(BOTH, lambda place: Level(last("x", place), 0, 1)),
        "present": Present(
            "level",
            lambda runs: [Level(last("x", exactly(r.task)), 0, 1) for r in runs.where(BOTH)],
            "needs a run",
            (Need(BOTH, ("x",)),),
        ),
        "counted_as": CountedAs("ordering", Level(x, 0, 1)),
        "parts": Parts({"signal": Level(x, 0, 1), "noise": AtMost(w, 0.5)}),
        "no_growth": NoGrowth("slope", "y", "d", where("size")),
        "no_decay": NoDecay("slope", "y", "d", where("size"), logs=1),
        "setting": Hypothesis("level", x, w),
        "not_testable": NotTestable("level", Why.VACUOUS, "nothing"),
        "open": Open("level", "nothing"),
        "gated": Every(AtMost(w, 2.0), InRegime(points_of("train"), 1)),
    }


WHOLE = Evidence(
    (
        run(
            "a",
            x=NEAR_HALF,
            w=[1.0, 1.1, 1.2, 1.0, 1.1],
            e=[0.0] * 5,
            s=[99, 98, 97, 99, 100],
            found=[1] * 5,
            start=[1, 1, 0, 1, 1],
            more=[7.0] * 5,
            **{"step of w": [1, 2, 3, 4, 5]},
        ),
        run("b", x=[0.9] * 5, w=[1.5] * 5, more=[8.0] * 5),
        run("c", x=[9.0] * 5),
        *sized(-1.0).runs,
    )
)


@pytest.mark.parametrize("name", [name for name in all_kinds() if name != "gated"])
def test_a_check_reads_nothing_but_what_it_needs(name):
    check = all_kinds()[name]
    whole, alone = check.judge(WHOLE), judged(check, WHOLE)
    whole = replace(whole, kind=whole.kind or check.kind)  # it is the audit that records the kind
    assert alone == whole and alone.parts == whole.parts
    left = WHOLE.needed(check.needs)
    assert "c" not in [r.label for r in left]
    assert not any("more" in r.series for r in left)


@pytest.mark.parametrize("name", all_kinds())
def test_a_check_is_a_frozen_value_with_a_kind_and_needs(name):
    check = all_kinds()[name]
    assert isinstance(check, Check) and isinstance(check.needs, tuple)
    assert check.kind in {
        "identity", "inequality", "level", "ordering", "exponent", "frequency", "existence",
    }  # fmt: skip
    with pytest.raises((FrozenInstanceError, AttributeError)):
        check.kind = "level"
    for field in type(check).__dataclass_fields__:
        with pytest.raises(FrozenInstanceError):
            setattr(check, field, None)


def test_every_public_rule_is_among_those_that_are_tested():
    made = {type(check) for check in all_kinds().values()}
    rules = {
        value
        for value in vars(plans).values()
        if isinstance(value, type) and hasattr(value, "judge") and value is not Check
    }
    assert rules <= made


def test_checks_of_equal_data_are_equal():
    x, w = last("x"), last("w")
    for make in (
        lambda: Level(x, 0, 1),
        lambda: AtMost(w, 0.0, proof=x),
        lambda: Identity(x, 1e-9),
        lambda: Ordering(x, than=w, by=1.0),
        lambda: Parts({"signal": Level(x, 0, 1), "noise": Frequency(w, 100, 0.9)}),
        lambda: Given(x, UnlessRefuted(Existence(w), "constants")),
        lambda: CountedAs("ordering", InRegime(x, 2.0)),
        lambda: NotTestable("level", Why.CITED, "elsewhere"),
    ):
        assert make() == make()
    assert Level(x, 0, 1) != Level(x, 0, 2) and Level(x, 0, 1) != Level(x, 0, 1, kind="exponent")
    one, other = (NotTestable("level", Why.CITED, "elsewhere") for _ in range(2))
    assert hash(one) == hash(other)


def test_a_range_that_is_empty_is_refused():
    with pytest.raises(ValueError, match="low <= high, got 1 and 0"):
        Level(last("risk"), 1, 0)


@pytest.mark.parametrize("rule", [Identity, AtMost, Level])
def test_a_bound_that_is_not_a_number_is_refused(rule):
    number = Quantity("error", lambda rows: np.zeros(5))
    with pytest.raises(ValueError, match="needs a number, got nan"):
        rule(number, math.nan)


@pytest.mark.parametrize("given", [end("risk"), 0.5, "risk"])
def test_a_check_needs_a_number_of_a_run(given):
    with pytest.raises(ValueError, match=r"\.on\(where|one number per seed"):
        Level(Given, high=1.0)


def test_the_interval_that_is_judged_is_the_one_that_is_shown():
    error = Quantity("train_error", lambda rows: np.array([0.0, 0.5, 0.0, 0.3, 0.2]))
    verdict = Level(error, 0, 0.9).judge(Evidence())
    assert verdict.verdict == "undecided" and verdict.measured[0].low < 0
    assert Level(error, high=0.9).judge(Evidence()).verdict == "holds"


def test_a_run_that_the_plan_does_not_have_leaves_its_part_undecided():
    verdict = judged(Every(Level(last("risk", where("there")), 0, 1)), Evidence())
    assert (verdict.verdict, verdict.why) == ("undecided", "out of regime")
    assert "(another preset may have it): there selects 0 runs" in verdict.reason


class Talking:
    """A check that returns a word."""

    kind, needs = "level", ()

    def judge(self, rows):
        return "holds"


def test_a_check_that_does_not_return_a_verdict_is_refused():
    with pytest.raises(ValueError, match="must return a Verdict, got 'holds'"):
        judged(Talking(), Evidence())
