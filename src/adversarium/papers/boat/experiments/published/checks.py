"""Check BOAT's lemmas at the sizes of its experiments."""

import math

import numpy as np

from adversarium.plans import Reading, at_most, counted_as, each, last, level, parts, power, setting
from adversarium.plans.intervals import slope

from .plan import FIRST, SMOOTHED, WIDE


def _growth(run):
    """Return the power of t in the loss ratio over the last decade of a run of 1,000 steps or more;
    in shorter runs, some points are not yet fitted."""
    t, values = run.curve("loss_ratio")
    late = (t >= t[-1] / 10) & (t[-1] >= 1000)
    return slope(t[late], values[:, late]) if late.sum() > 2 else np.full(len(values), np.nan)


growth = Reading("power of t in max g̃_i/g̃_j", _growth, ("loss_ratio",))
shares = Reading(
    "least share of active pairs, t = 0 and 1",
    lambda run: np.minimum.reduce([run.last(f"active_{what}_{t}") for what in ("points", "units")
                                   for t in (0, 1)]),
    tuple(f"active_{what}_{t}" for what in ("points", "units") for t in (0, 1)),
)  # fmt: skip


shares_at_least_twentieth = Reading(
    "every share of active pairs ≥ 1/20, t = 0 and 1",
    lambda run: (shares.of(run) >= 0.05).astype(float),
    shares.names,
)


def _trained(run):
    proven = last("certified_error", run)
    return parts(
        {
            "after 60 steps": setting("level", last("robust_train_error", run), proven),
            "from t = 1 on": at_most(last("worst(robust_train_error)", run), 0.0),
        }
    )


checks = {
    "boat.thm3.1.train_error.published": counted_as("inequality", each(WIDE, _trained)),
    "boat.lem4.4.loss_ratio.published": counted_as(
        "inequality", each("", lambda run: power(growth.on(run), -math.inf, 0.03))
    ),
    "boat.lem4.5.active_counts.published": counted_as(
        "inequality",
        each(
            FIRST,
            lambda run: parts(
                {
                    "in nine draws of ten every share is at least 1/20": level(
                        shares_at_least_twentieth.on(run), 0.9, 1.0
                    ),
                    "the least share": setting("level", shares.on(run)),
                }
            ),
        ),
    ),
    "boat.lemB.26.E1.published": each("", lambda run: at_most(last("lost_pairs", run), 0.0)),
    "boat.lemB.9.margin_monotone.published": counted_as(
        "inequality",
        each(SMOOTHED, lambda run: level(last("found_increment", run), 0.0, always=True)),
    ),
}
