"""Where a number of a probe's table can lie: shares within [0, 1], risks and norms above 0, by
whole words of their names. What is judged is shown as it is judged."""

import re

import numpy as np


def _word(*words: str) -> re.Pattern[str]:
    """Any of some whole words: "error" is one of robust_error, "active" is none of attractive."""
    return re.compile(rf"(?<![a-z])(?:{'|'.join(words)})s?(?![a-z])", re.IGNORECASE)


_SHARE = _word("err(?:or)?", "accuracy", "share", "frequency", "probability", "fraction",
               "by_radius", "broken", "certified", "active")  # fmt: skip
_POSITIVE = _word("risk", "loss", "norm", "energy", "first_time")
_ABOVE_ONE = re.compile(r"^loss_ratio")  # the largest of some numbers over the least
_NO_SHARE = re.compile(r"power|slope|ratio|log|minus|−|direction|recursion|slack", re.IGNORECASE)


def clipped(name: str, values: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """An interval of a mean, which stays within [0, 1] where the number is a share by its name and
    by its values, and above 0 where it is a risk, a norm or a time.

    >>> clipped("test_error", np.array([0.0, 0.1]), -0.18, 0.28)
    (0.0, 0.28)
    >>> clipped("test_error − train_error", np.array([0.0, 0.1]), -0.18, 0.28)
    (-0.18, 0.28)
    """
    known = values[np.isfinite(values)]
    if known.size and _ABOVE_ONE.search(name):
        return max(low, min(1.0, float(known.min()))), high
    if _NO_SHARE.search(name) or not known.size or known.min() < 0:
        return low, high
    if _SHARE.search(name) and known.max() <= 1:
        return max(low, 0.0), min(high, 1.0)
    return max(low, 0.0) if _POSITIVE.search(name) else low, high
