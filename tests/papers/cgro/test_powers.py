"""A power law is recognised exactly; numbers that are not positive have no exponent."""

import math

import pytest

from adversarium.papers.cgro.theory.powers import power


@pytest.mark.parametrize("b", (-2.0, 0.0, 0.5))
def test_a_power_law_has_its_power_whatever_its_factor(b):
    x = (1, 2, 5, 9)
    assert power(x, [3 * v**b for v in x]) == pytest.approx(b, abs=1e-12)


def test_a_negative_number_has_no_power():
    assert math.isnan(power((1, 2, 4), (1.0, -1.0, 2.0)))
