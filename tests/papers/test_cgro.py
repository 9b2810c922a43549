"""CGRO's checks agree with the runs."""

import numpy as np
import pytest

from adversarium.papers.cgro.theory.bounds import critical_n
from adversarium.papers.cgro.theory.ladders import ladders
from adversarium.papers.cgro.theory.patches import given_a_start, patches
from adversarium.papers.cgro.theory.regime import critical_count
from adversarium.plans import AtMost, Evidence, Rows, last, where
from adversarium.plans.evidence import Series
from adversarium.plans.loading import load
from adversarium.runs.changes import parse_changes, planned
from adversarium.runs.scope import judged

SEEDS = tuple(range(5))


def published_count(gap, alpha=200**0.249, sigma=200**-0.509):
    """Return N_c at d = 200, P = 3, m = 8."""
    return critical_n(200, 3, 8, alpha, sigma, 200**-0.5, gap)


def raced(*changes):
    """Return the runs of cgro.phases with changes; noise is memorised up to the published N_c."""
    runs = []
    for task in planned(load("cgro.phases"), "quick", parse_changes(changes)):
        share = np.full((5, 1), float(task.n < published_count(task.attack.gap)))
        numbers = {"memory_share": share, "robust_test_error": 0.5 * share}
        last = np.array([task.steps])
        runs.append(Rows(task, SEEDS, {k: Series(last, values) for k, values in numbers.items()}))
    return Evidence(tuple(runs))


def place(rows):
    """Return the part of the claim that states where the outcome switches."""
    return judged(load("cgro.phases").checks["cgro.thm4.1.N-critical"], rows).parts[0]


def test_a_changed_sigma_moves_the_critical_count_that_is_judged():
    before, after = place(raced()), place(raced("data.sigma=0.2"))
    assert before.outcome == "holds" and after.outcome == "fails"
    for a, b in zip(before.measured, after.measured, strict=True):
        assert b.mean / a.mean == pytest.approx((200**-0.509 / 0.2) ** 3)


def test_a_changed_count_is_the_one_that_is_judged():
    rows = raced("n=50")
    assert {run.task.coordinates["N"] for run in rows} == {50}
    assert len(ladders(rows)) == 3
    # one N is no ladder: nothing switches along it
    assert place(rows).outcome == "undecided" and "no finite value" in place(rows).reason


def test_the_ladders_critical_count_is_that_of_the_changed_run():
    rows = raced("alpha=2.0", "gap=(0.2, 0.17, 0.15)")
    for ladder, gap in zip(ladders(rows), (0.2, 0.17, 0.15), strict=True):
        own = published_count(gap, alpha=2.0)
        assert all(critical_count(run.task) == pytest.approx(own) for run in ladder)


@pytest.mark.parametrize("name", ("largest_signal", "signals"))
def test_seeds_without_a_positive_start_are_left_out(name):
    start = np.array([0.1, -0.2, 0.3, 0.1, 0.2, 0.5])
    every_unit = np.stack([start, start - 1], axis=-1)
    recorded = {
        "largest_signal": Series(np.array([0]), start[:, None]),
        "signals": Series(np.array([0]), every_unit[:, None], {"unit": (0.0, 1.0)}),
    }
    wrong = Series(np.array([9]), np.array([0, 9, 0, 0, 0, 0.0])[:, None])
    rows = Rows(patches("set"), tuple(range(6)), {"x": wrong, name: recorded[name]})
    told = judged(given_a_start(where("set"), AtMost(last("x", "set"), 1.0)), Evidence((rows,)))
    assert told.verdict == "holds" and told.measured[-1].mean == pytest.approx(5 / 6)
