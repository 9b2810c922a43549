"""Define what checks read from the max-margin directions u of N' large-margin points, and from the
convergence of training to u."""

import math

import numpy as np

from adversarium.plans import (
    AtMost,
    CountedAs,
    Each,
    Exponent,
    Level,
    Need,
    Present,
    Reading,
    quantity,
    where,
)
from adversarium.plans.intervals import slope

from ...theory.bounds import tilted_log_error

DIRECTIONS = where("max margin")
ALL = where(("max margin", "few", "many", "other margins"))


def _counts(rows):
    """Return the values of N' of the trial."""
    return np.array(rows.task.parameters["counts"])


def _largest(name, label):
    """Return the largest value over all N' of a run."""
    return Reading(label, lambda rows: rows.last(name).max(1), (name,))


distance = Reading("‖u − w*‖", lambda rows: rows.last("error")[:, 0], ("error",))


def _excess(rows):
    return (rows.last("error") - rows.last("bound")).max(1)


def _ratio(rows):
    """Return ‖u − w*‖ divided by its prediction, for a run with one N'."""
    return rows.last("error")[:, 0] / rows.last("predicted")[:, 0]


def _ratio_at(index, n):
    """Return ‖u − w*‖ divided by its prediction, at the N' with a given index."""

    def ratio(evidence):
        rows = evidence.one(DIRECTIONS)
        return rows.last("error")[:, index] / rows.last("predicted")[:, index]

    return quantity(f"‖u − w*‖ over its prediction (N' = {n:g})", ratio)


def _predictions(evidence):
    """Return one check for every N' ≤ d/4 in the plan."""
    rows = evidence.one(DIRECTIONS)
    selected = _counts(rows) <= rows.task.parameters["d"] / 4
    return [Level(_ratio_at(p, n), 0.9, 1.1) for p, n in enumerate(_counts(rows)) if selected[p]]


def _log_ratios(rows):
    """Return every N' ≤ d, and log₁₀ of Φ(−β cot θ)/Φ(−α cot θ) at the angle of its u."""
    task, error = rows.task.parameters, rows.last("error")
    selected = _counts(rows) <= task["d"]
    angles = 2 * np.arcsin(error[:, selected] / 2)
    logs = [np.vectorize(tilted_log_error)(c, angles) for c in (0.5, task["alpha"])]
    return _counts(rows)[selected].astype(float), (logs[0] - logs[1]) / math.log(10)


def _ratio_power(rows):
    counts, logs = _log_ratios(rows)
    if len(counts) < 2:
        return np.full(len(rows.seeds), np.nan)
    return slope(counts, logs)


def _largest_rise(rows):
    return np.diff(rows.curve("max_margin_gap")[1][:, 1:], axis=1).max(1)


def _wendel(index, count):
    """Return the share of draws with u ≠ w* minus Wendel's probability, at one N' near 2(d − 1)."""

    def difference(rows):
        return rows.last("share")[:, index] - rows.last("wendel")[:, index]

    return Reading(f"share of u ≠ w* − Wendel's, N' = {count}", difference, ("share", "wendel"))


def _near(difference):
    """Require that the share of draws and Wendel's probability agree within 0.03."""
    return lambda run: Level(difference.on(run), -0.03, 0.03)


_SHIFTS = tuple(_wendel(index, count) for index, count in enumerate(("2(d − 1)", "2(d − 1) + √d")))
_error = _largest("error", "‖u − w*‖")
_excesses = Reading("‖u − w*‖ − ‖mean yξ‖/α, largest", _excess, ("error", "bound"))
_tangent = _largest("tangent_error", "|tan θ − M/α|")
_margin = _largest("margin_error", "|margin − √(α² + M²)|")

bounded = Each(ALL, lambda run: AtMost(_excesses.on(run), 0.0))
angles = Each(ALL, lambda run: AtMost(_tangent.on(run), 1e-4))
margins = Each(ALL, lambda run: AtMost(_margin.on(run), 1e-4))
exact_at_many = Each(where("many"), lambda run: Level(_error.on(run), high=1e-6, always=True))
wendel = tuple(Each(where("Wendel"), _near(difference)) for difference in _SHIFTS)
predicted_errors = Present(
    "level", _predictions, "needs an N' ≤ d/4", (Need(DIRECTIONS, ("error", "predicted")),)
)
predicted = Reading("‖u − w*‖ over its prediction", _ratio, ("error", "predicted"))
vanishes_with_d = CountedAs(
    "level",
    Exponent("power of d in ‖u − w*‖", _error, "d", where("few"), -1, (math.inf, 0.9)),
)
# O(1) is judged as no growth along N'
ratio_power = Reading(
    "power of N' in log₁₀ Φ(−β cot θ)/Φ(−α cot θ), N' ≤ d", _ratio_power, ("error",)
).on(DIRECTIONS)
# between consecutive recorded times after the first step
rise = Reading("rise of the gap", _largest_rise, ("max_margin_gap",))
