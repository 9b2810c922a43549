"""The seven rules: what holds, what fails, what stays undecided, and for which reason."""

import math

import numpy as np
import pytest
from scipy import stats

from adversarium.experiments import checks as rules
from adversarium.experiments.checks import last
from adversarium.experiments.evidence import Quantity, Rows, clopper_pearson, interval
from adversarium.experiments.rnrf.measures import crossing


def rows(**probes):
    """Evidence of one run without a label; each probe a list over seeds (last values)."""
    values = {p: (np.array([1]), np.array(v, dtype=float)[:, None]) for p, v in probes.items()}
    n = len(next(iter(probes.values())))
    return {"": Rows(tuple(range(n)), values)}


def verdict(check, evidence):
    return check.judge(evidence).verdict


def test_the_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    draws = rng.normal(3.0, 2.0, size=(4000, 6))
    inside = [low <= 3 <= high for low, high in map(interval, draws)]
    assert 0.985 < np.mean(inside) < 0.995


def test_the_interval_of_a_share_is_never_narrower_than_its_counts_allow():
    low, high = interval(np.zeros(5), points=200)
    assert low == 0 and high == pytest.approx(stats.beta.ppf(0.995, 1, 1000))
    assert interval(np.zeros(5)) == (0, 0)
    assert all(math.isnan(v) for v in interval(np.array([1.0])))


def test_clopper_pearson_covers():
    rng = np.random.default_rng(1)
    counts = rng.binomial(50, 0.9, 2000)
    inside = [(lambda i: i[0] <= 0.9 <= i[1])(clopper_pearson(int(c), 50)) for c in counts]
    assert np.mean(inside) >= 0.99


def test_level():
    check = rules.level(last("x"), 0, 1)
    assert verdict(check, rows(x=[0.5, 0.51, 0.49, 0.5, 0.52])) == "holds"
    assert verdict(check, rows(x=[1.5, 1.51, 1.49, 1.5, 1.52])) == "fails"
    straddles = check.judge(rows(x=[0.9, 1.1, 0.95, 1.0, 0.98]))
    assert straddles.verdict == "undecided" and "too few seeds" in straddles.reason
    assert "seeds would decide it" in straddles.reason
    assert verdict(check, rows(x=[0.5] * 4)) == "undecided"
    lost = check.judge(rows(x=[0.5, 0.5, 0.5, 0.5, math.nan]))
    assert lost.verdict == "undecided" and "1 of 5" in lost.reason
    assert "too few seeds" in check.judge(rows(x=[math.nan])).reason


def test_identity():
    assert verdict(rules.identity(last("e"), 1e-12), rows(e=[1e-13])) == "holds"
    assert verdict(rules.identity(last("e"), 1e-12), rows(e=[1e-13, 1e-11])) == "fails"
    assert verdict(rules.identity(last("e"), 1e-12), rows(e=[math.nan])) == "fails"


def test_inequality_and_its_certificate():
    plain = rules.at_most(last("w"), 0.0)
    assert verdict(plain, rows(w=[-1, -1, -1, -1, -0.5])) == "holds"
    assert "0.5" in plain.judge(rows(w=[-1, -1, -1, -1, -0.5])).reason
    assert verdict(plain, rows(w=[-1, -1, -1, -1, 0.1])) == "fails"
    assert verdict(plain, rows(w=[-1, math.nan, -1, -1, -1])) == "undecided"
    stepped = rows(**{"w": [-1, -1, -1, -1, 0.1], "w.t": [0, 0, 0, 0, 7]})
    assert "(seed 4, step 7)" in plain.judge(stepped).reason
    assert verdict(plain, rows(w=[-1, -1])) == "undecided"
    proven = rules.at_most(last("w"), 0.0, proof=last("p"))
    assert verdict(proven, rows(w=[0] * 5, p=[0] * 5)) == "holds"
    weak = proven.judge(rows(w=[0] * 5, p=[0, 0, 0.2, 0, 0]))
    assert weak.verdict == "undecided" and weak.reason.startswith("inexact attack")
    assert verdict(proven, rows(w=[0, 0, 0, 0, 0.1], p=[1] * 5)) == "fails"


def test_ordering_is_paired():
    a, b = np.array([1.0, 5.0, 9.0, 2.0, 7.0]), np.array([0.9, 4.8, 8.9, 1.8, 6.9])
    assert verdict(rules.ordering(last("a"), than=last("b")), rows(a=a, b=b)) == "holds"
    assert verdict(rules.ordering(last("b"), than=last("a")), rows(a=a, b=b)) == "fails"
    assert verdict(rules.ordering(last("a"), than=last("b")), rows(a=a, b=a[::-1])) == "undecided"


def sized(slope, sizes=(100, 200, 400, 800)):
    rng = np.random.default_rng(0)
    return {
        f"d={d}": Rows(
            tuple(range(5)),
            {"y": (np.array([1]), (d**slope * np.exp(0.01 * rng.normal(size=5)))[:, None])},
        )
        for d in sizes
    }


