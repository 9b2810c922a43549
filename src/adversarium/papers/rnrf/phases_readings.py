"""The runs of RNRF's phases of adversarial training, and what their checks read."""

from collections.abc import Callable

import numpy as np

from adversarium.papers.rnrf.readings import (
    ATTACKED,
    TOTAL,
    A,
    B,
    fitted,
    linear,
    over_classes,
    plateau,
)
from adversarium.plans import Evidence, Need, Quantity, Reading, Rows, Where, quantity, where
from adversarium.plans.readings import first, when

# families: over the attack step, over k, and other readings of Figure 3's attack
STEP, CLASS, READING, SIZE, PRINTED = "", "classes", "reading", "sizes", "printed start"
STEPS, SORTS, READINGS, SIZES = where(STEP), where(CLASS), where(READING), where(SIZE)
PLAIN, EARLY = where("standard, early"), where("attacked, early")  # from a smaller start
LITERAL = Where(READING, {"η̃": 1e3, "clip": "element"})
LOGIT = ATTACKED.row("true_logit")


def _linear_time(rows: Rows) -> np.ndarray:
    """The first time at which max A has reached ϱ/α in every class; NaN if never."""
    return first(rows[A].t, np.asarray(linear(rows, A).all(-1)))


def _fitted_time(rows: Rows) -> np.ndarray:
    """The first time at which the mean of F_y(X̃) is log d; NaN if never."""
    return first(rows[LOGIT].t, fitted(rows, ATTACKED))


linear_time = Reading("first t with max A ≥ ϱ/α", _linear_time, (A,))
fitted_time = Reading("first t with F_y(X̃) ≥ log d", _fitted_time, (LOGIT,))


def _at_log_d(rows: Rows) -> np.ndarray:
    """max_r B, mean over classes, when the mean of F_y(X̃) first reaches log d."""
    return when(rows[B].values.mean(-1), fitted(rows, ATTACKED))


at_log_d = Reading("max B when F_y(X̃) = log d", _at_log_d, (B, LOGIT))


def _highest_later(rows: Rows) -> np.ndarray:
    """The largest max_r B, mean over classes, from then on; NaN if it never was."""
    late = fitted(rows, ATTACKED)
    top = np.where(late, rows[B].values.mean(-1), -np.inf).max(1)
    return np.where(late.any(1), top, np.nan)


highest_later = Reading("largest max B since F_y(X̃) = log d", _highest_later, (B, LOGIT))


def _later_change(rows: Rows) -> np.ndarray:
    """The largest relative change of max B after that; NaN if it never was."""
    start = _at_log_d(rows)
    change = np.abs(rows[B].values.mean(-1) / start[:, None] - 1)
    return np.where(fitted(rows, ATTACKED), change, 0).max(1) + 0 * start


def _over_steps(
    name: str, of: Callable[[Rows], np.ndarray], *names: str, least: bool = False
) -> Quantity:
    """The largest of a number over all attack steps, or the smallest."""

    def value(rows: Evidence) -> np.ndarray:
        made = np.stack([of(run) for run in rows.where(STEPS)])
        return np.asarray(made.min(0) if least else made.max(0))

    return quantity(name, value, Need(STEPS, names))


worst_change = _over_steps(
    "largest relative change of max B since then, over η̃", _later_change, B, LOGIT
)
final_total = over_classes(TOTAL)


def _share_of_law(rows: Rows) -> np.ndarray:
    return final_total.of(rows) / plateau(rows)


least_share = _over_steps(
    "ΣB³ over its law at the end, least over η̃", _share_of_law, TOTAL, least=True
)
largest_share = _over_steps("ΣB³ over its law at the end, largest over η̃", _share_of_law, TOTAL)

_SMALL = np.array([0.003, 0.01, 0.03, 0.1])  # κ_B = ΣB³ over its plateau


def _beside(name: str, meant: Where, of: Callable[[np.ndarray], np.ndarray]) -> Quantity:
    """A number of the differences between one attacked training and the standard one."""
    needs = Need(PLAIN, (A, B)), Need(meant, (A, B, TOTAL))
    told = f"{name} ({meant.told})"
    return quantity(told, lambda rows: of(_differences(rows, meant)), *needs)


def _differences(rows: Evidence, meant: Where) -> np.ndarray:
    """The largest relative difference of A and B between attacked and standard training before
    κ_B reaches each of a few values in some class, (seed, κ); NaN where it never does."""
    standard, attacked = rows.one(PLAIN), rows.one(meant)
    gap = np.maximum.reduce(
        [np.abs(attacked[f].values / standard[f].values - 1).max(-1) for f in (A, B)]
    )
    kappa = (attacked[TOTAL].values / plateau(attacked)).max(-1)
    made = []
    for edge in _SMALL:
        early = np.where(kappa < edge, gap, 0.0).max(1)
        made.append(np.where((kappa >= edge).any(1), early, np.nan))
    return np.stack(made, axis=1)


def early_difference(meant: Where) -> Quantity:
    """The largest relative difference while κ_B is small."""
    told = "largest relative difference of A and B while κ_B < 0.01"
    return _beside(told, meant, lambda gaps: gaps[:, 1])


def difference_power(meant: Where) -> Quantity:
    """The power of κ_B in that difference: positive, it vanishes with κ_B."""

    def power(gaps: np.ndarray) -> np.ndarray:
        logs = np.log(np.where(gaps > 0, gaps, np.nan))
        return np.array([np.polyfit(np.log(_SMALL), one, 1)[0] for one in logs])

    return _beside("power of κ_B in that difference", meant, power)


def raised(feature: str, meant: Where) -> Quantity:
    """By how much a feature has grown under attack, mean over classes, when κ_B is 0.1."""

    def value(rows: Evidence) -> np.ndarray:
        run = rows.one(meant)
        small = run[TOTAL].values.max(-1) < 0.1 * plateau(run)
        end = np.maximum(small.sum(1) - 1, 0)
        values = run[feature].values.mean(-1)
        return np.asarray(np.take_along_axis(values, end[:, None], 1)[:, 0] - values[:, 0])

    told = f"growth of {feature} until κ_B = 0.1 ({meant.told})"
    return quantity(told, value, Need(meant, (feature, TOTAL)))
