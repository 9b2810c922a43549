"""Evaluate predictions for CGRM, and the window of the threshold b, as numbers."""

import math

import torch


def few_points_error(d: int, n: int, alpha: float) -> float:
    """2 sin(½ arctan(M/α)) with M² = (d − n)/n, our prediction of ‖u − w*‖ for the max-margin
    direction u of n ≪ d points.

    While all points are support vectors, M² = 1/(1ᵀK⁻¹1) = χ²_{d−n}/n, with K their Gram matrix.

    >>> [round(few_points_error(d=2, n=1, alpha=alpha), 3) for alpha in (1.0, 10.0)]
    [0.765, 0.1]
    >>> few_points_error(d=20, n=20, alpha=1.0)
    0.0
    """
    return 2 * math.sin(math.atan(math.sqrt(max(d - n, 0) / n) / alpha) / 2)


def not_exact(d: int, n: int) -> float:
    """P[u ≠ w*] = P[Bin(n − 1, ½) ≤ d − 2] (our result): Wendel's probability that n symmetric
    points of R^{d−1} lie in a half-space.

    >>> [not_exact(d, n=3) for d in (2, 3, 4)]
    [0.25, 0.75, 1.0]
    """
    return sum(math.comb(n - 1, k) for k in range(min(d - 1, n))) / (1 << (n - 1))


def threshold_window(d: int, N: int, mu: float, delta: float) -> tuple[float, float]:
    """√d(√(2 ln(μN·N)) + δ) < b < d − √d(2√(ln μN) + δ) − δ, the window for the threshold b (our
    result).

    Below the window, the unit of another point can become active inside a ball. Above it, the
    point's own unit can become inactive.

    >>> low, high = threshold_window(d=400, N=20, mu=0.1, delta=1.0)
    >>> round(low), round(high)
    (74, 346)
    """
    small = max(mu * N, 2.0)
    low = math.sqrt(d) * (math.sqrt(2 * math.log(small * N)) + delta)
    return low, d - math.sqrt(d) * (2 * math.sqrt(math.log(small)) + delta) - delta


def tilted_log_error(margin: float, angle: float) -> float:
    """log Φ(−c cot θ), the log of the clean error at margin c of a linear classifier at angle θ to
    w*.

    >>> round(math.exp(tilted_log_error(margin=1.0, angle=math.pi / 4)), 4)  # Φ(−1)
    0.1587
    """
    return float(torch.special.log_ndtr(torch.tensor(-margin / math.tan(angle)).double()))
