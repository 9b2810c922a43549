"""Families of runs that vary the dimension in RNRF, and the quantities that their checks read."""

import numpy as np

from adversarium.plans import SHARE, Evidence, Need, Reading, Rows, quantity, where
from adversarium.plans.readings import first, when

from ...theory.readings import (
    CLEAN,
    TOTAL,
    A,
    B,
    fitted,
    linear,
    log_d,
    plateau,
    pull_ratio,
    threshold,
)

# families: standard without noise, to d = 128 and from d = 64 on; standard with noise, d² and d³
# steps; attacked without noise, and with noise, d² and d³ steps; attacked with varying η̃; standard
# with varying k
PLAIN, LARGE, NOISY, LONG_NOISY, QUIET, ATTACKED, LONG_ATTACKED, STEP, CLASSES = (
    "standard",
    "standard, large d",
    "standard, noise",
    "standard, noise, long",
    "attacked",
    "attacked, noise",
    "attacked, noise, long",
    "attack step",
    "classes",
)
C, D, FIT, NOISE = "foreign_robust", "foreign_nonrobust", "class_logits", "noise_correlation"


GAP = 1.25  # stands for 1 + Θ(1/polylog d) in Lemma B.2 of RNRF, the same at every d


def _covered(rows: Rows) -> np.ndarray:
    """Return the classes with B(0) > S A(0)(1 + Θ(1/polylog d)), (seed, class).

    Lemma B.2 of RNRF covers only these classes.
    """
    return GAP * pull_ratio(rows) * rows[A].values[:, 0] < rows[B].values[:, 0]


def _mean(values: np.ndarray, selected: np.ndarray) -> np.ndarray:
    """Return the mean over the selected classes, or NaN if there are none."""
    selected = selected & np.isfinite(values)
    total = np.where(selected, values, 0.0).sum(-1)
    return np.where(selected.any(-1), total / np.maximum(selected.sum(-1), 1), np.nan)


robust_at_start = Reading("max A at the start", lambda rows: rows[A].values[:, 0].mean(-1), (A,))


def _largest_growth(rows: Evidence, bounded: bool) -> np.ndarray:
    """Return the largest A(T)/A(0) over sizes and classes, with T the first time with B ≥ ϱ/β.

    If `bounded`, A(T)/A(0) is divided by its bound 1/(1 − S A(0)/B(0)).
    """
    largest = []
    for run in rows.where(where(PLAIN)):
        robust, other = run[A].values, run[B].values
        inverse_bound = 1 - pull_ratio(run) * robust[:, 0] / other[:, 0] if bounded else 1.0
        share = when(robust, linear(run, B)) / robust[:, 0] * inverse_bound
        largest.append(np.where(_covered(run), share, -np.inf).max(-1))
    return np.max(largest, axis=0)


robust_at_threshold = Reading(
    "A(T), largest over classes", lambda rows: when(rows[A].values, linear(rows, B)).max(-1), (A, B)
)

_FEATURES = Need(where(PLAIN), (A, B))
largest_growth = quantity(
    "A(T)/A(0), largest", lambda rows: _largest_growth(rows, False), _FEATURES
)
over_bound = quantity(
    "A(T)/A(0) over 1/(1 − S A(0)/B(0)), largest",
    lambda rows: _largest_growth(rows, True),
    _FEATURES,
)


def _is_fitted(rows: Rows) -> np.ndarray:
    """Return whether F_y ≥ log d, (seed, t, class)."""
    return rows[FIT].values >= log_d(rows)


