"""The modified training methods: training points cannot be attacked, fresh points can."""

from dataclasses import replace

from adversarium.constructions import Balls
from adversarium.data import MarginMixture
from adversarium.papers.cgrm.theory import modified
from adversarium.rng import stream
from adversarium.solvers import max_margin

PARTS = dict(data=MarginMixture(d=100, alpha=5.0, beta=0.5, mu=0.2), N=60, delta=2.0)


def test_threshold_units_protect_the_small_margins_that_were_seen():
    rows = modified.modified_training(stream(0, "trial"), **PARTS, b=50.0, fresh=20)
    assert rows["clean_train"] == rows["robust_train"] == rows["robust_train_bound"] == 0
    assert rows["least_margin"] > 0 and rows["attained"] < 1e-9
    assert rows["robust_small"] == 1 and rows["robust_test"] == 0.2 + 0.8 * rows["robust_large"]
    assert rows["margin_error"] < 3


def test_a_threshold_above_every_unit_protects_nothing():
    rows = modified.modified_training(stream(0, "trial"), **PARTS, b=150.0, fresh=20)
    assert rows["robust_train"] > 0.1 and rows["inside"] == 0 > rows["least_margin"]


def test_a_low_threshold_lets_foreign_units_be_woken():
    rows = modified.modified_training(stream(0, "trial"), **PARTS, b=25.0, fresh=20)
    assert 0.1 < rows["robust_train"] <= rows["robust_train_bound"] and rows["reachable"] > 0.5
    assert rows["robust_large"] <= rows["robust_large_bound"]


def test_training_sets_are_certified_within_the_window_and_not_above_it():
    draw = lambda b: modified.certified_draws(stream(0, "trial"), **PARTS, b=b, draws=3)
    assert draw(50.0)["certified"] == 3 and draw(150.0)["certified"] == 0


def test_in_few_dimensions_no_threshold_works():
    data = MarginMixture(d=30, alpha=5.0, beta=0.5, mu=0.2)
    rows = modified.best_threshold(stream(0, "trial"), data=data, N=100, delta=2.0)
    assert rows["robust_train"] > 0 and 0 <= rows["best_b"] <= 45
    wide = modified.best_threshold(stream(0, "trial"), **PARTS)
    assert wide["robust_train"] == 0


def test_the_linear_part_turns_to_the_max_margin_direction_and_uphill_away_from_it():
    batch = MarginMixture(d=10, alpha=5.0).sample(40, stream(0, "trial"))
    Z = batch.y[:, None] * batch.x
    u, _ = max_margin(Z)
    assert (modified._linear_part(Z, 2.0, 400, 0.05) - u).norm() < 0.1
    assert (modified._linear_part(Z, 2.0, 400, -0.05) - u).norm() > 1


def test_indicators_on_attackable_points_leave_no_training_error():
    rows = modified.generic_training(stream(0, "trial"), N=200, fresh=2000)
    assert rows["adversarial_train"] == rows["adversarial_train_bound"] == 0
    assert 0 < rows["memorised"] < 0.5 and rows["clean_train"] == 0
    assert rows["clean_error"] < 0.1 and rows["turned"] > 0.1


def test_indicators_of_half_the_radius_leave_some(monkeypatch):
    whole = Balls.inside
    half = lambda self, x: whole(replace(self, delta=self.delta / 2), x)
    monkeypatch.setattr(Balls, "inside", half)
    rows = modified.generic_training(stream(0, "trial"), N=200, fresh=2000)
    assert rows["adversarial_train"] > 0


def test_without_attackable_points_nothing_is_memorised_and_nothing_turns():
    rows = modified.generic_training(stream(0, "trial"), N=20, fresh=2000)
    assert rows["memorised"] == rows["turned"] == 0
    assert rows["clean_error"] == rows["clean_error_before"]


def test_sleeping_units_are_found_and_what_cannot_be_reached_is_proven():
    """With b far below its window, gradient ascent rarely activates other units. The proven robust
    error is never smaller than the attacked one."""
    data = MarginMixture(d=60, alpha=5.0, beta=0.5, mu=0.2)
    low = modified.modified_training(stream(0, "trial"), data, N=60, delta=2.0, b=20.0, fresh=20)
    assert 0.1 < low["robust_train"] <= low["robust_train_bound"]
    data = MarginMixture(d=400, alpha=5.0, beta=0.5, mu=0.2)
    inside = modified.modified_training(
        stream(0, "trial"), data, N=40, delta=2.0, b=200.0, fresh=20
    )
    assert inside["inside"] == 1
    assert inside["robust_train"] == inside["robust_train_bound"] == 0
