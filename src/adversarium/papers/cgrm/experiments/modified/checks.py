"""Check the modified training: robust errors by attacks and by an exact check."""

import math

from adversarium.plans import (
    AtMost,
    CountedAs,
    Each,
    Every,
    Existence,
    Exponent,
    Frequency,
    Identity,
    InRegime,
    Level,
    NoGrowth,
    Parts,
    Reading,
    last,
    where,
)

from .plan import CELLS, SPREAD


def memorised(run):
    """Require that attacks misclassify no training point, that the exact check certifies all of
    them, and that b lies in its window."""
    return Every(
        AtMost(last("robust_train", run), 0.0, proof=last("robust_train_bound", run)),
        Existence(last("inside", run)),
    )


def _certified(run):
    """Require that attacks misclassify no training point and that all of them are certified."""
    return AtMost(last("robust_train", run), 0.0, proof=last("robust_train_bound", run))


certified_often = Frequency(last("certified", "draws"), "draws", 0.95)


def some_point_fails(run):
    """Require that, even for the best b, attacks misclassify some training point in every seed."""
    return Level(last("robust_train", run), 0.001, 1, always=True)


def assumption_met(run):
    """Require Assumption 6.1: the clean error on small margins is at most twice that on large
    ones."""
    inverse = Reading("large over small margins' clean error", _inverse, ("ratio",))
    return InRegime(inverse.on(run), 0.5)


def _inverse(rows):
    return 1 / rows.last("ratio")


def closed_margins(run):
    """Require that the network's margin after the step of the closed form equals the closed
    form."""
    return Identity(last("attained", run), 1e-9)


def fails_more_than(share):
    """Require that attacks misclassify more than a given share of the training points."""
    return lambda run: Level(last("robust_train", run), share)


def distance_falls(name):
    """Require that a distance falls like a power of N."""
    label, runs = f"power of N in {name}", where("more points")
    return CountedAs("level", Exponent(label, name, "N", runs, -1, (math.inf, 0.9)))


def _drift(rows):
    return rows.last("unit_drift") / math.sqrt(rows.run.data.d)


# a unit that reaches ξ_i has moved by about √d
drift = Reading("largest ‖w_i − w_i⁽⁰⁾‖/√d", _drift, ("unit_drift",)).on(
    where("plain training", b=100.0)
)


def conclusions(run):
    """Require that, of 200 fresh points per margin, almost none is misclassified without attack,
    almost every small margin fails under attack, and almost every large margin is certified."""
    return Every(
        Level(last("clean_small", run, points=200), high=0.02),
        Level(last("clean_large", run, points=200), high=0.02),
        Level(last("robust_small", run, points=200), 0.98, 1),
        Level(last("robust_large_bound", run, points=200), high=0.02),
    )


def slow_enough(family):
    """Require that the clean error times √N does not grow."""
    name = f"power of N in the clean error · √N ({family})"
    return NoGrowth(name, "clean_error", "N", where(family), per=lambda N: N**-0.5)


def robustly_trained(run):
    """Require that attacks misclassify no training point and that the certificate of balls and
    margins covers all of them."""
    return CountedAs(
        "level",
        AtMost(last("adversarial_train", run), 0.0, proof=last("adversarial_train_bound", run)),
    )


MANY = where("N = 2d")
_cells = where(tuple(f"cells, d = {d}" for d in CELLS))
_spread = where(tuple(f"spread margins, d = {d}" for d in SPREAD))

_window = CountedAs(
    "level",
    Every(
        *(Each(where(family), memorised) for family in ("N = 2d", "few points", "other letters")),
        certified_often,
    ),
)

checks = {
    "cgrm.thm4.2": CountedAs(
        "level",
        Parts(
            {
                "√d ≫ δ + √log N, b = d/2": _window,
                "δ = 0.6 √d, every b": Each(
                    where("a radius of 0.6 √d"), lambda run: AtMost(last("robust_train", run), 0.0)
                ),
            }
        ),
    ),
    "cgrm.thm4.2.small-d": Each(where("every b"), some_point_fails),
    "cgrm.thm4.2.corrected": Parts(
        {
            "b in its window": _window,
            "closed form of the margin": Each(MANY, closed_margins),
        }
    ),
    "cgrm.thm4.2.wide": CountedAs("level", Each(where("far large margins"), _certified)),
    "cgrm.thm4.2.window": Parts(
        {
            "b above it: some points fall": Each(where("b above"), fails_more_than(0.001)),
            "b below it: some points fall": Each(
                where(("b far below", "b below")), fails_more_than(0.001)
            ),
        }
    ),
    "cgrm.thm4.2.target": Parts(
        {
            "modified update, N → ∞ at fixed d": Every(
                distance_falls("w_0_error"), distance_falls("w_i_error")
            ),
            "plain training": Level(drift, 0.5),
        }
    ),
    "cgrm.thm4.2.cgrm": Each(MANY, conclusions),
    "cgrm.thm6.2": Parts(
        {
            "clean error ≲ √(poly(d)/N)": Every(
                *(slow_enough(f"cells, d = {d}") for d in CELLS), Each(_cells, assumption_met)
            ),
            "adversarial training error 0": Each(
                _cells, lambda run: CountedAs("level", AtMost(last("open_train", run), 0.0))
            ),
        }
    ),
    "cgrm.thm6.2.spread": Parts(
        {
            "clean error ≲ √(poly(d)/N)": Every(
                *(slow_enough(f"spread margins, d = {d}") for d in SPREAD)
            ),
            "adversarial training error 0": Each(_spread, robustly_trained),
        }
    ),
}
