"""CGRO's two times, read off the rows of a run."""

import numpy as np

from adversarium.papers.cgro.patches import largest_start
from adversarium.plans import Reading, Rows
from adversarium.probes import FirstTime, largest_signal, least_memorised, median_memorised

T0 = FirstTime(largest_signal, 1.0).name
T1 = FirstTime(median_memorised, 1.0).name
T1_ALL = FirstTime(least_memorised, 1.0).name


def _without_offset(run: Rows) -> np.ndarray:
    """T₀ (1/u0)/(1/u0 − α): without the offset of its closed form."""
    time: np.ndarray = run.last(T0) / (1 - largest_start(run))
    return time


def _given_a_start(run: Rows) -> np.ndarray:
    """T₁ of the median sample in the seeds with some u_r(0) > 0."""
    return np.where(largest_start(run) > 0, run.last(T1), np.nan)


signal_time = Reading("T₀ (1/u0)/(1/u0 − α)", _without_offset, (T0, "largest_signal"))
memory_time = Reading("T₁ of the median point", _given_a_start, (T1, "largest_signal"))
