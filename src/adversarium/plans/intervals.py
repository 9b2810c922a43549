"""Compute confidence intervals over seeds, and log–log slopes."""

import math

import numpy as np

SEEDS = 5  # at least this many seeds are needed to judge a quantity that depends on the seed
CONFIDENCE = 0.99


def interval(
    values: np.ndarray, points: int = 0, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the interval of the mean over seeds (Student's t, 99 % by default).

    For shares of `points` points per seed it is widened to the Clopper–Pearson interval of the
    pooled counts (seeds that agree exactly do not make a share exact) and clipped to [0, 1].

    >>> low, high = interval(np.array([1.0, 2.0, 3.0, 2.0, 2.0]))
    >>> low < 2 < high
    True
    """
    from scipy import stats

    n = len(values)
    if n < 2 or not np.isfinite(values).all():
        return math.nan, math.nan
    mean = float(values.mean())
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
    low, high = mean - half, mean + half
    if points:
        a, b = clopper_pearson(round(float(values.sum()) * points), n * points, confidence)
        low, high = max(0.0, min(low, a)), min(1.0, max(high, b))
    return low, high


def clopper_pearson(
    successes: int, trials: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the exact (Clopper–Pearson) interval of a frequency."""
    from scipy import stats

    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else stats.beta.ppf(tail, successes, trials - successes + 1)
    high = (
        1.0 if successes == trials else stats.beta.ppf(1 - tail, successes + 1, trials - successes)
    )
    return float(low), float(high)


def clopper_pearson_each(
    shares: np.ndarray, trials: int, confidence: float = CONFIDENCE
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact (Clopper–Pearson) interval of each of several frequencies.

    >>> low, high = clopper_pearson_each(np.array([0.0, 0.5]), 10)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.128], [0.411, 0.872])
    """
    from scipy import stats

    tail, k = (1 - confidence) / 2, np.round(shares * trials)
    with np.errstate(all="ignore"):
        low = np.where(k > 0, stats.beta.ppf(tail, k, trials - k + 1), 0.0)
        high = np.where(k < trials, stats.beta.ppf(1 - tail, k + 1, trials - k), 1.0)
    return np.where(np.isnan(shares), np.nan, low), np.where(np.isnan(shares), np.nan, high)


def finite(value: float) -> float | None:
    """Return a number, or None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def varies(values: np.ndarray) -> bool:
    """Return whether numbers differ by more than rounding, which depends on the processor.

    >>> varies(np.array([0.3, 0.1 + 0.2])), varies(np.array([0.3, 0.3001]))
    (False, True)
    """
    return bool(np.ptp(values) > 1e-9 * np.abs(values).max())


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the log–log slope of each row of y (seed, size) against x.

    >>> slope(np.array([1.0, 2.0, 4.0]), np.array([[3.0, 12.0, 48.0]]))
    array([2.])
    """
    log_x = np.log(x) - np.log(x).mean()
    with np.errstate(all="ignore"):
        return (np.log(y) @ log_x) / (log_x @ log_x)  # type: ignore[no-any-return]
