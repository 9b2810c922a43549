"""Bugs that RNRF's claims must notice."""

from dataclasses import replace

import torch

from adversarium.attacks import FeatureReplacement, MarginStep, UniversalFeature
from adversarium.data import TwoFeaturePatches
from adversarium.measure import sequences
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.theory import feature_networks, gaussians
from adversarium.papers.rnrf.theory import impossibility as two_features
from adversarium.plans.evidence import Rows
from adversarium.rng import integers, uniform
from tests.planted.bugs import Bug, Plant, derived, scaled, swapped, together
from tests.planted.parts import BLIND_SUITE, misstepping, still


def _times(factor):
    """Make the attack move a point this many times as far."""

    def change(original, self, loss, batch, t, rng):
        return batch.x + factor * (original(self, loss, batch, t, rng) - batch.x)

    return swapped(MarginStep, "__call__", change)


def _stepped(power, factor=1.0):
    """Raise the attack's step to another power, and multiply it by a factor."""

    def change(original, self, *arguments):
        return original(replace(self, step=factor * self.step**power), *arguments)

    return swapped(MarginStep, "__call__", change)


def _universal(original, self, loss, batch, t, rng):
    return UniversalFeature(radius=self.radius, k=self.k)(loss, batch, t, rng)


def _random_labels(original, self, n, rng):
    return replace(original(self, n, rng), y=integers(self.k, (n,), rng))


def _noisy(original, self, n, rng):
    return original(replace(self, sigma_n=0.1), n, rng)


def _features_only(original, self, rng, shape, k):
    W = original(self, rng, shape, k)
    W[..., 2 * k :] = 0
    return W


def _exponentials(original, shape, rng):
    return original(shape, rng).sign() * -torch.log1p(-uniform(shape, rng))


def _always(original, rng, c, *more):
    return True


def _faster(original, x, y, S, *more):
    """Multiply the ratio by 1.1; the sequence may then grow until it overflows."""
    try:
        return original(x, y, 1.1 * S, *more)
    except OverflowError:
        return 1e6


def _logit_difference(original, name, f, x, y, risk):
    return original("logit_difference", f, x, y, risk)


def _strengths(**factors: float) -> Plant:
    """Multiply strengths of features by factors."""

    def change(original, self, n, rng):
        fields = {name: factor * getattr(self, name) for name, factor in factors.items()}
        return original(replace(self, **fields), n, rng)

    return swapped(TwoFeaturePatches, "sample", change)


def _starts(factor: float) -> Plant:
    """Multiply the initial weights by a factor."""
    return swapped(SmoothedCNN, "init", lambda f, *a: factor * f(*a))


def _clips(kind: str) -> Plant:
    """Make the attack clip to another set."""
    return swapped(MarginStep, "__call__", lambda f, self, *a: f(replace(self, clip=kind), *a))


def _minus_U(data):
    return -torch.eye(data.d).double()[: data.k]


def _minus_V(data):
    return -torch.eye(data.d).double()[data.k : 2 * data.k]