def _stage_times(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return T and T′ of every class, Lemma D.10 of RNRF.

    They are the first times with B ≥ ϱ/β and with F_y ≥ log d; NaN if the run ends before.
    """
    return first(rows[B].t, linear(rows, B)), first(rows[FIT].t, _is_fitted(rows))


def _in_order(rows: Evidence) -> np.ndarray:
    """Return 1 if no class covered by Lemma B.2 of RNRF has F_y ≥ log d before B ≥ ϱ/β, else 0."""
    ordered = []
    for run in rows.where(where(LARGE)):
        turn, fit = _stage_times(run)
        early = np.isfinite(fit) & ~(turn <= fit)
        ordered.append(~(early & _covered(run)).any(-1))
    return np.min(ordered, axis=0).astype(float)


in_order = quantity(
    "T′ ≥ T in every class that Lemma B.2 covers, 0 no, 1 yes",
    _in_order,
    Need(where(LARGE), (A, B, FIT)),
    limits=SHARE,
)


def _stage_two(rows: Rows) -> np.ndarray:
    """Return (T′ − T)η/log d, mean over the classes that Lemma B.2 of RNRF covers."""
    turn, fit = _stage_times(rows)
    return _mean(fit - turn, _covered(rows)) * rows.run.eta / log_d(rows)


stage_two = Reading("(T′ − T)η/log d", _stage_two, (A, B, FIT))


def _fitted_time(rows: Rows) -> np.ndarray:
    """Return T′, mean over the classes that Lemma B.2 of RNRF covers."""
    return _mean(_stage_times(rows)[1], _covered(rows))


fitted_time = Reading("T′, mean over classes", _fitted_time, (A, B, FIT))


def _robust_when_fitted(rows: Rows) -> np.ndarray:
    """Return max A when F_y = log d, mean over the classes that Lemma B.2 of RNRF covers."""
    return _mean(when(rows[A].values, _is_fitted(rows)), _covered(rows))


robust_when_fitted = Reading("max A when F_y = log d", _robust_when_fitted, (A, B, FIT))


def _robust_at_end(rows: Rows) -> np.ndarray:
    """Return max A at the end, mean over the classes that Lemma B.2 of RNRF covers."""
    return _mean(rows.last(A), _covered(rows))


robust_at_end = Reading("max A at the end", _robust_at_end, (A, B))


def highest(name: str) -> Reading:
    """Return the largest value at any record time (the last value may be negative)."""
    return Reading(f"max over t of {name}", lambda rows: rows[name].values.max(1), (name,))


def _least_balance(rows: Rows) -> np.ndarray:
    """Return the smallest min F_y/max F_y in a class once mean F_y ≥ ¼ log d, or NaN."""
    late = fitted(rows, CLEAN, 0.25)
    least = np.where(late, rows["class_balance"].values, np.inf).min(1)
    return np.where(late.any(1), least, np.nan)


least_balance = Reading(
    "least min F_y/max F_y in a class", _least_balance, ("true_logit", "class_balance")
)


def _late_sum(rows: Rows) -> np.ndarray:
    """Return η Σ_{t ≥ T₀} E[1 − π_y] with T₀ the first time of mean F_y ≥ log d; NaN without T₀."""
    t, doubt = rows.curve("doubt")
    late = fitted(rows, CLEAN)
    middle = (doubt[:, 1:] + doubt[:, :-1]) / 2 * np.diff(t)
    total = np.where(late[:, :-1], middle, 0.0).sum(1) * rows.run.eta
    return np.where(late.any(1), total, np.nan)


late_sum = Reading("ηΣE[1 − π_y] from T₀ on", _late_sum, ("doubt", "true_logit"))


def _robust_at_plateau(rows: Rows) -> np.ndarray:
    """Return max A when Σ B^q reaches half of its plateau, Lemma D.23 of RNRF.

    It is the mean over the classes that Lemma B.2 of RNRF covers.
    """
    reached = rows[TOTAL].values >= 0.5 * plateau(rows)
    return _mean(when(rows[A].values, reached), _covered(rows))


robust_at_plateau = Reading("max A when ΣB³ = ½ plateau", _robust_at_plateau, (A, B, TOTAL))


def _least_stage(rows: Evidence) -> np.ndarray:
    """Return the smallest ϱ/(β max B(0)) over runs; a polynomial stage exists if it exceeds 1."""
    runs = rows.where(where(NOISY))
    return np.min([threshold(run, B) / run[B].values[:, 0].max(-1) for run in runs], axis=0)


least_stage = quantity("least ϱ/(β max B(0))", _least_stage, Need(where(NOISY), (B,)))
