"""Bugs that CGRM's claims must notice."""

import torch

from adversarium.attacks import FGSM
from adversarium.constructions import classifiers, parts
from adversarium.training.engines import sgd
from adversarium.trials import complexity_order, margins, modified, tilted_errors
from tests.planted.bugs import Bug, defaults, scaled, swapped
from tests.planted.parts import BLIND_ASCENTS, HALF_BALLS, misstepping


def _no_adversary(original, setting, W, batch, attack, t, rng):
    return batch.x


def _smaller(original, k):
    return parts.least(k)


def _half_lost(original, x, roots, p):
    return original(x, roots[::2][:50], p=p)


def _inside(original, a, b):
    return original(a / 4, a / 2)


def _a_tenth_short(original, self, loss, batch, t, rng):
    return 0.9 * original(self, loss, batch, t, rng) + 0.1 * batch.x


def _uphill(original, w, Z, delta, eta, log):
    return original(w, Z, delta, -eta, log)


_FEW = {"D": 8, "n": 12}  # dimensions and points
_SHORT_RAMPS = swapped(classifiers, "soft_indicator", _inside)

BUGS = (
    Bug(
        "training attack does nothing",
        swapped(sgd, "perturbed", _no_adversary),
        turns=("cgrm.tab1.digits",),
        knobs={"n": 60, "epochs": 60, "batch": 15, "n_test": 60, "width": 12},
    ),
    Bug("the tournament takes the smaller", swapped(parts, "largest", _smaller), ("cgrm.lemA.4",)),
    Bug(
        "half of the decision boundary is lost",
        swapped(torch, "cdist", _half_lost),
        turns=("cgrm.prop3.1.corrected",),
        knobs={"grid": 101},
    ),
    Bug(
        "balls of half the radius",
        HALF_BALLS,
        turns=("cgrm.prop3.2",),
        knobs=_FEW,
        parameters={"network": False},
    ),
    Bug(
        "soft indicators end inside the ball",
        _SHORT_RAMPS,
        turns=("cgrm.cor3.4",),
        knobs=_FEW,
        parameters={"looked": 6},
    ),
    Bug(
        "soft indicators end inside the ball",
        _SHORT_RAMPS,
        turns=("cgrm.thm3.3.corrected",),
    ),
    Bug(
        "all training points count as small margins",
        defaults(complexity_order, mu=1.0),
        turns=("cgrm.complexity-order",),
    ),
    Bug(
        "balls of half the radius",
        HALF_BALLS,
        turns=("cgrm.thm6.2",),
        knobs={"samples": (100, 200, 400, 800)},
        seeds=20,
    ),
    Bug(
        "small margins as wide as the large ones",
        defaults(tilted_errors, beta=5.0),
        turns=("cgrm.assump6.1",),
    ),
    Bug(
        "noise a thousandth of its size",
        scaled(margins, "normal", 0.001),
        turns=("cgrm.thm4.1", "cgrm.thm4.1.corrected"),
    ),
    Bug(
        "one-step attack a tenth short",
        swapped(FGSM, "__call__", _a_tenth_short),
        turns=("cgrm.eq.B1-cauchy",),
    ),
    Bug(
        "linear descent goes uphill",
        misstepping("linear", -1.0),
        turns=("cgrm.lemB.2",),
        knobs={"trained": (200,)},
    ),
    Bug("attacks do nothing", BLIND_ASCENTS, turns=("cgrm.thm4.2", "cgrm.thm4.2.cgrm")),
    Bug(
        "linear steps go uphill",
        swapped(modified, "linear_step", _uphill),
        turns=("cgrm.thm4.2.target",),
    ),
)
