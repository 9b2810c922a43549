"""Counting inequalities, for values that can be worked out by hand."""

import math

import pytest

from adversarium.constructions import counting
from adversarium.rng import stream


def test_sauers_sum_is_below_its_bound():
    assert counting.sauer(stream(0, "trial"))["ratio"] <= 1


def test_the_smallest_case_of_sauers_lemma_is_four_over_three_e():
    ratio = counting.sauer(stream(0, "trial"), largest=3)["ratio"]
    assert ratio == pytest.approx(4 / (3 * math.e))


def test_the_counting_inequality_has_the_smallest_case_of_a_hand_calculation():
    assert counting.least_dimension(4, 1) == 1  # (1 + 4)(1 + 4) ≥ 2⁴ > 5
    assert counting.shattering(stream(0, "trial"))["bound"] <= 1


def _product(mu, constant):
    """h(μ)h(C(μ)) with h(x) = (e/x)^x, which defines C(μ) by the value 2, App. D of CGRO."""
    return (math.e / mu) ** mu * (math.e / constant) ** constant


@pytest.mark.parametrize("mu", [mu for mu in counting.SHARES if counting.shattering_constant(mu)])
def test_the_constant_solves_its_equation_and_a_hundredth_off_does_not(mu):
    constant = counting.shattering_constant(mu)
    assert _product(mu, constant) == pytest.approx(2, abs=1e-9)
    assert abs(_product(mu, 1.01 * constant) - 2) > 1e-6


def test_a_constant_a_third_too_large_breaks_the_bound(monkeypatch):
    exact = counting.shattering_constant
    monkeypatch.setattr(counting, "shattering_constant", lambda mu: 4 / 3 * exact(mu))
    assert counting.shattering(stream(0, "trial"))["bound"] > 1


def test_the_cited_lower_bound_exceeds_the_printed_upper_bound_by_the_depth():
    assert counting.vc_orders(stream(0, "trial"))["power"] == pytest.approx(1)
