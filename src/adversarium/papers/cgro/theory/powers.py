"""Fit the exponent b of y ∝ x^b to measured pairs."""

from collections.abc import Sequence

import numpy as np


def power(x: Sequence[float], y: Sequence[float]) -> float:
    """Return b of log y = a + b log x by least squares; not finite if a y is not positive.

    >>> round(power([1, 2, 4], [3, 12, 48]), 9)  # y = 3x²
    2.0
    """
    log_x = np.log(x) - np.log(x).mean()
    with np.errstate(all="ignore"):
        log_y = np.log([y])  # as a row: a product of two vectors may round differently
    return float(((log_y @ log_x) / (log_x @ log_x))[0])
