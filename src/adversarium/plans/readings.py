"""Compute first times, crossings and growth exponents from the curves of one run."""

import numpy as np


def first(t: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Return the first time at which a condition (seed, t, …) is true; NaN if it never is.

    >>> first(np.array([0, 5, 9]), np.array([[False, True, True], [False, False, False]]))
    array([ 5., nan])
    """
    return np.where(reached.any(1), t[reached.argmax(1)], np.nan)


def when(values: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Return values (seed, t, …) at the first time at which a condition is true; NaN if never."""
    at = np.take_along_axis(values, reached.argmax(1, keepdims=True), axis=1)[:, 0]
    return np.where(reached.any(1), at, np.nan)


def crossing(t: np.ndarray, falling: np.ndarray, rising: np.ndarray) -> np.ndarray:
    """Return the first time after its steepest growth at which `falling` (seed, t, class) grows
    more slowly than `rising`: the mean over classes, per seed; NaN if a class has no such time."""
    middle = (t[1:] + t[:-1]) / 2
    times = []
    for i in range(falling.shape[-1]):
        grows = np.diff(falling[..., i], axis=1)
        gap = grows - np.diff(rising[..., i], axis=1)
        steepest = grows.argmax(1)[:, None]
        after = (np.arange(gap.shape[1]) > steepest) & (gap < 0)
        times.append(np.where(after.any(1), middle[after.argmax(1)], np.nan))
    return np.mean(times, axis=0)  # type: ignore[no-any-return]


def log_growth(t: np.ndarray, values: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Return the fitted exponent p of e^F − e^{F(T)} ∝ (t − T)^p, one number per seed.

    T is the first time with F ≥ `above` (one level per seed). The exponent is 1 if F grows like
    log t, whatever the time T. It is NaN if fewer than five times follow T.
    """
    powers = []
    for F, level in zip(values, above, strict=True):
        late = np.flatnonzero(level <= F)
        if late.size < 6:
            powers.append(np.nan)
            continue
        i = late[0]
        rise = np.exp(F[i + 1 :]) - np.exp(F[i])
        good = rise > 0
        powers.append(np.polyfit(np.log(t[i + 1 :][good] - t[i]), np.log(rise[good]), 1)[0])
    return np.array(powers)
