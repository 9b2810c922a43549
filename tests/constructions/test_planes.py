"""Random networks of the plane: linear pieces, windows, roots, and balls across the boundary."""

import math

import torch

from adversarium.constructions import planes
from adversarium.rng import normal, stream


def test_pieces_are_few_and_linear():
    rows = planes.regions(stream(0, "trial"), nets=3)
    assert 0 < rows["regions/2^n"] <= 1 and rows["spread"] < 1e-12


def test_units_without_a_kink_have_no_linear_pieces(monkeypatch):
    monkeypatch.setattr(torch, "relu", torch.nn.functional.softplus)
    assert planes.regions(stream(0, "trial"), nets=3)["spread"] > 1e-3


def test_roots_of_a_line_lie_on_it():
    line = torch.linspace(-2, 2, 41, dtype=torch.float64)
    x = torch.cartesian_prod(line, line)
    *roots, far_away = planes._roots(line, (x[:, 0] + 2 * x[:, 1] - 0.3).view(41, 41))
    assert len(roots) > 40 and far_away.min() > 1e8
    assert all(abs(r[0] + 2 * r[1] - 0.3) < 1e-12 for r in roots)


def test_a_window_maximum_is_the_largest_value_in_reach():
    values = normal((9, 9), stream(0, "window"))
    windows = planes._window_maximum(values, 2)
    assert windows[4, 4] == values[2:7, 2:7].max() and windows[0, 8] == values[:3, 6:].max()


def test_the_proposition_holds_at_right_points_only():
    rows = planes.boundary(stream(0, "trial"), grid=101)
    assert rows["right"] == 0 and rows["all"] > 0.1


def test_half_a_decision_boundary_is_not_enough(monkeypatch):
    whole = planes._roots
    monkeypatch.setattr(planes, "_roots", lambda *a: whole(*a)[::2][:20])
    assert planes.boundary(stream(0, "trial"), grid=101)["right"] > 0


def test_a_surrounding_of_a_linear_function_is_known():
    line = torch.linspace(-2, 2, 81, dtype=torch.float64)  # cells of 0.05
    inner = slice(5, -5, 4)
    points = torch.cartesian_prod(line, line).view(81, 81, 2)[inner, inner].reshape(-1, 2)
    low, high, far = planes._surroundings(lambda x: x[:, 0] - 0.31, line, 4, inner, points)
    f = points[:, 0] - 0.31
    # the second grid stands half a cell further along both axes
    assert torch.allclose(low, f - 0.2) and torch.allclose(high, f + 0.225)
    assert torch.allclose(far, f.abs(), atol=0.026) and math.isfinite(float(far.max()))
