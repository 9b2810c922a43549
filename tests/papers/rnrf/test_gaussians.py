"""The largest of m normals: known means, and tails below their bound."""

import math

import pytest

from adversarium.papers.rnrf.theory import gaussians
from adversarium.rng import stream


def test_the_largest_of_two_and_of_three_normals_have_their_known_means():
    rows = gaussians.gaussian_maxima(stream(0, "trial"), widths=(2, 3), numbers=600_000)
    two, three = 1 / math.sqrt(math.pi), 1.5 / math.sqrt(math.pi)
    ratios = two / math.sqrt(2 * math.log(2)), three / math.sqrt(2 * math.log(3))
    assert rows["least_ratio"] == pytest.approx(ratios[0], abs=0.005)
    assert rows["largest_ratio"] == pytest.approx(ratios[1], abs=0.005)
    assert rows["rising"] == 1


def test_the_mean_grows_like_the_root_of_the_logarithm_not_like_the_logarithm():
    rows = gaussians.gaussian_maxima(stream(0, "trial"), numbers=200_000)
    assert 0.5 < rows["slope"] < 0.8 < 0.9


def test_few_maxima_exceed_their_bound():
    counts = gaussians.gaussian_tails(stream(0, "trial"), widths=(10, 100), draws=500)
    for t in (0.25, 1.0, 2.0):
        assert counts[f"n=10, t={t}"] >= 500 * (1 - math.exp(-t * t / 2) / 2)
        assert counts[f"n=10, δ={t}"] <= counts["n=10, δ=2.0"]


def test_louder_numbers_exceed_it(monkeypatch):
    quiet = gaussians.normal
    monkeypatch.setattr(gaussians, "normal", lambda shape, rng: 1.5 * quiet(shape, rng))
    counts = gaussians.gaussian_tails(stream(0, "trial"), widths=(10, 100), draws=500)
    assert counts["n=100, t=0.25"] < 500 * (1 - math.exp(-(0.25**2) / 2) / 2)