SETTING = (
    Bug(
        "the search for strengths ignores the density condition",
        swapped(two_features, "_both", _always),
        turns=("rnrf.asm2.3.conflict",),
    ),
    Bug(
        "the density with τ + 1 for τ",
        swapped(two_features, "_least_patches", lambda f, c, tau: f(c, tau + 1)),
        turns=("rnrf.asm2.3.conflict.factor",),
    ),
    Bug("robust strengths halved", _strengths(alpha=0.5), turns=("rnrf.sec2.5.separation",)),
    Bug(
        "robust strengths doubled",
        _strengths(alpha=2.0),
        turns=("rnrf.sec2.5.separation.published", "rnrf.x.impossibility"),
    ),
    Bug(
        "slope a tenth too small",
        scaled(two_features, "smoothed_slope", 0.9),
        turns=("rnrf.act.smooth",),
    ),
    Bug(
        "non-robust features with the wrong sign",
        derived(TwoFeaturePatches, "V", _minus_V),
        turns=("rnrf.prop3.1.clean",),
    ),
    Bug(
        "feature replacement does nothing",
        still(FeatureReplacement),
        turns=("rnrf.prop3.1.nonrobust",),
    ),
    Bug(
        "robust features with the wrong sign",
        derived(TwoFeaturePatches, "U", _minus_U),
        turns=("rnrf.prop3.2.clean",),
    ),
    Bug("universal attack does nothing", still(UniversalFeature), turns=("rnrf.prop3.2.robust",)),
    Bug(
        "the interval at twice the radius",
        swapped(SmoothedCNN, "interval", lambda f, s, W, x, p, radius: f(s, W, x, p, 2 * radius)),
        turns=("rnrf.prop3.2.robust.corrected",),
    ),
    Bug(
        "feature replacement swapped for the universal attack",
        swapped(FeatureReplacement, "__call__", _universal),
        turns=("rnrf.prop3.2.weak",),
    ),
    Bug(
        "normals replaced by exponentials",
        swapped(gaussians, "normal", _exponentials),
        turns=("rnrf.lemD.3.init",),
    ),
    Bug(
        "normal variables multiplied by 1.5",
        scaled(gaussians, "normal", 1.5),
        turns=("rnrf.lemD.3.init.corrected", "rnrf.lemB.1.max"),
    ),
    Bug(
        "the slower sequence a tenth faster",
        swapped(sequences, "_at_arrival", _faster),
        turns=("rnrf.lemB.2.tpm",),
    ),
    Bug(
        "every attack climbs the logit difference",
        swapped(feature_networks, "loss_map", _logit_difference),
        turns=("rnrf.x.masking",),
    ),
)

_BRIEF = {"steps": 120, "m": 30}
RECURSIONS = (
    Bug(
        "steps a hundredth too long",
        misstepping("full", 1.01),
        turns=(
            "rnrf.lem5.1.recursion",
            "rnrf.lemD.18.recursion.unclipped",
            "rnrf.lemD.18.recursion.corrected",
        ),
        knobs=_BRIEF,
    ),
    Bug(
        "steps a quarter too long",
        misstepping("full", 1.25),
        turns=("rnrf.lem5.2.poly.corrected",),
        knobs=_BRIEF,
    ),
    Bug(
        "noise where there should be none",
        swapped(TwoFeaturePatches, "sample", _noisy),
        turns=("rnrf.lemD.2.decomp",),
        knobs=_BRIEF,
    ),
    Bug(
        "full-batch descent goes uphill",
        misstepping("full", -1.0),
        turns=("rnrf.lemD.7.offdiag",),
        knobs=_BRIEF,
    ),
    Bug(
        "initial weights ten times as large",
        _starts(10.0),
        turns=("rnrf.lemD.5.logit", "rnrf.lemD.5.logit.corrected", "rnrf.lemD.6"),
        knobs=_BRIEF,
    ),
    Bug(
        "the attack clips elements instead of rescaling patches",
        _clips("element"),
        turns=("rnrf.lemD.17.advex.corrected",),
        knobs=_BRIEF,
    ),
    Bug(
        "every clip rescales patches",
        _clips("patch"),
        turns=("rnrf.lemD.16.decomp",),
        knobs={"steps": 300, "m": 30},
    ),
    Bug(
        "initial weights projected onto the features",
        swapped(SmoothedCNN, "init", _features_only),
        turns=("rnrf.lemD.18.recursion",),
        knobs={"steps": 300, "m": 30},
    ),
)

_HALF = {"steps": 900}
PHASES = (
    Bug(
        "training attack half its size",
        _times(0.5),
        turns=("rnrf.phase2.plateau",),
        knobs=_HALF,
    ),
    Bug(
        "the attack's step cubed",
        _stepped(3),
        turns=("rnrf.lemD.24", "rnrf.lemD.25", "rnrf.lemD.26"),
        knobs=_HALF,
    ),
    Bug("the attack's step four times as long", _stepped(1, 4.0), turns=("rnrf.phase1",)),
    Bug(
        "the attack's step per point, read as 10³, divided by 100",
        _stepped(1, 0.01),
        turns=("rnrf.phase2.transition.literal",),
        knobs={"steps": 2400},
    ),
    Bug(
        "initial weights ten times as large",
        _starts(10.0),
        turns=("rnrf.lemD.19", "rnrf.lemD.19.corrected"),
    ),
)

