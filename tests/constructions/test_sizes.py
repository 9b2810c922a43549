"""The parameters of the explicit networks: a constant number per ball and per dimension."""

import pytest

from adversarium.constructions import Balls, sizes
from adversarium.rng import stream


def _memorising(n, D=4, norm="linf", gate="exact"):
    return sizes.memorising_counts(stream(0, "trial"), norm=norm, gate=gate, n=n, D=D)


@pytest.mark.parametrize("norm", ("linf", "l2"))
@pytest.mark.parametrize("gate", ("exact", "product"))
def test_every_memorised_cell_costs_the_same(norm, gate):
    a, b, c = (_memorising(n, norm=norm, gate=gate)["parameters"] for n in (2, 3, 4))
    assert c - b == pytest.approx(b - a, rel=0.01) and b > a  # a label of −1 can save a zero


def test_zeros_are_not_counted():
    rows = _memorising(4)
    assert rows["parameters"] < rows["all_parameters"]
    assert rows["per N·D"] == rows["parameters"] / 16


def test_random_cells_differ():
    cells = sizes._random_cells(stream(0, "trial"), 8, 4)
    assert len(cells.unique(dim=0)) == 8 and set(cells.flatten().tolist()) == {-1.0, 1.0}


def test_a_balls_memory_grows_like_balls_times_dimension():
    memory = lambda n, D: sizes.ball_counts(stream(0, "trial"), n=n, D=D)["memory"]
    assert memory(16, 4) / memory(8, 4) == pytest.approx(2, rel=0.1)
    assert memory(4, 16) / memory(4, 8) == pytest.approx(2, rel=0.15)


def test_the_clean_classifier_knows_nothing_of_the_balls():
    few, many = (sizes.ball_counts(stream(0, "trial"), n=n, D=4) for n in (4, 8))
    assert few["clean"] == many["clean"] < few["memory"] < many["memory"]


def test_a_class_that_memorises_shatters_and_one_with_wide_ramps_does_not(monkeypatch):
    rows = sizes.shattered(stream(0, "trial"), n=6, D=4, labellings=6)
    assert rows["VC dimension, at least"] == 6 and rows["bound"] == 1
    wide = lambda x, y, delta, R: Balls(x=x, y=y, delta=delta, R=3 * R)
    monkeypatch.setattr(sizes, "Balls", wide)
    assert sizes.shattered(stream(0, "trial"), n=6, D=4, labellings=6)["bound"] == 0


def test_clean_is_smaller_than_memorising_and_that_than_robust():
    rows = sizes.complexity_order(stream(0, "trial"), sizes=(5,), n=20)
    assert rows["clean, D = 5"] < rows["CGRM, D = 5"] < rows["robust, D = 5"]
    assert rows["bound, D = 5"] == pytest.approx((rows["robust, D = 5"] / 16) ** 0.5)


def test_memorising_every_cell_is_the_robust_network():
    rows = sizes.complexity_order(stream(0, "trial"), sizes=(5,), n=16, mu=1.0)
    assert rows["CGRM, D = 5"] == rows["robust, D = 5"]
