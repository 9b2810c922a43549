"""The power of x in y, from measured pairs."""

from collections.abc import Sequence

import numpy as np


def power(x: Sequence[float], y: Sequence[float]) -> float:
    """b of log y = a + b log x by least squares; no number where a y is not positive.

    >>> round(power([1, 2, 4], [3, 12, 48]), 9)  # y = 3x²
    2.0
    """
    log_x = np.log(x) - np.log(x).mean()
    with np.errstate(all="ignore"):
        log_y = np.log([y])  # a row: a product of two vectors may round otherwise
    return float(((log_y @ log_x) / (log_x @ log_x))[0])
