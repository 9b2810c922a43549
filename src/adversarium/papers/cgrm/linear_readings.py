"""What is read of the max-margin directions u of N' large-margin points, and of a training's way
to u."""

import math

import numpy as np

from adversarium.bounds import tilted_log_error
from adversarium.plans import (
    Need,
    Reading,
    at_most,
    counted_as,
    each,
    exponent,
    level,
    present,
    quantity,
    where,
)
from adversarium.plans.intervals import slope

DIRECTIONS = where("max margin")
ALL = where(("max margin", "few", "many", "other margins"))


def _counts(rows):
    """The N' of the trial."""
    return np.array(rows.task.parameters["counts"])


def _largest(name, told):
    """The largest value over all N' of a run."""
    return Reading(told, lambda rows: rows.last(name).max(1), (name,))


def _excess(rows):
    return (rows.last("error") - rows.last("bound")).max(1)


def _ratio(rows):
    """‖u − w*‖ over its prediction at the one N' of a run."""
    return rows.last("error")[:, 0] / rows.last("predicted")[:, 0]


def _at(place, n):
    """‖u − w*‖ over its prediction, at the N' of one place."""

    def ratio(evidence):
        rows = evidence.one(DIRECTIONS)
        return rows.last("error")[:, place] / rows.last("predicted")[:, place]

    return quantity(f"‖u − w*‖ over its prediction (N' = {n:g})", ratio)


def _predictions(evidence):
    """A check at every N' ≤ d/4 that was run."""
    rows = evidence.one(DIRECTIONS)
    few = _counts(rows) <= rows.task.parameters["d"] / 4
    return [level(_at(p, n), 0.9, 1.1) for p, n in enumerate(_counts(rows)) if few[p]]


def _log_ratios(rows):
    """log₁₀ of Φ(−β cot θ)/Φ(−α cot θ) at the angle of every u that is not w*, and its N'."""
    task, error = rows.task.parameters, rows.last("error")
    few = _counts(rows) <= task["d"]
    angles = 2 * np.arcsin(error[:, few] / 2)
    logs = [np.vectorize(tilted_log_error)(c, angles) for c in (0.5, task["alpha"])]
    return _counts(rows)[few].astype(float), (logs[0] - logs[1]) / math.log(10)


def _ratio_power(rows):
    counts, logs = _log_ratios(rows)
    if len(counts) < 2:
        return np.full(len(rows.seeds), np.nan)
    return slope(counts, logs)


def _largest_rise(rows):
    return np.diff(rows.curve("max_margin_gap")[1][:, 1:], axis=1).max(1)


def _wendel(place, told):
    """The share of draws with u ≠ w* less Wendel's probability, at one N' about 2(d − 1)."""

    def less(rows):
        return rows.last("share")[:, place] - rows.last("wendel")[:, place]

    return Reading(f"share of u ≠ w* − Wendel's, N' = {told}", less, ("share", "wendel"))


def _near(less):
    """The two agree to 0.03."""
    return lambda run: level(less.on(run), -0.03, 0.03)


_SHIFTS = tuple(_wendel(place, told) for place, told in enumerate(("2(d − 1)", "2(d − 1) + √d")))
_error = _largest("error", "‖u − w*‖")
_excesses = Reading("‖u − w*‖ − ‖mean yξ‖/α, largest", _excess, ("error", "bound"))
_tangent = _largest("tangent_error", "|tan θ − M/α|")
_margin = _largest("margin_error", "|margin − √(α² + M²)|")

bounded = each(ALL, lambda run: at_most(_excesses.on(run), 0.0))
angles = each(ALL, lambda run: at_most(_tangent.on(run), 1e-4))
margins = each(ALL, lambda run: at_most(_margin.on(run), 1e-4))
exact_at_many = each("many", lambda run: level(_error.on(run), high=1e-6, always=True))
wendel = tuple(each("Wendel", _near(less)) for less in _SHIFTS)
predicted_errors = present(
    "level", _predictions, "needs an N' ≤ d/4", Need(DIRECTIONS, ("error", "predicted"))
)
predicted = Reading("‖u − w*‖ over its prediction", _ratio, ("error", "predicted"))
vanishes_with_d = counted_as(
    "level",
    exponent("power of d in ‖u − w*‖", _error, "d", where("few"), -1, (math.inf, 0.9)),
)
# O(1) is no growth along N'
ratio_power = Reading(
    "power of N' in log₁₀ Φ(−β cot θ)/Φ(−α cot θ), N' ≤ d", _ratio_power, ("error",)
).on(DIRECTIONS)
# from one record time to the next, from the first step on
rise = Reading("rise of the gap", _largest_rise, ("max_margin_gap",))
