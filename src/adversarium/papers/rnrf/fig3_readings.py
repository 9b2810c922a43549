"""What the checks of Figure 3 of RNRF read off its two runs."""

import math

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
)
from adversarium.plans import Evidence, Need, Reading, Rows, quantity, where
from adversarium.plans.readings import crossing, first, log_growth, when

STANDARD, ADVERSARIAL = "standard", "adversarial"  # families
STD, ADV = where(STANDARD), where(ADVERSARIAL)


def _zeros(rows: Evidence) -> np.ndarray:
    return np.zeros(len(rows.seeds))


zero = quantity("0", _zeros)


def _lead(rows: Rows) -> np.ndarray:
    return (rows.last(A) - rows.last(B)).min(-1)


lead = Reading("min over classes of A − B", _lead, (A, B))


def _dominance(rows: Rows) -> np.ndarray:
    return (rows.last(B) - 5 * rows.last(A)).min(-1)


dominance = Reading("min over classes of B − 5A", _dominance, (A, B))


def _overtaking(rows: Rows, after: int = 100) -> np.ndarray:
    """The first t > `after` with A > B in every class: before that both are at their start."""
    t, robust = rows.curve(A)
    return first(t, (robust > rows[B].values).all(-1) & (t > after))


overtaking = Reading("first t with A > B in both classes", _overtaking, (A, B))


def _stall(rows: Rows) -> np.ndarray:
    t, nonrobust = rows.curve(B)
    return crossing(t, nonrobust, rows[A].values)


stall = Reading("time at which the slope of B falls below the slope of A", _stall, (A, B))


def worst_error(name: str, after: int = 50) -> Reading:
    """The largest value of an error from a time on."""

    def worst(rows: Rows) -> np.ndarray:
        t, values = rows.curve(name)
        return np.where(t >= after, values, -np.inf).max(1)  # −∞: the run ended before

    return Reading(f"largest {name} at t ≥ {after}", worst, (name,))


def accuracy_at(name: str, moment: int) -> Reading:
    """1 − an error at a moment within the run; NaN where the run ended before."""

    def accuracy(rows: Rows) -> np.ndarray:
        t, values = rows.curve(name)
        if moment >= t[-1]:
            return np.full(len(values), np.nan)
        return 1 - values[:, int(np.abs(t - moment).argmin())]

    return Reading(f"accuracy, {name}, t = {moment}", accuracy, (name,))


def final_accuracy(name: str) -> Reading:
    """1 − an error at the end."""
    return Reading(f"accuracy, {name}, t = end", lambda rows: 1 - rows.last(name), (name,))


def best_accuracy(name: str) -> Reading:
    """1 − the smallest value of an error at any record time."""
    return Reading(
        f"best accuracy, {name}, at any t", lambda rows: 1 - rows[name].values.min(1), (name,)
    )


def _imbalance(rows: Rows) -> np.ndarray:
    """½ minus the smallest min F_y/max F_y within a class, once F_y ≥ log d; NaN if it never is."""
    late = fitted(rows, CLEAN)
    least = np.where(late, rows["class_balance"].values, np.inf).min(1)
    return np.where(late.any(1), 0.5 - least, np.nan)


imbalance = Reading("½ − min F_y/max F_y in a class", _imbalance, ("true_logit", "class_balance"))


def _sum_ratio(rows: Rows, since: int = 100) -> np.ndarray:
    """η Σ_{s≤T} E[1 − π_y]/log T at the last T over that at an early T, Lemma E.6 of RNRF."""
    t, doubt = rows.curve("doubt")
    total = np.cumsum((doubt[:, 1:] + doubt[:, :-1]) / 2 * np.diff(t), axis=1)
    early = int(np.abs(t[1:] - since).argmin())
    return (total[:, -1] / math.log(t[-1])) / (total[:, early] / math.log(t[1 + early]))


sum_ratio = Reading("ηΣE[1 − π]/log T, end over T = 100", _sum_ratio, ("doubt",))


