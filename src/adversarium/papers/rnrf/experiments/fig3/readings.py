"""Quantities that the checks of Figure 3 of RNRF read from its runs."""

import math

import numpy as np

from adversarium.plans import SHARE, Evidence, Reading, Rows, quantity, where
from adversarium.plans.readings import crossing, first

from ...theory.readings import A, B, linear

STANDARD, ADVERSARIAL, LITERALLY = "standard", "adversarial", "literal step"  # families
STD, ADV, LITERAL = where(STANDARD), where(ADVERSARIAL), where(LITERALLY)


def _zeros(rows: Evidence) -> np.ndarray:
    """Return 0, one number per seed."""
    return np.zeros(len(rows.seeds))


zero = quantity("0", _zeros)


def _lead(rows: Rows) -> np.ndarray:
    """Return A − B at the end, the smallest over classes."""
    return (rows.last(A) - rows.last(B)).min(-1)


lead = Reading("min over classes of A − B", _lead, (A, B))


def _dominance(rows: Rows) -> np.ndarray:
    """Return B − 5A at the end, the smallest over classes."""
    return (rows.last(B) - 5 * rows.last(A)).min(-1)


dominance = Reading("min over classes of B − 5A", _dominance, (A, B))


def _overtaking(rows: Rows, after: int = 100) -> np.ndarray:
    """Return the first t > `after` with A > B in every class; earlier, either may be larger."""
    t, robust = rows.curve(A)
    return first(t, (robust > rows[B].values).all(-1) & (t > after))


overtaking = Reading("first t with A > B in both classes", _overtaking, (A, B))


def _stall(rows: Rows) -> np.ndarray:
    """Return the time at which the slope of B falls below the slope of A."""
    t, nonrobust = rows.curve(B)
    return crossing(t, nonrobust, rows[A].values)


stall = Reading("time at which the slope of B falls below the slope of A", _stall, (A, B))


def _later_growth(rows: Rows) -> np.ndarray:
    """Return max B at the end divided by max B at t = 200, the largest over classes."""
    t, nonrobust = rows.curve(B)
    since = nonrobust[:, int(np.abs(t - 200).argmin())]
    ratio: np.ndarray = (nonrobust[:, -1] / since).max(-1)
    return ratio


later_growth = Reading("max B at the end over that at t = 200, largest class", _later_growth, (B,))


def worst_error(name: str, after: int = 50) -> Reading:
    """Return the largest value of an error for t ≥ `after`."""

    def largest(rows: Rows) -> np.ndarray:
        t, values = rows.curve(name)
        return np.where(t >= after, values, -np.inf).max(1)  # −∞ if the run ends before `after`

    return Reading(f"largest {name} at t ≥ {after}", largest, (name,), SHARE)


def accuracy_at(name: str, moment: int) -> Reading:
    """Return 1 − an error at a time within the run, or NaN if the run ends before."""

    def accuracy(rows: Rows) -> np.ndarray:
        t, values = rows.curve(name)
        if moment >= t[-1]:
            return np.full(len(values), np.nan)
        return 1 - values[:, int(np.abs(t - moment).argmin())]

    return Reading(f"accuracy, {name}, t = {moment}", accuracy, (name,), SHARE)


def final_accuracy(name: str) -> Reading:
    """Return 1 − an error at the end."""
    return Reading(f"accuracy, {name}, t = end", lambda rows: 1 - rows.last(name), (name,), SHARE)


def _latest_lead(rows: Rows) -> np.ndarray:
    """Return the largest A − B of a class once B has reached ϱ/β, or at the end if it never does.

    Before that time, either may be larger.
    """
    reached = np.maximum.accumulate(linear(rows, B), axis=1)
    reached[:, -1] = True
    return np.where(reached, rows[A].values - rows[B].values, -np.inf).max((1, 2))


latest_lead = Reading("largest A − B since B = ϱ/β, or at the end", _latest_lead, (A, B))


def largest_gap(after: int, until: float = math.inf) -> Reading:
    """Return the largest `inner_loss_gap` between two times."""

    def largest(rows: Rows) -> np.ndarray:
        t, gap = rows.curve("inner_loss_gap")
        between = (t >= after) & (t <= until)
        return (
            np.where(between, gap, -np.inf).max(1) if between.any() else np.full(len(gap), np.nan)
        )

    times = f"{after} ≤ t ≤ {until:g}" if until < math.inf else f"t ≥ {after}"
    return Reading(
        f"largest (L(PGD-20) − L(one step))/|L(X)|, {times}", largest, ("inner_loss_gap",)
    )
