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


def test_a_constant_a_third_too_large_is_noticed(monkeypatch):
    exact = counting.shattering_constant
    monkeypatch.setattr(counting, "shattering_constant", lambda mu: 4 / 3 * exact(mu))
    assert counting.shattering(stream(0, "trial"))["bound"] > 1


def test_the_cited_lower_bound_exceeds_the_printed_upper_bound_by_the_depth():
    assert counting.vc_orders(stream(0, "trial"))["power"] == pytest.approx(1)
