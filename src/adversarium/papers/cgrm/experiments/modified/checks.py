"""Check the modified training: robust errors by attacks and by an exact check."""

import math

from adversarium.plans import (
    Reading,
    at_most,
    counted_as,
    each,
    every,
    existence,
    exponent,
    frequency,
    identity,
    in_regime,
    last,
    level,
    no_growth,
    parts,
    where,
)

from .plan import CELLS, SPREAD


def memorised(run):
    """Require that attacks misclassify no training point, that the exact check certifies all of
    them, and that b lies in its window."""
    return every(
        at_most(last("robust_train", run), 0.0, proof=last("robust_train_bound", run)),
        existence(last("inside", run)),
    )


certified_often = frequency(last("certified", "draws"), "draws", 0.95)


def some_point_fails(run):
    """Require that, even for the best b, attacks misclassify some training point in every seed."""
    return level(last("robust_train", run), 0.001, 1, always=True)


def assumption_met(run):
    """Require Assumption 6.1: the clean error on small margins is at most twice that on large
    ones."""
    inverse = Reading("large over small margins' clean error", _inverse, ("ratio",))
    return in_regime(inverse.on(run), 0.5)


def _inverse(rows):
    return 1 / rows.last("ratio")


def closed_margins(run):
    """Require that the network's margin after the step of the closed form equals the closed
    form."""
    return identity(last("attained", run), 1e-9)


def fails_more_than(share):
    """Require that attacks misclassify more than a given share of the training points."""
    return lambda run: level(last("robust_train", run), share)


def distance_falls(name):
    """Require that a distance falls like a power of N."""
    label, runs = f"power of N in {name}", where("more points")
    return counted_as("level", exponent(label, name, "N", runs, -1, (math.inf, 0.9)))


def _drift(rows):
    return rows.last("unit_drift") / math.sqrt(rows.run.data.d)


# a unit that reaches ξ_i has moved by about √d
drift = Reading("largest ‖w_i − w_i⁽⁰⁾‖/√d", _drift, ("unit_drift",)).on(
    where("plain training", b=100.0)
)


def conclusions(run):
    """Require that, of 200 fresh points per margin, almost none is misclassified without attack,
    almost every small margin fails under attack, and almost every large margin is certified."""
    return every(
        level(last("clean_small", run, points=200), high=0.02),
        level(last("clean_large", run, points=200), high=0.02),
        level(last("robust_small", run, points=200), 0.98, 1),
        level(last("robust_large_bound", run, points=200), high=0.02),
    )


def slow_enough(family):
    """Require that the clean error times √N does not grow."""
    name = f"power of N in the clean error · √N ({family})"
    return no_growth(name, "clean_error", "N", where(family), per=lambda N: N**-0.5)


def robustly_trained(run):
    """Require that attacks misclassify no training point and that the certificate of balls and
    margins covers all of them."""
    return counted_as(
        "level",
        at_most(last("adversarial_train", run), 0.0, proof=last("adversarial_train_bound", run)),
    )


MANY = where("N = 2d")
_cells = where(tuple(f"cells, d = {d}" for d in CELLS))
_spread = where(tuple(f"spread margins, d = {d}" for d in SPREAD))

checks = {
    "cgrm.thm4.2": counted_as(
        "level", every(each(MANY, memorised), each("few points", memorised), certified_often)
    ),
    "cgrm.thm4.2.small-d": each("every b", some_point_fails),
    "cgrm.thm4.2.corrected": parts(
        {
            "b in its window": counted_as(
                "level",
                every(each(MANY, memorised), each("few points", memorised), certified_often),
            ),
            "closed form of the margin": each(MANY, closed_margins),
        }
    ),
    "cgrm.thm4.2.window": parts(
        {
            "b above it: some points fall": each("b above", fails_more_than(0.001)),
            "b below it: some points fall": each(
                where(("b far below", "b below")), fails_more_than(0.001)
            ),
        }
    ),
    "cgrm.thm4.2.target": parts(
        {
            "modified update, N → ∞": every(
                distance_falls("w_0_error"), distance_falls("w_i_error")
            ),
            "plain training": level(drift, 0.5),
        }
    ),
    "cgrm.thm4.2.cgrm": each(MANY, conclusions),
    "cgrm.thm6.2": parts(
        {
            "clean error ≲ √(poly(d)/N)": every(
                *(slow_enough(f"cells, d = {d}") for d in CELLS), each(_cells, assumption_met)
            ),
            "adversarial training error 0": each(
                _cells, lambda run: counted_as("level", at_most(last("open_train", run), 0.0))
            ),
        }
    ),
    "cgrm.thm6.2.spread": parts(
        {
            "clean error ≲ √(poly(d)/N)": every(
                *(slow_enough(f"spread margins, d = {d}") for d in SPREAD)
            ),
            "adversarial training error 0": each(_spread, robustly_trained),
        }
    ),
}
