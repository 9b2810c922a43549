"""Read CGRO's two times from the rows of a run."""

import numpy as np

from adversarium.measure.folds import FirstTime
from adversarium.plans import Reading, Rows

from ...theory.features import largest_signal, least_memorised, median_memorised
from ...theory.patches import largest_start

T0 = FirstTime(largest_signal, 1.0).name
T1 = FirstTime(median_memorised, 1.0).name
T1_ALL = FirstTime(least_memorised, 1.0).name


def _without_offset(run: Rows) -> np.ndarray:
    """Return T₀ (1/u0)/(1/u0 − α), which removes the offset of its closed form."""
    time: np.ndarray = run.last(T0) / (1 - largest_start(run))
    return time


def _of_unit_start(run: Rows) -> np.ndarray:
    """Return T₀ u0/(1 − α u0) up to 1/α: each d draws other u_r(0), so that T₀ itself is noisy."""
    time: np.ndarray = largest_start(run) * _without_offset(run)
    return time


def _given_a_start(run: Rows) -> np.ndarray:
    """Return T₁ of the median sample in the seeds with some u_r(0) > 0, and NaN in the others."""
    return np.where(largest_start(run) > 0, run.last(T1), np.nan)


signal_time = Reading("T₀ (1/u0)/(1/u0 − α)", _without_offset, (T0, "largest_signal"))
scaled_time = Reading("T₀ α u0/(1 − α u0)", _of_unit_start, (T0, "largest_signal"))
memory_time = Reading("T₁ of the median point", _given_a_start, (T1, "largest_signal"))
