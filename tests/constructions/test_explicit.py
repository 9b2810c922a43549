"""Explicit classifiers on the cells: correct where they should be, not robust where they must
fail."""

from dataclasses import replace

import pytest

from adversarium.constructions import Balls, explicit
from adversarium.rng import stream

SMALL = dict(D=4, memorised=3, looked=3)


def _half_balls(monkeypatch):
    whole = Balls.inside
    half = lambda self, x: whole(replace(self, delta=self.delta / 2), x)
    monkeypatch.setattr(Balls, "inside", half)


def test_memorised_points_are_robust_and_others_are_not():
    rows = explicit.classifiers(stream(0, "trial"), **SMALL)
    for name in ("f_S", "product", "exact", "l2"):
        assert rows[f"{name}.clean_test"] == 0 and rows[f"{name}.robust_train"] == 0
        assert rows[f"{name}.robust_test"] >= 0.5
        assert rows[f"{name}.uncertified"] == 0
    assert rows["clean.robust_train"] == rows["clean.robust_test"] == 1


def test_a_radius_beyond_half_the_distance_is_refused():
    with pytest.raises(ValueError, match="distance R > 2"):
        explicit.classifiers(stream(0, "trial"), **SMALL, delta=0.4)


def test_along_the_ray_the_clean_classifier_is_a_ramp_and_f_S_jumps_at_delta():
    rows = explicit.ray(stream(0, "trial"), D=4, memorised=3, distances=(0, 0.04, 0.06, 0.19, 0.21))
    assert {row.axis for row in rows.values()} == {"distance"}
    assert rows["clean"].values == pytest.approx((1, 0.2, -0.2, -1, -1))
    assert rows["f_S"].values == pytest.approx((1, 1, 1, 1, -1))
    for name in ("product", "exact"):
        assert rows[name].values == pytest.approx((1, 1, 1, 1, 1), abs=1e-3)


def test_with_half_balls_f_S_jumps_too_early(monkeypatch):
    _half_balls(monkeypatch)
    rows = explicit.ray(stream(0, "trial"), D=4, memorised=3, distances=(0.06, 0.19))
    assert rows["f_S"].values == pytest.approx((1, -1))


def test_f_adv_and_its_network_fail_on_fresh_small_margins_only():
    rows = explicit.memorising(stream(0, "trial"), D=6, n=10, looked=6)
    for name in ("f_adv", "network"):
        for kind in ("robust_train", "clean_test", "robust_large"):
            assert rows[f"{name}.{kind}"] == 0
        assert rows[f"{name}.robust_small"] >= 0.5
        assert rows[f"{name}.robust_test/mu"] == rows[f"{name}.robust_small"]


def test_f_adv_with_half_balls_does_not_keep_its_training_points(monkeypatch):
    _half_balls(monkeypatch)
    rows = explicit.memorising(stream(0, "trial"), D=4, n=20, network=False, mu=0.5)
    assert rows["f_adv.robust_train"] > 0.2


def test_the_network_is_close_to_f_adv_off_the_shells_only():
    rows = explicit.closeness(stream(0, "trial"), D=4, n=4)
    assert rows["off_shells"] == 1 and rows["gap_off"] < 1e-4
    assert rows["everywhere"] == 0 and rows["gap"] > 0.5 and 0 < rows["shell"] < 1
    assert rows["half_jump"] >= 1  # y f_adv falls from 1 or more to −1
