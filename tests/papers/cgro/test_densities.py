"""Kernel density estimates: bias δ², fluctuation N^(−1/2) δ^(−D/2)."""

import pytest
import torch

from adversarium.papers.cgro.theory import densities
from adversarium.rng import stream


@pytest.mark.parametrize("D", (1, 2))
def test_bias_and_fluctuation_have_their_powers(D):
    rows = densities.density_powers(stream(0, "trial"), D=D, draws=800, repeats=4)
    assert rows["bias"] == pytest.approx(2, abs=0.2)
    assert rows["in_N"] == pytest.approx(-0.5, abs=0.15)
    assert rows["in_delta"] == pytest.approx(0, abs=0.2)


def test_a_kernel_on_half_of_the_ball_has_a_bias_of_first_order(monkeypatch):
    whole = densities.ball
    monkeypatch.setattr(densities, "ball", lambda D, side: (whole(D, side) + 1) / 2)
    assert densities.density_powers(stream(0, "trial"), D=1, draws=80, repeats=1)["bias"] < 1.5


def test_the_smoothed_density_is_that_of_a_sum():
    at = torch.zeros(1, 1).double()
    # ∫ p(u) ¾(1 − u²) du over [−1, 1]
    u = torch.linspace(-1, 1, 20_001).double()
    exact = torch.trapezoid(densities._gaussian(u[:, None]) * 0.75 * (1 - u.square()), u)
    assert densities._smoothed(at, 1.0).item() == pytest.approx(exact.item(), rel=1e-3)
