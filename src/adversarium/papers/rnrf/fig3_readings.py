"""What the checks of Figure 3 of RNRF read off its runs."""

import math

import numpy as np

from adversarium.papers.rnrf.readings import A, B, linear
from adversarium.plans import Evidence, Reading, Rows, quantity, where
from adversarium.plans.readings import crossing, first

STANDARD, ADVERSARIAL, LITERALLY = "standard", "adversarial", "literal step"  # families
STD, ADV, LITERAL = where(STANDARD), where(ADVERSARIAL), where(LITERALLY)


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


def _later_growth(rows: Rows) -> np.ndarray:
    t, nonrobust = rows.curve(B)
    since = nonrobust[:, int(np.abs(t - 200).argmin())]
    ratio: np.ndarray = (nonrobust[:, -1] / since).max(-1)
    return ratio


later_growth = Reading("max B at the end over that at t = 200, largest class", _later_growth, (B,))


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


def _latest_lead(rows: Rows) -> np.ndarray:
    """The largest A − B of any class from the time on at which its B has reached ϱ/β, or at the end
    where it never does (at the start either may be larger)."""
    grown = np.maximum.accumulate(linear(rows, B), axis=1)
    grown[:, -1] = True
    return np.where(grown, rows[A].values - rows[B].values, -np.inf).max((1, 2))


latest_lead = Reading("largest A − B since B = ϱ/β, or at the end", _latest_lead, (A, B))


def largest_gap(after: int, until: float = math.inf) -> Reading:
    """The largest inner gap between two times."""

    def worst(rows: Rows) -> np.ndarray:
        t, gap = rows.curve("inner_loss_gap")
        seen = (t >= after) & (t <= until)
        return np.where(seen, gap, -np.inf).max(1) if seen.any() else np.full(len(gap), np.nan)

    told = f"{after} ≤ t ≤ {until:g}" if until < math.inf else f"t ≥ {after}"
    return Reading(f"largest (L(PGD-20) − L(one step))/|L(X)|, {told}", worst, ("inner_loss_gap",))
