"""How CONV's O(·) is judged: a quotient by the printed order does not grow."""

import math
from collections.abc import Callable

from adversarium.plans import Check, Where, exponent


def bounded(
    number: str,
    along: str,
    meant: Where,
    most: float,
    per: Callable[[float], float] = lambda size: 1.0,
) -> Check:
    """The power of a size in number/per(size) is at most `most`."""
    told = f"power of {along} in {number} ({meant.told})"
    return exponent(told, number, along, meant, 0.0, (math.inf, most), per)
