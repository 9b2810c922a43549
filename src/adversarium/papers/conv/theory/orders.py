"""Check an order O(·) of CONV: the measured number divided by the published order must not grow."""

import math
from collections.abc import Callable

from adversarium.plans import Check, Exponent, Where


def bounded(
    number: str,
    along: str,
    runs: Where,
    most: float,
    per: Callable[[float], float] = lambda size: 1.0,
) -> Check:
    """Check that number/per(size) grows at most like size^`most`.

    The check reads the rows that `runs` selects and fits the power of the coordinate `along`.
    """
    label = f"power of {along} in {number} ({runs.description})"
    return Exponent(label, number, along, runs, 0.0, (math.inf, most), per)