def _doubt_over_bound(rows: Rows) -> np.ndarray:
    """The largest (1 − π_y)e^{F_y}/(k − 1) once F_y ≥ log d, Lemma D.5 of RNRF; NaN if it never
    is."""
    late = fitted(rows, CLEAN)
    scaled = np.exp(rows["log_doubt"].values + rows["true_logit"].values)
    worst = np.where(late, scaled, -np.inf).max(1) / (rows.run.data.k - 1)
    return np.where(late.any(1), worst, np.nan)


doubt_over_bound = Reading(
    "largest (1 − π_y)e^F/(k − 1), F_y ≥ log d", _doubt_over_bound, ("true_logit", "log_doubt")
)


def _late_loss(rows: Rows) -> np.ndarray:
    t, loss = rows.curve("risk")
    return log_growth(t, -np.log(loss), when(-np.log(loss), fitted(rows, CLEAN)))


late_loss = Reading("exponent of 1/L in t, from F_y = log d on", _late_loss, ("risk", "true_logit"))


def _grown(rows: Rows) -> np.ndarray:
    """Where max B ≥ ϱ/β in some class, (seed, t)."""
    return np.asarray(linear(rows, B).any(-1))


def _stage_two(rows: Rows) -> np.ndarray:
    """Steps from the first max B ≥ ϱ/β to mean F_y ≥ log d, in units of log d/η, Lemma D.10 of
    RNRF."""
    t = rows["true_logit"].t
    steps = first(t, fitted(rows, CLEAN)) - first(t, _grown(rows))
    return steps * rows.run.eta / log_d(rows)


stage_two = Reading(
    "steps from B = ϱ/β to F_y = log d, over log d/η", _stage_two, (B, "true_logit")
)


def _robust_change(rows: Rows) -> np.ndarray:
    """The relative change of max A between those two times."""
    robust = rows[A].values.max(-1)
    one, two = when(robust, _grown(rows)), when(robust, fitted(rows, CLEAN))
    return np.maximum(one, two) / np.minimum(one, two) - 1


robust_change = Reading("relative change of max A meanwhile", _robust_change, (A, B, "true_logit"))


def largest_growth(name: str) -> Reading:
    """The largest value at any record time minus the first."""

    def growth(rows: Rows) -> np.ndarray:
        values = rows[name].values
        return values.max(1) - values[:, 0]

    return Reading(f"max over t of {name} − its start", growth, (name,))


def _largest_gap(rows: Rows) -> np.ndarray:
    return rows["inner_gap"].values.max(1)


largest_gap = Reading("largest (L(PGD-20) − L(one step))/|L|", _largest_gap, ("inner_gap",))


def _robust_at_plateau(rows: Rows) -> np.ndarray:
    """max A over log(d) max A(0), largest over classes, when Σ B^q reaches ¾ of its plateau, Lemma
    D.23 of RNRF."""
    robust = rows[A].values
    reached = rows[TOTAL].values >= 0.75 * plateau(rows)
    return when(robust, reached).max(-1) / (robust[:, 0].max(-1) * log_d(rows))


robust_at_plateau = Reading(
    "max A over log d × its start, when ΣB³ = ¾ plateau", _robust_at_plateau, (A, TOTAL)
)


def _early_difference(rows: Evidence) -> np.ndarray:
    """The largest relative difference of A and B between the trainings until Σ B^q of either
    class reaches a tenth of its plateau; NaN if none does."""
    standard, attacked = rows.one(STD), rows.one(ADV)
    grown = np.asarray((attacked[TOTAL].values >= 0.1 * plateau(attacked)).any(-1))
    worst = np.where(grown.any(1), 0.0, np.nan)
    for feature in (A, B):
        gap = np.abs(attacked[feature].values / standard[feature].values - 1).max(-1)
        early = [g[: i + 1].max() for g, i in zip(gap, grown.argmax(1), strict=True)]
        worst = np.maximum(worst, early)
    return worst


early_difference = quantity(
    "largest relative difference, early",
    _early_difference,
    Need(STD, (A, B)),
    Need(ADV, (A, B, TOTAL)),
)
