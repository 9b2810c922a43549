"""Exponents of dual norms."""

import math


def dual(p: float) -> float:
    """Return q with 1/p + 1/q = 1, for p ∈ {1, 2, ∞}."""
    return {1: math.inf, 2: 2.0, math.inf: 1.0}[p]
