"""RNRF's setting: axes, assumptions that exclude each other, and an impossibility."""

from dataclasses import replace

import pytest
import torch

from adversarium.data import TwoFeaturePatches
from adversarium.papers.rnrf.theory import impossibility as two_features
from adversarium.rng import stream

DATA = TwoFeaturePatches(d=20)


def test_features_are_orthonormal_axes():
    assert two_features.feature_axes(stream(0, "trial"), k=3, d=8)["error"] == 0


def test_equal_features_are_noticed(monkeypatch):
    monkeypatch.setattr(TwoFeaturePatches, "V", property(lambda self: self.U))
    assert two_features.feature_axes(stream(0, "trial"), k=3, d=8)["error"] == 1


@pytest.mark.parametrize("tau", (1, 3))
def test_the_ratios_of_constant_strengths_are_known(tau):
    rows = two_features.feature_assumptions(stream(0, "trial"), data=DATA, eps=1.2, tau=tau)
    assert rows["alpha/beta"] == 2 and rows["density"] == pytest.approx(15 / 2**tau)


def test_strength_and_density_exclude_each_other_unless_there_are_many_patches():
    rows = two_features.feature_assumptions(stream(0, "trial"), data=DATA, eps=1.2)
    assert rows["both_possible"] == 0 and rows["both_with_more"] == 1


def test_eighteen_patches_have_every_factor_of_two():
    rows = two_features.feature_assumptions(stream(0, "trial"), data=DATA, eps=1.2)
    assert rows["least_P"] == 18 and rows["alpha/eps"] == pytest.approx(2 / 1.2)


def test_points_of_different_classes_are_as_far_apart_as_the_robust_feature_is_strong():
    data = replace(DATA, k=5, alpha=3.0, sigma_n=0.0)
    rows = two_features.separation(stream(0, "trial"), data=data, eps=1.2, n=50)
    assert rows == {"apart": 50, "least": pytest.approx(2.5)}
    assert two_features.separation(stream(0, "trial"), data=data, eps=1.6, n=50)["apart"] == 0


def test_smaller_balls_are_further_apart():
    near, far = (
        two_features.feature_assumptions(stream(0, "trial"), data=DATA, eps=eps)
        for eps in (1.2, 0.6)
    )
    assert far["distance/2eps"] == pytest.approx(2 * near["distance/2eps"])
    assert far["collide"] <= near["collide"] and near["collide"] > 0


def test_the_slope_is_the_formulas():
    assert two_features.activation_slope(stream(0, "trial"))["error"] <= 1e-12


def test_a_slope_a_tenth_too_small_is_noticed(monkeypatch):
    exact = two_features.smoothed_slope
    monkeypatch.setattr(two_features, "smoothed_slope", lambda *a: 0.9 * exact(*a))
    assert two_features.activation_slope(stream(0, "trial"))["error"] > 0.05


def test_no_network_is_robust_where_all_strengths_are_at_most_twice_the_radius():
    rows = two_features.impossibility(stream(0, "trial"), data=DATA, eps=1.2, n=60, nets=10)
    assert rows == {"midpoints": 1, "matching": 1, "list": 1}


def test_a_strength_above_twice_the_radius_leaves_room():
    spread = replace(DATA, strengths="uniform", spread=0.5)  # α in [1, 3]
    shared = lambda eps: two_features.impossibility(
        stream(0, "trial"), data=spread, eps=eps, n=60, nets=0
    )["midpoints"]
    assert shared(1.5) == 1 and shared(1.2) == 0


def test_a_noiseless_draw_holds_its_strengths_on_the_features_of_its_label():
    batch = DATA.sample(10, stream(0, "draw"))
    clean = two_features._noiseless(DATA, batch, batch.y)
    assert torch.allclose(clean, batch.x - batch.noise)
    other = two_features._noiseless(DATA, batch, 1 - batch.y)
    assert not torch.allclose(other, batch.x - batch.noise)
