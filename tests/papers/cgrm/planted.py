"""Bugs that CGRM's claims must notice."""

import math

import torch

from adversarium.attacks import FGSM
from adversarium.constructions import classifiers, parts, sizes
from adversarium.papers.cgrm.experiments.linear import readings as linear_readings
from adversarium.papers.cgrm.theory import margins as probed
from adversarium.papers.cgrm.theory import max_margin as margins
from adversarium.papers.cgrm.theory import modified
from tests.planted.bugs import Bug, swapped
from tests.planted.parts import HALF_BALLS, misstepping


def _smaller(original, k):
    return parts.least(k)


def _half_lost(original, x, roots, p):
    return original(x, roots[::2][:50], p=p)


def _a_tenth_short(original, self, loss, batch, t, rng):
    return 0.9 * original(self, loss, batch, t, rng) + 0.1 * batch.x


def _uphill(original, w, Z, delta, eta, log):
    return original(w, Z, delta, -eta, log)


def _no_memory(original, self, clean, x):
    return clean(x)[..., 0]


def _square_root(original, net):
    used, whole = original(net)
    return math.isqrt(used), math.isqrt(whole)


def _to_the_next_cell(original, a, b):
    return original(a, 2.5 * b)


def _without_root_d(original, shape, rng):
    return original(shape, rng) / math.sqrt(shape[-1])


def _off_by_one(original, d, n):
    return original(d + 1, n)


def _other_way(original, Z):
    u, margin = original(Z)
    return -u, margin


def _small(original, margin, angle):
    return original(min(margin, 0.5), angle)


def _half_units(original, w_0, w, a, b):
    return original(w_0, w / 2, a, b)


def _shorter(share):
    """Use a smaller radius in attacks and in the exact check."""
    return lambda original, f, memory, x, y, delta, own: original(
        f, memory, x, y, share * delta, own
    )


_ONE = {"trained": ((200, 200),)}
_FAST = {"dims_n_tenth": (800, 1600), "many": (25,), "dims_n_double": (10,), "draws": 400}
_SMALL = {"largest": 200}

BUGS = (
    Bug("maximum replaced by the minimum", swapped(parts, "largest", _smaller), ("cgrm.lemA.4",)),
    Bug(
        "half of the decision boundary is lost",
        swapped(torch, "cdist", _half_lost),
        turns=("cgrm.prop3.1.corrected",),
        knobs={"grid": 101},
    ),
    Bug(
        "balls of half the radius",
        HALF_BALLS,
        turns=("cgrm.prop3.2.corrected",),
    ),
    Bug(
        "f_adv without its memory",
        swapped(classifiers.Balls, "f_adv", _no_memory),
        turns=("cgrm.thm3.3",),
    ),
    Bug(
        "the square root of the number of parameters counted",
        swapped(sizes, "parameters", _square_root),
        turns=("cgrm.thm3.3.corrected", "cgrm.complexity-order.memory"),
    ),
    Bug(
        "soft indicators reach the next cell",
        swapped(classifiers, "soft_indicator", _to_the_next_cell),
        turns=("cgrm.std-bound.shattered",),
    ),
    Bug(
        "noise without its √d",
        swapped(margins, "normal", _without_root_d),
        turns=("cgrm.thm4.1",),
    ),
    Bug(
        "noise without its √d",
        swapped(margins, "normal", _without_root_d),
        turns=("cgrm.thm4.1.corrected",),
        knobs=_FAST,
        seeds=50,
    ),
    Bug(
        "Wendel's dimension off by one",
        swapped(margins, "not_exact", _off_by_one),
        turns=("cgrm.thm4.1.corrected",),
        knobs=_FAST,
        seeds=50,
    ),
    Bug(
        "large margins taken for small ones",
        swapped(linear_readings, "tilted_log_error", _small),
        turns=("cgrm.assump6.1.at-u",),
    ),
    Bug(
        "one-step attack a tenth short",
        swapped(FGSM, "__call__", _a_tenth_short),
        turns=("cgrm.eq.B1-cauchy",),
    ),
    Bug(
        "the max-margin direction with the wrong sign",
        swapped(probed, "max_margin", _other_way),
        turns=("cgrm.lemB.2",),
        knobs=_ONE,
    ),
    Bug(
        "steps of the linear classifier ten times too short",
        misstepping("linear", 0.1),
        turns=("cgrm.lemB.2.divided",),
        knobs=_ONE,
    ),
    Bug(
        "units of half their length",
        swapped(modified, "Memory", _half_units),
        turns=("cgrm.thm4.2", "cgrm.thm4.2.corrected"),
        knobs=_SMALL,
        seeds=10,
    ),
    Bug(
        "attacks half as long",
        swapped(modified, "worst_margins", _shorter(0.5)),
        turns=("cgrm.thm4.2.window",),
        knobs=_SMALL,
        seeds=10,
    ),
    Bug(
        "attacks a fifth as long",
        swapped(modified, "worst_margins", _shorter(0.2)),
        turns=("cgrm.thm4.2.cgrm",),
        knobs=_SMALL,
    ),
    Bug(
        "steps of the linear part go uphill",
        swapped(modified, "linear_step", _uphill),
        turns=("cgrm.thm4.2.target",),
    ),
    Bug(
        "the max-margin direction with the wrong sign",
        swapped(modified, "max_margin", _other_way),
        turns=("cgrm.thm4.2.wide",),
        knobs={"far": (400,)},
    ),
    Bug("balls of half the radius", HALF_BALLS, turns=("cgrm.thm6.2.spread",)),
)
