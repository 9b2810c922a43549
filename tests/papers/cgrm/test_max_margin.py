"""Large margins: the max-margin direction, the Cauchy step, and tilted classifiers."""

import pytest

from adversarium.attacks import FGSM
from adversarium.papers.cgrm.theory import max_margin as margins
from adversarium.rng import stream


def test_the_max_margin_direction_keeps_its_bound_and_its_angle():
    rows = margins.max_margin_directions(stream(0, "trial"), d=20, alpha=5.0, counts=(2, 10, 80))
    assert rows["error"].axis == "N" and rows["error"].at == (2, 10, 80)
    for error, bound in zip(rows["error"].values, rows["bound"].values, strict=True):
        assert error <= bound
    assert max(rows["tangent_error"].values) < 1e-4 and max(rows["margin_error"].values) < 1e-4


def test_the_direction_is_exact_when_zero_is_among_the_noise_and_not_before():
    rows = margins.max_margin_directions(stream(0, "trial"), d=20, alpha=5.0, counts=(2, 80))
    assert rows["not_exact"].values == (1, 0)
    assert rows["wendel"].values[0] == 1 and rows["wendel"].values[1] < 1e-5
    assert rows["predicted"].values[0] == pytest.approx(rows["error"].values[0], rel=0.3)


def test_half_of_the_draws_are_exact_at_twice_the_dimension():
    rows = margins.not_exact_share(stream(0, "trial"), d=6, draws=200)
    assert rows["share"].at == (10, 12) and rows["wendel"].values[0] == 0.5
    for seen, p in zip(rows["share"].values, rows["wendel"].values, strict=True):
        assert seen == pytest.approx(p, abs=0.15)


def test_an_attack_takes_its_radius_from_every_margin():
    assert margins.cauchy(stream(0, "trial"), d=20, alpha=5.0, n=20)["error"] < 1e-12


def test_an_attack_that_is_a_tenth_short_is_noticed(monkeypatch):
    short = lambda p, radius: FGSM(p=p, radius=0.9 * radius)
    monkeypatch.setattr(margins, "FGSM", short)
    assert margins.cauchy(stream(0, "trial"), d=20, alpha=5.0, n=20)["error"] > 0.1


def test_small_margins_are_wrong_far_more_often_than_large_ones():
    rows = margins.tilted_errors(stream(0, "trial"), draws=20_000)
    assert rows["largest_log10_ratio"] == max(rows["log10_ratio"].values) > 1
    assert rows["standard_errors"] < 5
    assert rows["log10_ratio"].axis == "angle" and len(rows["log10_ratio"].at) == 10


def test_equal_margins_are_wrong_equally_often():
    rows = margins.tilted_errors(stream(0, "trial"), draws=2_000, alpha=0.5, angles=(0.3, 0.6))
    assert rows["log10_ratio"].values == (0, 0)


def test_noise_twice_as_loud_does_not_fit_the_errors(monkeypatch):
    quiet = margins.normal
    monkeypatch.setattr(margins, "normal", lambda shape, rng: 2 * quiet(shape, rng))
    assert margins.tilted_errors(stream(0, "trial"), draws=20_000)["standard_errors"] > 5
