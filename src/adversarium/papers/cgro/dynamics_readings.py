"""Times, slopes and residuals of CGRO's three stages, read off the rows of a run."""

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


def _steepness_lacking(run: Rows) -> np.ndarray:
    """1 − the smallest ‖∇L‖/L at a record time from T₁ of the last sample on."""
    t, ratio = run.curve("gradient_over_risk")
    late = t >= run.last(T1_ALL)[:, None]
    return np.where(late.any(1), 1 - np.where(late, ratio, np.inf).min(1), np.nan)


def _decay_slope(run: Rows) -> np.ndarray:
    """The slope of log L in log(t − T₁), over the record times from T₁ + T₁/10 on: a decade
    at least while T₁ is within the first half of the run."""
    t, loss = run.curve("risk")
    slopes = []
    for start, values in zip(run.last(T1_ALL), loss, strict=True):
        late = t >= 1.1 * start
        if late.sum() > 3:
            slopes.append(np.polyfit(np.log(t[late] - start), np.log(values[late]), 1)[0])
        else:
            slopes.append(np.nan)
    return np.array(slopes)


def _late_change(run: Rows) -> np.ndarray:
    """The relative change of α³U from T₁ of the last sample to the end."""
    t, signal = run.curve("true_feature")
    changes = []
    for start, values in zip(run.last(T1_ALL), signal, strict=True):
        late = np.flatnonzero(t >= start)
        changes.append(values[-1] / values[late[0]] - 1 if late.size else np.nan)
    return np.array(changes)


def _over_terms(run: Rows) -> np.ndarray:
    """The residual of v over the sum of the two printed terms of Lemma C.5 of CGRO."""
    ratio: np.ndarray = run.last("residual") / (run.last("first_term") + run.last("second_term"))
    return ratio


def _shortfall(run: Rows) -> np.ndarray:
    """How many times Pσ²√d/α v falls below the bound of Lemma 4.4 of CGRO."""
    ratio: np.ndarray = run.last("lower_residual") / run.last("second_term")
    return ratio


signal_time = Reading("T₀ (1/u0)/(1/u0 − α)", _without_offset, (T0, "largest_signal"))
memory_time = Reading("T₁ of the median point", _given_a_start, (T1, "largest_signal"))
steepness_lacking = Reading(
    "1 − least ‖∇L‖/L from T₁ on", _steepness_lacking, ("gradient_over_risk", T1_ALL)
)
decay_slope = Reading("slope of log L in log(t − T₁)", _decay_slope, ("risk", T1_ALL))
late_change = Reading("change of α³U after T₁", _late_change, ("true_feature", T1_ALL))
twenty_T0 = Reading("20 T₀", lambda run: 20 * run.last(T0), (T0,))
over_terms = Reading(
    "residual over both printed terms", _over_terms, ("residual", "first_term", "second_term")
)
shortfall = Reading("shortfall/(Pσ²√d/α)", _shortfall, ("lower_residual", "second_term"))
