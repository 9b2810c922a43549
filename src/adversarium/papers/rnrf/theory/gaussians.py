"""The maximum of many normal variables: its mean and its tail (RNRF)."""

import math
from itertools import pairwise

import numpy as np
from torch import Generator

from adversarium.rng import normal
from adversarium.sockets import Numbers

_WIDTHS = (10, 100, 1_000, 10_000)


def gaussian_maxima(
    rng: Generator, widths: tuple[int, ...] = _WIDTHS, numbers: int = 2_000_000
) -> Numbers:
    """E max_{r≤m} N(0, 1) = Θ(log m), Lemma D.3 of RNRF.

    - `slope`: the fitted p in mean ∝ (log m)^p.
    - `least_ratio`, `largest_ratio`: the smallest and the largest mean divided by √(2 log m).
    - `rising`: 1 if that ratio increases with m, else 0.

    >>> from adversarium.rng import stream
    >>> numbers = gaussian_maxima(stream(0, "example"), widths=(10, 100), numbers=2_000)
    >>> 0 < numbers["least_ratio"] < numbers["largest_ratio"] < 1
    True
    """
    mean = [float(normal((numbers // m, m), rng).amax(-1).mean()) for m in widths]
    ratios = [e / math.sqrt(2 * math.log(m)) for e, m in zip(mean, widths, strict=True)]
    x = np.log([math.log(m) for m in widths])
    return {
        "slope": float(np.polyfit(x, np.log(mean), 1)[0]),
        "least_ratio": min(ratios),
        "largest_ratio": max(ratios),
        "rising": float(all(b > a for a, b in pairwise(ratios))),
    }


def gaussian_tails(
    rng: Generator,
    widths: tuple[int, ...] = _WIDTHS,
    excess: tuple[float, ...] = (0.25, 1.0, 2.0),
    draws: int = 2_000,
) -> Numbers:
    """P[‖X‖_∞ < √(2 log 2n) + t] ≥ 1 − ½e^{−t²/2}, and the lower tail, Lemma B.1 of RNRF.

    For every width n and every `excess` t (or δ), count in how many of `draws` ‖X‖_∞ is below √(2
    log 2n) + t, and in how many it is above √(2 log 2n) − δ.

    >>> from adversarium.rng import stream
    >>> gaussian_tails(stream(0, "example"), widths=(10,), excess=(4.0,), draws=100)
    {'n=10, t=4.0': 100.0, 'n=10, δ=4.0': 100.0}
    """
    counts = {}
    for n in widths:
        centre = math.sqrt(2 * math.log(2 * n))
        maxima = normal((draws, n), rng).abs().amax(-1)
        for t in excess:
            counts[f"n={n}, t={t}"] = float((maxima < centre + t).sum())
            counts[f"n={n}, δ={t}"] = float((maxima > centre - t).sum())
    return counts
