"""The smallest networks that fit points and balls: proven bounds, and what an attack finds."""

import pytest
import torch

from adversarium.papers.conv.theory.widths import _Nets, smallest_widths
from adversarium.rng import normal, stream


@pytest.mark.parametrize("m", [1, 4, 16])
def test_the_linear_bound_lies_below_every_value_of_the_ball_and_the_attack_above_it(m):
    rng = stream(m, "widths")
    nets, x = _Nets.drawn(6, m, 3, 1.0, rng), 2 * normal((5, 3), rng)
    y = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0], dtype=x.dtype)
    bound = nets.proven(x, y)
    least, place = nets.attacked(x, y, 30, 8, rng, units=True)
    assert float(place.norm(dim=-1).max()) <= 1 + 1e-12
    torch.testing.assert_close(nets.margins(x + place, y), least)
    v = normal((2000, 6, 5, 3), rng)
    inside = nets.margins(x + v / v.norm(dim=-1, keepdim=True), y).amin(0)
    assert (bound <= inside + 1e-12).all() and (bound <= least + 1e-12).all()
    assert (least <= inside + 1e-2 * inside.abs().clamp_min(1)).all()


def test_without_a_kink_in_the_ball_the_linear_bound_is_exact():
    W = torch.tensor([[[3.0, 4.0]]], dtype=torch.float64)
    nets = _Nets(W, torch.full((1, 1), 20.0).double(), torch.ones(1, 1).double(), torch.zeros(1))
    bound = nets.proven(torch.zeros(1, 2).double(), torch.ones(1).double())
    assert float(bound) == pytest.approx(20 - 5)


def test_two_points_of_a_line_need_one_unit():
    told = smallest_widths(stream(1, "line"), n=2, d=1, tries=4, steps=600)
    assert told["plain"] == told["robust"] == 1 and told["proven"] == 1


def test_an_odd_number_of_points_is_refused():
    with pytest.raises(ValueError, match="even, got 3"):
        smallest_widths(stream(0, "odd"), n=3, d=2)
