"""Check an order O(·) of CONV: the measured value divided by the published order must not grow.

Also declare that a quantity is a share, whose interval lies in [0, 1].
"""

import math
from collections.abc import Callable
from dataclasses import replace

from adversarium.plans import SHARE, Check, Exponent, Quantity, Where


def bounded(
    number: str,
    along: str,
    runs: Where,
    most: float,
    per: Callable[[float], float] = lambda size: 1.0,
) -> Check:
    """Check that the quantity `number`, divided by per(size), grows at most like size^most.

    The check selects `runs` and fits the power of their coordinate `along`, the size.
    """
    label = f"power of {along} in {number} ({runs.description})"
    return Exponent(label, number, along, runs, 0.0, (math.inf, most), per)


def share(quantity: Quantity) -> Quantity:
    """Return the same quantity, as one whose values and interval lie in [0, 1]."""
    return replace(quantity, limits=lambda rows: SHARE)
