"""What is read of the max-margin directions u of N' large-margin points, and of a training's way
to u."""

import math

import numpy as np

from adversarium.plans import Need, Reading, level, present, quantity, where

DIRECTIONS = where("max margin")


def _counts(rows):
    """The N' of the trial."""
    return np.array(rows.task.parameters["counts"])


def _largest(name, told):
    """The largest value over all N'."""
    return Reading(told, lambda rows: rows.last(name).max(1), (name,)).on(DIRECTIONS)


def _at_fewest(rows):
    return rows.last("error")[:, _counts(rows).argmin()]


def _excess(rows):
    return (rows.last("error") - rows.last("bound")).max(1)


def _at_many(rows):
    d = rows.task.parameters["d"]
    many = _counts(rows) >= 2 * d + 4 * math.sqrt(d)
    return rows.last("error")[:, many].max(1) if many.any() else np.full(len(rows.seeds), np.nan)


def _standard_errors(rows):
    """The share of seeds with u ≠ w* against Wendel's probability, in standard errors: the largest
    over the N' at which both outcomes are expected."""
    seen, p = rows.last("not_exact").mean(0), rows.last("wendel")[0]
    variance = p * (1 - p) / len(rows.seeds)
    both = p * (1 - p) * len(rows.seeds) > 1
    z = np.abs(seen - p)[both] / np.sqrt(variance)[both]
    return np.full(len(rows.seeds), z.max() if both.any() else np.nan)


def _over_prediction(place, n):
    """‖u − w*‖ over its prediction, at the N' of one place."""

    def ratio(evidence):
        rows = evidence.one(DIRECTIONS)
        return rows.last("error")[:, place] / rows.last("predicted")[:, place]

    return quantity(f"‖u − w*‖ over its prediction (N' = {n:g})", ratio)


def _predictions(evidence):
    """A check at every N' ≤ d/4 that was run."""
    rows = evidence.one(DIRECTIONS)
    few = _counts(rows) <= rows.task.parameters["d"] / 4
    return [
        level(_over_prediction(place, n), 0.9, 1.1)
        for place, n in enumerate(_counts(rows))
        if few[place]
    ]


def _largest_rise(rows):
    return np.diff(rows.curve("max_margin_gap")[1][:, 1:], axis=1).max(1)


error_at_fewest = Reading("‖u − w*‖ at the smallest N'", _at_fewest, ("error",)).on(DIRECTIONS)
excess = Reading("‖u − w*‖ − ‖mean yξ‖/α, largest", _excess, ("error", "bound")).on(DIRECTIONS)
error_at_many = Reading("‖u − w*‖, N' ≥ 2d + 4√d", _at_many, ("error",)).on(DIRECTIONS)
tangent_error = _largest("tangent_error", "|tan θ − M/α|")
margin_error = _largest("margin_error", "|margin − √(α² + M²)|")
wendel = Reading(
    "Wendel's probability, standard errors", _standard_errors, ("not_exact", "wendel")
).on(DIRECTIONS)
predicted_errors = present(
    "level", _predictions, "needs an N' ≤ d/4", Need(DIRECTIONS, ("error", "predicted"))
)
# from one record time to the next, from the first step on
rise = Reading("rise of the gap", _largest_rise, ("max_margin_gap",))