_ONE = {"places": ((2, 32),), "attacked": ((2, 32),), "printed": ()}
THEOREMS = (
    Bug(
        "labels drawn again at random",
        swapped(TwoFeaturePatches, "sample", _random_labels),
        turns=("rnrf.thm4.3.test_good",),
        knobs=_ONE,
    ),
    Bug(
        "full-batch descent goes uphill",
        misstepping("full", -1.0),
        turns=("rnrf.thm4.3.train_perfect",),
        knobs=_ONE,
    ),
    Bug(
        "non-robust strengths halved",
        _strengths(beta=0.5),
        turns=("rnrf.thm4.3.nonrobust_features", "rnrf.thm4.3.attack"),
        knobs=_ONE,
    ),
    Bug(
        "training attack a hundredth of its size",
        _times(0.01),
        turns=("rnrf.thm4.4.universal",),
        knobs={**_ONE, "turns": 50},
    ),
    Bug(
        "attacks that do nothing",
        together(still(UniversalFeature), BLIND_SUITE),
        turns=("rnrf.thm4.4.train_perfect", "rnrf.thm4.4.robust_test"),
        knobs={**_ONE, "places": ((2, 16),), "attacked": ((2, 16),), "turns": 50},
    ),
)

_SHORT = {"steps": 300, "m": 30, "points": 30}
_LONG = {"steps": 1000, "m": 40, "n": 20, "d": 60, "step": 200.0, "points": 10}
FIG3 = (
    Bug(
        "training attack a hundredth of its size",
        _times(0.01),
        turns=(
            "rnrf.phase2.crossing.published",
            "rnrf.thm4.4.robust_features.published",
            "rnrf.thm4.4.weak",
        ),
        knobs=_LONG,
    ),
    Bug(
        "labels drawn again at random",
        swapped(TwoFeaturePatches, "sample", _random_labels),
        turns=("rnrf.thm4.3.test_good.published", "rnrf.thm4.3.train_perfect.published"),
        knobs=_SHORT,
    ),
    Bug(
        "non-robust strengths halved",
        _strengths(beta=0.5),
        turns=(
            "rnrf.fig3.std_dominated",
            "rnrf.thm4.3.nonrobust_features.published",
            "rnrf.thm4.3.attack.published",
        ),
        knobs=_SHORT,
    ),
)


def _exchanged(original, self, name):
    return original(self, _other(name) if name.startswith("fla_") else name)


def _other(name):
    """The same quantity for the features of the other kind."""
    return name.replace("_nr_", "_r_") if "_nr_" in name else name.replace("_r_", "_nr_")


def _self_reference(original, self, name):
    return original(self, name.replace("fla_nr_", "fla_clean_"))


def _without_attack(original, self, name):
    return original(self, name.replace("robust_test_error", "test_error"))


IMAGES = (
    Bug(
        "features of both kinds exchanged",
        swapped(Rows, "last", _exchanged),
        turns=(
            "rnrf.tab1.std_order.digits",
            "rnrf.tab1.adv_order.digits",
            "rnrf.tab1.adv_suppresses_nr.digits",
            "rnrf.tab1.adv_strengthens_r.digits",
        ),
        reading=True,
    ),
    Bug(
        "images rebuilt from the network's own representation",
        swapped(Rows, "last", _self_reference),
        turns=("rnrf.tab1.adv_order.digits",),
        reading=True,
    ),
    Bug(
        "robust accuracy measured without an attack",
        swapped(Rows, "last", _without_attack),
        turns=("rnrf.tab1.robust_gap.digits",),
        reading=True,
    ),
)

BUGS = (*SETTING, *RECURSIONS, *PHASES, *THEOREMS, *FIG3, *IMAGES)
