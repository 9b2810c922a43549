"""The robust gap: Taylor's step, the first order in the radius, and N^(−1/(D+2))."""

import pytest

from adversarium.papers.cgro.theory.flatness import (
    first_order,
    flatness_factors,
    flatness_gaps,
    taylor,
)
from adversarium.papers.cgro.theory.smooth import Features
from adversarium.rng import stream


def _slopes_scaled(monkeypatch, factor):
    exact = Features.slope
    monkeypatch.setattr(Features, "slope", lambda self, x, y: factor * exact(self, x, y))


def test_no_loss_rises_more_than_radius_times_slope():
    assert 0.9 < taylor(stream(0, "trial"), nets=2, points=40)["ratio"] <= 1


def test_slopes_a_fifth_too_small_are_noticed(monkeypatch):
    _slopes_scaled(monkeypatch, 0.8)
    assert taylor(stream(0, "trial"), nets=2, points=40)["ratio"] > 1


def test_losses_rise_to_first_order_where_they_are_smooth_and_everywhere_where_convex():
    rows = first_order(stream(0, "trial"), points=300)
    assert rows["short_at_0"] < 0.05 and rows["convex_short"] < 1e-9
    assert rows["smooth"].at == rows["convex"].at == (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    assert rows["smooth"].values[0] == 1 - rows["short_at_0"]
    assert min(rows["convex"].values) == 1 - rows["convex_short"]
    assert rows["oscillating"].values[-1] < 0.5


def test_slopes_a_fifth_too_large_leave_the_loss_short(monkeypatch):
    _slopes_scaled(monkeypatch, 1.2)
    assert first_order(stream(0, "trial"), points=300)["short_at_0"] > 0.1


def test_the_gap_stays_below_its_bound_and_the_rise_shrinks_with_the_radius():
    rows = flatness_gaps(stream(0, "trial"), D=1, sets=4, fresh=100, sizes=(16, 256))
    assert rows["fixed"].axis == "N" and rows["fixed"].at == (16, 256)
    assert all(value < 1 for name in ("fixed", "fitted") for value in rows[name].values)
    first, last = rows["rise"].values
    assert first > last > 0 > rows["rise_slope"]
    assert rows["claimed_slope"] == pytest.approx(-1 / 3)


def test_a_surer_bound_is_wider():
    likely, sure = (
        flatness_gaps(stream(0, "trial"), D=1, sets=1, fresh=50, sizes=(16, 32), chances=(delta,))
        for delta in (0.5, 0.0005)
    )
    for a, b in zip(likely["fitted"].values, sure["fitted"].values, strict=True):
        assert abs(b) < abs(a)


def test_the_factor_of_an_image_set_is_nearly_one():
    rows = flatness_factors(stream(0, "trial"))
    assert rows["D = 2, N = 512"] == pytest.approx(512**-0.25)
    assert rows["D = 2, N = 512"] < 0.3 < 0.98 < rows["MNIST"] < rows["CIFAR-10"] < 1
