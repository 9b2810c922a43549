"""Runs of RNRF's phases of adversarial training, and the quantities that their checks read."""

from collections.abc import Callable

import numpy as np

from adversarium.plans import Evidence, Need, Quantity, Reading, Rows, Where, quantity, where
from adversarium.plans.readings import first, when

from ...theory.readings import ATTACKED, TOTAL, A, B, fitted, linear, over_classes, plateau

# families that vary the attack step, k, the reading of the attack of Figure 3, d, and d with the
# published σ0
STEP, CLASS, READING, SIZE, PRINTED = "", "classes", "reading", "sizes", "printed start"
STEP_RUNS, CLASS_RUNS, READING_RUNS, SIZE_RUNS = (
    where(STEP),
    where(CLASS),
    where(READING),
    where(SIZE),
)
PLAIN, EARLY = where("standard, early"), where("attacked, early")  # with a smaller σ0
LITERAL = Where(READING, {"η̃": 1e3, "clip": "element"})
LOGIT = ATTACKED.row("true_logit")


def _linear_time(rows: Rows) -> np.ndarray:
    """Return the first time at which max A ≥ ϱ/α in every class, or NaN if there is none."""
    return first(rows[A].t, np.asarray(linear(rows, A).all(-1)))


def _fitted_time(rows: Rows) -> np.ndarray:
    """Return the first time at which the mean of F_y(X̃) is at least log d, or NaN."""
    return first(rows[LOGIT].t, fitted(rows, ATTACKED))


linear_time = Reading("first t with max A ≥ ϱ/α", _linear_time, (A,))
fitted_time = Reading("first t with F_y(X̃) ≥ log d", _fitted_time, (LOGIT,))


def _at_log_d(rows: Rows) -> np.ndarray:
    """Return max_r B, mean over classes, when the mean of F_y(X̃) first reaches log d."""
    return when(rows[B].values.mean(-1), fitted(rows, ATTACKED))


at_log_d = Reading("max B when F_y(X̃) = log d", _at_log_d, (B, LOGIT))


def _highest_later(rows: Rows) -> np.ndarray:
    """Return the largest max_r B, mean over classes, once the mean of F_y(X̃) is at least log d.

    The result is NaN if it never is.
    """
    late = fitted(rows, ATTACKED)
    top = np.where(late, rows[B].values.mean(-1), -np.inf).max(1)
    return np.where(late.any(1), top, np.nan)


def _fitted_end(rows: Rows) -> np.ndarray:
    """Return the mean of F_y(X̃) at the end, or NaN if it never reached log d."""
    return np.where(fitted(rows, ATTACKED).any(1), rows.last(LOGIT), np.nan)


fitted_end = Reading("F_y(X̃) at the end, once it reached log d", _fitted_end, (LOGIT,))
highest_later = Reading("largest max B since F_y(X̃) = log d", _highest_later, (B, LOGIT))


def _later_change(rows: Rows) -> np.ndarray:
    """Return the largest relative change of max B once the mean of F_y(X̃) is at least log d.

    The result is NaN if it never is.
    """
    start = _at_log_d(rows)
    change = np.abs(rows[B].values.mean(-1) / start[:, None] - 1)
    return np.where(fitted(rows, ATTACKED), change, 0).max(1) + 0 * start


def _over_steps(
    name: str, of: Callable[[Rows], np.ndarray], *names: str, least: bool = False
) -> Quantity:
    """Return the largest (or smallest) value of a quantity over all attack steps."""

    def value(rows: Evidence) -> np.ndarray:
        values = np.stack([of(run) for run in rows.where(STEP_RUNS)])
        return np.asarray(values.min(0) if least else values.max(0))

    return quantity(name, value, Need(STEP_RUNS, names))


worst_change = _over_steps(
    "largest relative change of max B since then, over η̃", _later_change, B, LOGIT
)
final_total = over_classes(TOTAL)


def _share_of_law(rows: Rows) -> np.ndarray:
    """Return ΣB³ at the end divided by its plateau."""
    return final_total.of(rows) / plateau(rows)


least_share = _over_steps(
    "ΣB³ over its law at the end, least over η̃", _share_of_law, TOTAL, least=True
)
largest_share = _over_steps("ΣB³ over its law at the end, largest over η̃", _share_of_law, TOTAL)

_SMALL_KAPPAS = np.array([0.01, 0.02, 0.05, 0.1])  # values of κ_B, that is ΣB³/plateau


def _from_differences(
    name: str, runs: Where, of: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Quantity:
    """Return a quantity computed from the differences between attacked and standard training with
    the same d and σ0."""
    needs = Need(PLAIN, (A, B)), Need(runs, (A, B, TOTAL))
    label = f"{name} ({runs.description})"
    return quantity(label, lambda rows: of(*_differences(rows, runs)), *needs)


def _differences(rows: Evidence, runs: Where) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest relative difference of A and B between attacked and standard training.

    It is the largest while κ_B is below each of _SMALL_KAPPAS in every class, (seed, κ); NaN if it
    is so at no step after the first. The second array says whether κ_B reaches this value later.
    """
    attacked = rows.one(runs)
    places = attacked.task.coordinates
    same = {name: places[name] for name in ("d", "σ0√d")}
    standard = rows.one(where(PLAIN.family, **same))
    gap = np.maximum.reduce(
        [np.abs(attacked[f].values / standard[f].values - 1).max(-1) for f in (A, B)]
    )
    kappa = (attacked[TOTAL].values / plateau(attacked)).max(-1)
    largest, reached = [], []
    for edge in _SMALL_KAPPAS:
        early = np.where(kappa < edge, gap, np.nan)[:, 1:]
        seen = np.isfinite(early).any(1)
        largest.append(np.where(seen, np.fmax.reduce(early, axis=1, initial=0.0), np.nan))
        reached.append((kappa >= edge).any(1))
    return np.stack(largest, axis=1), np.stack(reached, axis=1)


def early_difference(runs: Where) -> Quantity:
    """Return the largest relative difference of A and B from standard training while κ_B < 0.01."""
    label = "largest relative difference of A and B while κ_B < 0.01"
    return _from_differences(label, runs, lambda gaps, reached: gaps[:, 0])


def difference_power(runs: Where) -> Quantity:
    """Return the power of κ_B in the relative difference of A and B from standard training."""

    def power(gaps: np.ndarray, reached: np.ndarray) -> np.ndarray:
        logs = np.log(np.where(reached & (gaps > 0), gaps, np.nan))
        return np.array([np.polyfit(np.log(_SMALL_KAPPAS), one, 1)[0] for one in logs])

    return _from_differences("power of κ_B in that difference", runs, power)


def raised(feature: str, runs: Where) -> Quantity:
    """Return the growth of a feature under attack until κ_B = 0.1, mean over classes."""

    def value(rows: Evidence) -> np.ndarray:
        run = rows.one(runs)
        small = run[TOTAL].values.max(-1) < 0.1 * plateau(run)
        end = np.maximum(small.sum(1) - 1, 0)
        values = run[feature].values.mean(-1)
        return np.asarray(np.take_along_axis(values, end[:, None], 1)[:, 0] - values[:, 0])

    label = f"growth of {feature} until κ_B = 0.1 ({runs.description})"
    return quantity(label, value, Need(runs, (feature, TOTAL)))
