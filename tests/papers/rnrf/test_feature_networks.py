"""Explicit networks on the features: which fit, which are not robust, and what saturation hides."""

import math

from adversarium.data import TwoFeaturePatches
from adversarium.papers.rnrf.theory import feature_networks
from adversarium.rng import stream

DATA = TwoFeaturePatches(d=20)


def test_both_networks_fit_and_each_has_an_attack_that_breaks_it():
    rows = feature_networks.explicit_networks(stream(0, "trial"), data=DATA, n=40, eps=1.2)
    assert rows["v_fits"] == rows["u_fits"] == rows["v_broken"] == 1
    assert rows["u_universal"] == rows["u_robust"] == 0
    assert rows["u_replaced"] == 1 and rows["u_lowered"] > 0.5


def test_more_classes_change_nothing():
    data = TwoFeaturePatches(k=5, d=20)
    rows = feature_networks.explicit_networks(stream(0, "trial"), data=data, n=40, eps=1.2)
    assert rows["v_fits"] == rows["u_fits"] == rows["v_broken"] == 1 and rows["u_robust"] == 0


def test_features_with_the_wrong_sign_do_not_fit(monkeypatch):
    V = property(lambda self: -TwoFeaturePatches.U.fget(self).roll(self.k, 1))
    monkeypatch.setattr(TwoFeaturePatches, "V", V)
    rows = feature_networks.explicit_networks(stream(0, "trial"), data=DATA, n=40, eps=1.2)
    assert rows["v_fits"] == 0 and rows["u_fits"] == 1


def test_below_the_non_robust_strength_nothing_is_said():
    rows = feature_networks.explicit_networks(stream(0, "trial"), data=DATA, n=10, eps=0.5)
    assert all(math.isnan(rows[name]) for name in ("v_broken", "u_universal", "u_robust"))
    assert rows["v_fits"] == 1


def test_a_strong_enough_feature_is_robust_and_a_weak_one_is_not():
    separated = lambda eps: feature_networks.separated_networks(stream(0, "trial"), eps=eps, n=20)
    assert separated(1.2)["robust"] == 1  # 10 − ε > 4ε and 25 − ε > 16ε
    assert separated(2.5)["robust"] == 0


def test_cross_entropy_hides_what_the_logit_difference_shows():
    rows = feature_networks.masking(stream(0, "trial"), data=DATA, n=20, eps=1.2)
    assert rows["masked"] == 1
    assert rows["cross_entropy"] > 0.9 and rows["logit_difference"] == 0


def test_one_loss_for_all_attacks_hides_nothing(monkeypatch):
    named = feature_networks.loss_map
    one = lambda name, *parts: named("logit_difference", *parts)
    monkeypatch.setattr(feature_networks, "loss_map", one)
    rows = feature_networks.masking(stream(0, "trial"), data=DATA, n=20, eps=1.2)
    assert rows["masked"] == rows["cross_entropy"] == 0
