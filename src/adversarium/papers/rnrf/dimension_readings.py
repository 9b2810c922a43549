"""The runs over the dimension in RNRF, and what their checks read."""

import numpy as np

from adversarium.papers.rnrf.readings import (
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
from adversarium.plans import Evidence, Need, Reading, Rows, quantity, where
from adversarium.plans.readings import first, when

# families: standard without and with noise, attacked without and with noise, over η̃ at one d, over
# k, and standard with noise for d² steps
PLAIN, NOISY, QUIET, ATTACKED, STEP, CLASSES, LONG = (
    "standard",
    "standard, noise",
    "attacked",
    "attacked, noise",
    "attack step",
    "classes",
    "long, noise",
)
C, D, FIT, NOISE = "foreign_robust", "foreign_nonrobust", "class_logits", "noise_correlation"


GAP = 1.25  # how 1 + Θ(1/polylog d) of Lemma B.2 of RNRF is read: the same at every d


def _behind(rows: Rows) -> np.ndarray:
    """Classes with B(0) > S A(0)(1 + Θ(1/polylog d)), (seed, class): the others Lemma B.2 of RNRF
    leaves out."""
    return GAP * pull_ratio(rows) * rows[A].values[:, 0] < rows[B].values[:, 0]


def _mean(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The mean over the classes that are kept; NaN where none is."""
    kept = kept & np.isfinite(values)
    total = np.where(kept, values, 0.0).sum(-1)
    return np.where(kept.any(-1), total / np.maximum(kept.sum(-1), 1), np.nan)


robust_at_start = Reading("max A at the start", lambda rows: rows[A].values[:, 0].mean(-1), (A,))


def _most(rows: Evidence, bounded: bool) -> np.ndarray:
    """The largest over sizes and classes of A(T)/A(0), T the first time with B ≥ ϱ/β; or of that
    over its bound 1/(1 − S A(0)/B(0))."""
    made = []
    for run in rows.where(where(PLAIN)):
        robust, other = run[A].values, run[B].values
        room = 1 - pull_ratio(run) * robust[:, 0] / other[:, 0] if bounded else 1.0
        share = when(robust, linear(run, B)) / robust[:, 0] * room
        made.append(np.where(_behind(run), share, -np.inf).max(-1))
    return np.max(made, axis=0)


_READ = Need(where(PLAIN), (A, B))
most_growth = quantity("A(T)/A(0), largest", lambda rows: _most(rows, False), _READ)
over_bound = quantity(
    "A(T)/A(0) over 1/(1 − S A(0)/B(0)), largest", lambda rows: _most(rows, True), _READ
)


def _is_fitted(rows: Rows) -> np.ndarray:
    """Where F_y ≥ log d, (seed, t, class)."""
    return rows[FIT].values >= log_d(rows)


def _turns(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """T and T′ of every class: the first times with B ≥ ϱ/β and with F_y ≥ log d, Lemma D.10 of
    RNRF; NaN where the run ended before."""
    return first(rows[B].t, linear(rows, B)), first(rows[FIT].t, _is_fitted(rows))


def _in_order(rows: Evidence) -> np.ndarray:
    """Whether no class that Lemma B.2 of RNRF covers has F_y ≥ log d before B ≥ ϱ/β."""
    made = []
    for run in rows.where(where(PLAIN)):
        turn, fit = _turns(run)
        early = np.isfinite(fit) & ~(turn <= fit)
        made.append(~(early & _behind(run)).any(-1))
    return np.min(made, axis=0).astype(float)


in_order = quantity(
    "T′ ≥ T in every class that Lemma B.2 covers, 0 no, 1 yes",
    _in_order,
    Need(where(PLAIN), (A, B, FIT)),
)


def _stage_two(rows: Rows) -> np.ndarray:
    turn, fit = _turns(rows)
    return _mean(fit - turn, _behind(rows)) * rows.run.eta / log_d(rows)


stage_two = Reading("(T′ − T)η/log d", _stage_two, (A, B, FIT))


def _fitted_time(rows: Rows) -> np.ndarray:
    return _mean(_turns(rows)[1], _behind(rows))


fitted_time = Reading("T′, mean over classes", _fitted_time, (A, B, FIT))


def _robust_when_fitted(rows: Rows) -> np.ndarray:
    return _mean(when(rows[A].values, _is_fitted(rows)), _behind(rows))


robust_when_fitted = Reading("max A when F_y = log d", _robust_when_fitted, (A, B, FIT))


def _robust_at_end(rows: Rows) -> np.ndarray:
    return _mean(rows.last(A), _behind(rows))


robust_at_end = Reading("max A at the end", _robust_at_end, (A, B))


def highest(name: str) -> Reading:
    """The largest value at any record time (the last may be negative)."""
    return Reading(f"max over t of {name}", lambda rows: rows[name].values.max(1), (name,))


def _least_balance(rows: Rows) -> np.ndarray:
    """The least min F_y/max F_y within a class once the mean F_y ≥ log d; NaN if it never is."""
    late = fitted(rows, CLEAN)
    least = np.where(late, rows["class_balance"].values, np.inf).min(1)
    return np.where(late.any(1), least, np.nan)


least_balance = Reading(
    "least min F_y/max F_y in a class", _least_balance, ("true_logit", "class_balance")
)


def _late_sum(rows: Rows) -> np.ndarray:
    """η Σ_{t ≥ T₀} E[1 − π_y], T₀ the first time with mean F_y ≥ log d; NaN if there is none."""
    t, doubt = rows.curve("doubt")
    late = fitted(rows, CLEAN)
    middle = (doubt[:, 1:] + doubt[:, :-1]) / 2 * np.diff(t)
    total = np.where(late[:, :-1], middle, 0.0).sum(1) * rows.run.eta
    return np.where(late.any(1), total, np.nan)


late_sum = Reading("ηΣE[1 − π_y] from T₀ on", _late_sum, ("doubt", "true_logit"))


def _robust_at_plateau(rows: Rows) -> np.ndarray:
    """max A when Σ B^q reaches half of its plateau, mean over the classes that Lemma B.2 of RNRF
    covers, Lemma D.23 of RNRF."""
    reached = rows[TOTAL].values >= 0.5 * plateau(rows)
    return _mean(when(rows[A].values, reached), _behind(rows))


robust_at_plateau = Reading("max A when ΣB³ = ½ plateau", _robust_at_plateau, (A, B, TOTAL))


def _least_stage(rows: Evidence) -> np.ndarray:
    """The smallest over runs of ϱ/(β max B(0)): only above 1 is there a polynomial stage."""
    runs = rows.where(where(NOISY))
    return np.min([threshold(run, B) / run[B].values[:, 0].max(-1) for run in runs], axis=0)


least_stage = quantity("least ϱ/(β max B(0))", _least_stage, Need(where(NOISY), (B,)))
