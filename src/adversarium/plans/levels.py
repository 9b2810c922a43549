"""Compute level sets of a table over two positive coordinates, and fit y ∝ x^p to them.

Importing this module does not import torch.
"""

import math
from collections.abc import Callable

import numpy as np


def crossing(x: np.ndarray, values: np.ndarray, level: float) -> float:
    """Return where values along increasing x first reach a level, interpolated linearly in log x;
    NaN if they never reach it, or reach it at the first x.

    >>> round(crossing(np.array([1.0, 4.0]), np.array([0.0, 1.0]), 0.5), 6)
    2.0
    """
    above = values >= level
    if above[0] or not above.any():
        return math.nan
    i = int(above.argmax())
    share = (level - values[i - 1]) / (values[i] - values[i - 1])
    return float(np.exp(np.log(x[i - 1]) + share * (np.log(x[i]) - np.log(x[i - 1]))))


def jackknife(made: np.ndarray, of: Callable[[np.ndarray], float]) -> np.ndarray:
    """Return the jackknife pseudo-values S·of(mean) − (S − 1)·of(mean without a seed) of S seeds.

    >>> jackknife(np.array([1.0, 2.0, 6.0]), float).tolist()
    [1.0, 2.0, 6.0]
    """
    S = len(made)
    if S < 2:
        return np.full(S, math.nan)
    without = [of((made.sum(0) - one) / (S - 1)) for one in made]
    return S * of(made.mean(0)) - (S - 1) * np.array(without)


def level_slope(x: np.ndarray, y: np.ndarray, table: np.ndarray, level: float) -> float:
    """Return the exponent p of y ∝ x^p fitted to a level set of a table (y, x); NaN if fewer than
    three rows cross the level.

    >>> x, y = np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0])
    >>> round(level_slope(x, y, np.log(x[None] ** 2 / y[:, None]), 0.0), 6)
    2.0
    """
    at = np.array([crossing(x, row, level) for row in table])
    there = np.isfinite(at)
    if there.sum() < 3:
        return math.nan
    return float(np.polyfit(np.log(at[there]), np.log(y[there]), 1)[0])
