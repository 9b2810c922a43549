"""Errors on sampled points are known only up to the sampling error."""

import numpy as np
import pytest

import adversarium as av
from adversarium.plans import AtMost, Identity, Level, Reading, last, where
from adversarium.plans.evidence import Evidence, Quantity

PARTS = dict(
    data=av.data.Clusters(d=6, mu=6.0, beta=0.0),
    network=av.networks.TwoLayer(m=16),
    n=40,
    steps=100,
    eta=0.1,
    final=[
        av.measure.Error(n=20),
        av.measure.Error(n=20, name="robust_error"),
        av.measure.Error(on="train"),
    ],
)


@pytest.fixture(scope="module")
def rows():
    return Evidence((av.run(av.Run(**PARTS), seeds=range(5)).rows,))


def test_no_error_on_few_points_is_no_proof_of_no_error(rows):
    assert rows.runs[0].points("test_error") == 20 and rows.runs[0].points("train_error") == 0
    error = last("test_error")
    assert (error.of(rows) == 0).all()
    verdict = Level(error, 0, 0).judge(rows)
    assert verdict.verdict == "undecided" and verdict.measured[0].high > 0.01
    assert AtMost(error, 0.01).judge(rows).reason.startswith("too few points")
    assert AtMost(error, 0.6).judge(rows).verdict == "holds"
    assert Level(last("train_error"), 0, 0).judge(rows).verdict == "holds"


@pytest.mark.parametrize(
    ("function", "high"),
    [(lambda e: e - 0.001, 0.0), (lambda e: 3 * e**2, 0.001), (abs, 0.001)],
    ids=("shifted", "squared", "absolute"),
)
def test_a_function_of_a_sampled_error_is_as_uncertain_as_the_error(rows, function, high):
    read = Reading("of the error", lambda run: function(run.last("test_error")), ("test_error",))
    assert AtMost(read.on(where()), high).judge(rows).verdict == "undecided"
    assert Level(read.on(where()), high=high, always=True).judge(rows).verdict == "undecided"


def test_a_sampled_error_is_never_identical_to_zero_and_an_exact_one_may_be(rows):
    assert Identity(last("test_error"), 1e-9).judge(rows).verdict == "undecided"
    exact = Reading("of the error", lambda run: run.last("train_error"), ("train_error",))
    assert Identity(exact.on(where()), 1e-9).judge(rows).verdict == "holds"
    assert Level(exact.on(where()), 0, 0).judge(rows).verdict == "holds"


@pytest.mark.parametrize(
    ("share", "points", "word"),
    [(0.12, 100, "undecided"), (0.12, 100_000, "fails"), (0.08, 100_000, "holds")],
)
def test_a_bound_on_a_sampled_error_counts_the_error_of_the_sample(rows, share, points, word):
    sampled = Quantity("error", lambda rows: np.array([share] * 5), points=points)
    verdict = AtMost(sampled, 0.1).judge(rows)
    assert verdict.verdict == word
    assert verdict.chance == (word == "fails")  # to be reproduced on fresh seeds


def test_a_difference_has_the_error_of_both_its_sides(rows):
    clean, robust = last("test_error"), last("robust_error")
    alone, both = (one.reach(rows, 0.99) for one in (clean, robust - clean))
    assert both[1] - both[0] == pytest.approx(2 * (alone[1] - alone[0]))
