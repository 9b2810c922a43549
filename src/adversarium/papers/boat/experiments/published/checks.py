"""Check BOAT's lemmas at the sizes of its experiments."""

import math

import numpy as np

from adversarium.plans import (
    AtMost,
    CountedAs,
    Each,
    Hypothesis,
    Level,
    Parts,
    Reading,
    last,
    where,
)
from adversarium.plans.evidence import SHARE
from adversarium.plans.intervals import slope

from .plan import FIRST, SMOOTHED, WIDE


def _growth(run):
    """Return the power of t in the loss ratio over the last decade of a run, or NaN for runs of
    fewer than 1,000 steps, in which some points are not yet fitted."""
    t, values = run.curve("loss_ratio")
    late = (t >= t[-1] / 10) & (t[-1] >= 1000)
    return slope(t[late], values[:, late]) if late.sum() > 2 else np.full(len(values), np.nan)


largest_fall = Reading(
    "largest fall of a margin", lambda run: -run.last("found_increment"), ("found_increment",)
)
growth = Reading("power of t in max g̃_i/g̃_j", _growth, ("loss_ratio",))
shares = Reading(
    "least share of active pairs, t = 0 and 1",
    lambda run: np.minimum.reduce([run.last(f"active_{what}_{t}") for what in ("points", "units")
                                   for t in (0, 1)]),
    tuple(f"active_{what}_{t}" for what in ("points", "units") for t in (0, 1)),
    SHARE,
)  # fmt: skip


def _trained(run):
    proven = last("certified_error", run)
    return Parts(
        {
            "after 60 steps": Hypothesis("level", last("robust_train_error", run), proven),
            "from t = 1 on": AtMost(last("worst(robust_train_error)", run), 0.0),
        }
    )


checks = {
    "boat.thm3.1.train_error.published": CountedAs("inequality", Each(where(WIDE), _trained)),
    "boat.lem4.4.loss_ratio.published": CountedAs(
        "inequality",
        Each(where(""), lambda run: Level(growth.on(run), -math.inf, 0.03, kind="exponent")),
    ),
    "boat.lem4.5.active_counts.published": CountedAs(
        "inequality",
        Each(
            where(FIRST),
            lambda run: Parts(
                {
                    "in nine draws of ten no count falls": Level(
                        last("active_kept", run, 1), 0.9, 1.0
                    ),
                    "the least share": Hypothesis("level", shares.on(run)),
                }
            ),
        ),
    ),
    "boat.lemB.26.E1.published": Each(where(""), lambda run: AtMost(last("lost_pairs", run), 0.0)),
    "boat.lemB.9.margin_monotone.published": AtMost(largest_fall.on(where(SMOOTHED)), 0.0),
}
