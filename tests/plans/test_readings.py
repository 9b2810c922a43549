"""Readings of one run's curves: first times, crossings, growth."""

import math

import numpy as np
import pytest

from adversarium.plans.readings import crossing, first, log_growth, when

T = np.arange(0, 200, 2.0)
FALLING = 1 / (1 + np.exp(-(T - 60) / 8))
RISING = 0.002 * T
# s(1 − s)/8 = .002 at t = 60 + 8 ln((1 + √(1 − .064))/(1 − √(1 − .064)))
ROOT = math.sqrt(1 - 0.064)
CROSSED = 60 + 8 * math.log((1 + ROOT) / (1 - ROOT))


def by_class(*curves):
    return np.stack(curves, axis=-1)[None]


def test_the_crossing_is_found_after_the_steepest_growth():
    found = crossing(T, by_class(FALLING), by_class(RISING))
    assert found.shape == (1,) and found[0] == pytest.approx(CROSSED, abs=2)


def test_the_crossing_is_the_mean_over_classes_and_nan_where_one_never_crosses():
    late = 1 / (1 + np.exp(-(T - 80) / 8))
    both = crossing(T, by_class(FALLING, late), by_class(RISING, RISING))
    assert both[0] == pytest.approx(CROSSED + 10, abs=2)
    flat = crossing(T, by_class(FALLING, late), by_class(RISING, 0 * T - 9 * T))
    assert math.isnan(flat[0])


def test_the_first_time_and_the_value_there():
    values = np.stack([FALLING, 0 * FALLING])
    reached = values >= 0.5
    assert first(T, reached)[0] == 60 and math.isnan(first(T, reached)[1])
    assert when(2 * values, reached)[0] == pytest.approx(1) and math.isnan(when(values, reached)[1])


@pytest.mark.parametrize(("began", "scale"), ((0, 1.0), (40, 1.0), (40, 25.0)))
def test_logarithmic_growth_has_the_exponent_one_whenever_it_began(began, scale):
    t = np.arange(200.0)
    F = np.where(t < began, 0.01 * t, np.log(scale * np.maximum(t - began, 0) + 3))[None]
    above = np.array([math.log(3)])
    assert log_growth(t, F, above)[0] == pytest.approx(1, abs=0.05)
    square = np.where(t < began, 0.01 * t, np.log(np.maximum(t - began, 0) ** 2 + 3))[None]
    assert log_growth(t, square, above)[0] == pytest.approx(2, abs=0.05)
    assert math.isnan(log_growth(t, F, np.array([99.0]))[0])
