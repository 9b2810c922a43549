"""Phase diagrams: the fitted boundary, its interval, what cannot be fitted, and the picture."""

import numpy as np
import pytest

from adversarium.plans import Evidence, Phase, Rows, Switch, Trial, where
from adversarium.plans.boundary import crossings, fit
from adversarium.plans.evidence import Series
from adversarium.report.figures import draw


def plane(power=-0.5, noise=0.1, seeds=6):
    """Return outcomes that switch at y = x^power, with a blur that varies with the seed."""
    rng = np.random.default_rng(1)
    x, y = (v.ravel() for v in np.meshgrid(np.geomspace(1, 100, 9), np.geomspace(0.05, 2, 9)))
    side = power * np.log10(x) - np.log10(y)
    return x, y, (side[:, None] + noise * rng.normal(size=(81, seeds)) > 0).astype(float)


def test_a_boundary_is_found_with_its_power():
    x, y, values = plane()
    found = fit(x, y, values, 0.5)
    power, low, high = found.slope()
    assert low <= -0.5 <= high and abs(power + 0.5) < 0.1 and high - low < 0.4
    at, bottom, top = found.y(np.array([10.0]))
    assert bottom[0] <= 10**-0.5 <= top[0] and bottom[0] < at[0] < top[0]
    same, _, _ = found.factor(np.array([2.0, 50.0]), np.array([2.0, 50.0]) ** -0.5)
    assert 1 <= same < 1.3
    away, _, _ = found.factor(np.array([10.0]), np.array([2 * 10**-0.5]))
    assert away == pytest.approx(2, rel=0.3)


def test_what_says_nothing_is_not_fitted():
    x, y, values = plane()
    assert fit(x, y, values[:, :3], 0.5) is None  # too few seeds
    assert fit(x, y, np.ones_like(values), 0.5) is None  # nothing switches
    assert fit(x, np.ones_like(y), values, 0.5) is None  # one y
    upright = np.repeat((x > 10)[:, None], 6, axis=1).astype(float)
    assert fit(x, y, upright, 0.5) is None  # y does not decide
    half = np.where(np.arange(81)[:, None] % 2 == 0, 0.5, values)
    assert fit(x, y, half, 0.5).slope()[0] == pytest.approx(-0.5, abs=0.15)  # ½ is no outcome


def test_a_prediction_crosses_zero_between_cells():
    x, y = np.repeat([4.0, 400.0], 5), np.tile([0.1, 0.5, 3.0, 10.0, 100.0], 2)
    found = crossings(x, y, np.log(x / y**2))
    assert found == pytest.approx(np.array([(4, 2), (400, 20)]))
    assert crossings(x, y, np.ones(10)).shape == (0, 2)


def outcome(rng):
    """A task that is not run; its rows are given."""


def side(task):
    """Return the logarithm of the factor by which a cell lies below y = x^(−1/2)."""
    return -np.log(task.coordinates["y"] * task.coordinates["x"] ** 0.5)


def test_a_phase_diagram_is_drawn_with_both_boundaries(tmp_path):
    cells = []
    for x, y, values in zip(*plane(), strict=True):
        task = Trial(function=outcome, family="plane", at={"x": float(x), "y": float(y)})
        cells.append(Rows(task, tuple(range(6)), {"share": Series(np.array([1]), values[:, None])}))
    other = Trial(function=outcome, family="ladder", at={"x": 1.0})  # not of the plane
    ladder = Rows(other, tuple(range(6)), cells[0].series)
    figure = Phase(
        name="phase", run=where("plane"), x="x", y_along="y", x_label="x", y_label="y",
        switch=Switch(probe="share", above=0.5, predicted=side), point=("here", 10.0, 0.3),
    )  # fmt: skip
    (file,) = draw(figure, Evidence((*cells, ladder)), tmp_path)
    numbers = file.with_suffix(".csv").read_text()
    assert "fitted boundary" in numbers and "predicted boundary" in numbers
    assert numbers.count("\n") == 1 + 81 + 9 + 9
    assert draw(figure, Evidence((ladder,)), tmp_path) == []