def test_exponent_needs_four_sizes_over_a_factor_of_eight():
    check = rules.exponent("slope", "y", {f"d={d}": d for d in (100, 200, 400, 800)}, -1.0, 0.15)
    assert verdict(check, sized(-1.0)) == "holds"
    assert verdict(check, sized(-0.5)) == "fails"
    few = check.judge(sized(-1.0, (100, 200, 400)))
    assert few.verdict == "undecided" and few.reason.startswith("out of regime")


def test_frequency():
    check = rules.frequency(last("s"), 100, 0.9)
    assert verdict(check, rows(s=[99, 98, 97, 99, 100])) == "holds"
    assert verdict(check, rows(s=[70, 72, 69, 75, 71])) == "fails"
    assert verdict(check, rows(s=[90, 91, 90, 92, 89])) == "undecided"
    assert verdict(check, rows(s=[100, 100])) == "undecided"


def test_existence():
    assert verdict(rules.existence(last("found")), rows(found=[1])) == "holds"
    assert verdict(rules.existence(last("found")), rows(found=[1, 0, 1])) == "fails"


def test_every_and_each_pass_on_the_worst():
    good, bad, open_ = (
        rules.level(last("x"), *edges) for edges in ((0, 1), (5, 6), (0.4999, 0.50001))
    )
    evidence = rows(x=[0.5, 0.51, 0.49, 0.5, 0.52])
    assert verdict(rules.every(good, good), evidence) == "holds"
    assert verdict(rules.every(good, open_), evidence) == "undecided"
    assert verdict(rules.every(open_, bad), evidence) == "fails"
    one = {"a": evidence[""], "b": rows(x=[2.0] * 5)[""]}
    each = rules.each(lambda run: rules.level(last("x", run), 0, 1))
    assert verdict(each, {"a": one["a"]}) == "holds" and verdict(each, one) == "fails"
    nothing = rules.each(lambda run: good, where=lambda label: False).judge(one)
    assert nothing.verdict == "undecided"


def test_out_of_regime_is_undecided_never_a_failure():
    check = rules.in_regime(last("C"), 2.0)
    assert verdict(check, rows(C=[2.4])) == "holds"
    assert check.judge(rows(C=[0.4])).reason.startswith("out of regime")
    claim = rules.at_most(last("w"), 0.0)
    outside = rules.every(claim, check).judge(rows(C=[0.4] * 5, w=[1.0] * 5))
    assert outside.verdict == "undecided" and "out of regime" in outside.reason
    assert rules.every(claim, check).judge(rows(C=[4] * 5, w=[1.0] * 5)).verdict == "fails"
    assert (
        rules.every(rules.every(claim, check), claim).judge(rows(C=[0.4] * 5, w=[1.0] * 5)).verdict
        == "undecided"
    )


def test_the_crossing_is_found_after_the_steepest_growth():
    t = np.arange(0, 200, 2.0)
    falling = 1 / (1 + np.exp(-(t - 60) / 8))
    rising = 0.002 * t
    evidence = {"adv": Rows((0,), {"B": (t, falling[None]), "A": (t, rising[None])})}
    found = crossing("B", "A", "adv")(evidence)
    # s(1 − s)/8 = .002 at t = 60 + 8 ln((1 + √(1 − .064))/(1 − √(1 − .064)))
    root = math.sqrt(1 - 0.064)
    assert found[0] == pytest.approx(60 + 8 * math.log((1 + root) / (1 - root)), abs=2)


def test_a_random_hypothesis_drops_seeds_and_is_told():
    values = np.array([1.0, 1.1, 0.9, 1.0, 50.0, 1.0])
    start = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    rows = {"": Rows((0, 1, 2, 3, 7, 9), {"x": (np.array([0]), values[:, None]),
                                          "start": (np.array([0]), start[:, None])})}  # fmt: skip
    event = Quantity("start", lambda r: r[""].last("start"), points=1)
    assert rules.at_most(last("x"), 2.0).judge(rows).verdict == "fails"
    assert "seed 7" in rules.at_most(last("x"), 2.0).judge(rows).reason
    found = rules.given(event, rules.at_most(last("x"), 2.0)).judge(rows)
    assert found.verdict == "holds" and "seed 1)" in found.reason
    assert len(found.measured[0]["values"]) == 5
    assert found.measured[-1]["mean"] == pytest.approx(5 / 6) and found.measured[-1]["high"] <= 1
    never = Quantity("never", lambda r: np.zeros(6))
    assert rules.given(never, rules.at_most(last("x"), 2.0)).judge(rows).verdict == "undecided"


def test_checks_that_depend_on_what_was_run():
    rows = {"a": Rows((0,), {"x": (np.array([0]), np.zeros((1, 1)))})}
    of_all = lambda rows: [rules.identity(last("x", label), 0.0) for label in rows]
    assert rules.found("identity", of_all, "needs a run").judge(rows).verdict == "holds"
    empty = rules.found("identity", of_all, "needs a run").judge({})
    assert empty.verdict == "undecided" and "needs a run" in empty.reason
