"""Bugs that RNRF's claims must notice."""

from dataclasses import replace

import torch

from adversarium.attacks import FeatureReplacement, MarginStep, UniversalFeature
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.rng import integers, uniform
from adversarium.trials import feature_networks, gaussians, sequences, two_features
from tests.planted.bugs import Bug, Plant, derived, scaled, swapped
from tests.planted.parts import BLIND_ASCENTS, misstepping, still


def _hundredth(original, self, loss, batch, t, rng):
    return batch.x + 0.01 * (original(self, loss, batch, t, rng) - batch.x)


def _louder(original, self, loss, batch, t, rng):
    return batch.x + 10 * (original(self, loss, batch, t, rng) - batch.x)


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
    """It may win, and then runs away."""
    try:
        return original(x, y, 1.1 * S, *more)
    except OverflowError:
        return 1e6


def _logit_difference(original, name, f, x, y, risk):
    return original("logit_difference", f, x, y, risk)


def _strengths(factor: float) -> Plant:
    """Robust strengths times a factor."""
    return swapped(
        TwoFeaturePatches,
        "sample",
        lambda f, self, n, rng: f(replace(self, alpha=factor * self.alpha), n, rng),
    )


def _clips(kind: str) -> Plant:
    """An attack that clips in another way than it was asked to."""
    return swapped(MarginStep, "__call__", lambda f, self, *a: f(replace(self, clip=kind), *a))


def _minus_U(data):
    return -torch.eye(data.d).double()[: data.k]


def _minus_V(data):
    return -torch.eye(data.d).double()[data.k : 2 * data.k]


_MISLABELLED = swapped(TwoFeaturePatches, "sample", _random_labels)
_WEAK = swapped(MarginStep, "__call__", _hundredth)
_SHORT = {"steps": 300, "m": 30, "points": 30}
_FEW = {"steps": 300, "m": 20, "n": 50, "step": 500.0, "points": 20}  # 10 a point, as ever
_LOW = {"steps": 300, "m": 50, "n": 50, "d": 50, "step": 500.0, "points": 10}
_LONG = {"steps": 1000, "m": 40, "n": 20, "d": 60, "step": 200.0, "points": 10}
_LATE = (
    "rnrf.phase2.crossing",
    "rnrf.fig3.robust_rise",
    "rnrf.thm4.4.robust_features",
    "rnrf.thm4.4.weak",
    "rnrf.lemD.21.offdiag_adv",
    "rnrf.phase1",
)
_CLEAN = (
    "rnrf.thm4.3.test_good",
    "rnrf.fig3.std_dominated",
    "rnrf.thm4.3.train_perfect",
    "rnrf.thm4.3.nonrobust_features",
    "rnrf.thm4.3.attack",
    "rnrf.lemE.5.balance",
    "rnrf.lemE.6.sum",
    "rnrf.lemD.5.logit",
    "rnrf.lemD.6",
    "rnrf.sec3.decomp",
    "rnrf.lemD.11.logF",
)

TRAINING = (
    Bug(
        "training attack a hundredth of its size",
        _WEAK,
        turns=("rnrf.fig3.transition",),
        knobs=_LOW,
    ),
    Bug("training attack a hundredth of its size", _WEAK, turns=_LATE, knobs=_LONG),
    Bug("labels drawn again at random", _MISLABELLED, turns=_CLEAN, knobs=_SHORT),
    Bug("labels drawn again at random", _MISLABELLED, turns=("rnrf.fig3.std_acc",), knobs=_FEW),
    Bug(
        "strong attacks do nothing",
        BLIND_ASCENTS,
        turns=(
            "rnrf.thm4.4.robust_test",
            "rnrf.thm4.4.train_perfect",
            "rnrf.remark2.5.pgd_inner",
        ),
        knobs=_FEW,
    ),
    Bug(
        "training attack a hundredth of its size",
        _WEAK,
        turns=("rnrf.phase2.plateau",),
        knobs={"steps": 620, "m": 40},
    ),
    Bug(
        "full-batch descent goes uphill",
        misstepping("full", -1.0),
        turns=("rnrf.lemD.19", "rnrf.lemD.20", "rnrf.lemD.26"),
    ),
    Bug(
        "robust strengths doubled",
        _strengths(2.0),
        turns=("rnrf.lemD.9.dominance",),
        knobs={"sizes": (50, 100, 200, 400, 800)},
    ),
)

RECURSIONS = (
    Bug(
        "steps twice as long as the rule says",
        misstepping("full", 2.0),
        turns=(
            "rnrf.lem5.1.recursion",
            "rnrf.lemD.8.poly",
            "rnrf.lemE.4",
            "rnrf.lem5.2.poly",
            "rnrf.lemD.18.recursion.corrected",
        ),
        knobs={"steps": 100},
    ),
    Bug(
        "noise where there should be none",
        swapped(TwoFeaturePatches, "sample", _noisy),
        turns=("rnrf.lemD.2.decomp",),
        knobs={"steps": 100},
    ),
    Bug(
        "full-batch descent goes uphill",
        misstepping("full", -1.0),
        turns=("rnrf.lemD.7.offdiag",),
        knobs={"steps": 100},
    ),
    Bug("the patch clip clips elements", _clips("element"), ("rnrf.lemD.17.advex.corrected",)),
    Bug(
        "every clip rescales patches",
        _clips("patch"),
        turns=("rnrf.lemD.16.decomp",),
        knobs={"steps": 300},
    ),
    Bug(
        "no initial weights off the features",
        swapped(SmoothedCNN, "init", _features_only),
        turns=("rnrf.lemD.18.recursion",),
        knobs={"steps": 100},
    ),
)

SETTING = (
    Bug(
        "non-robust features equal the robust ones",
        derived(TwoFeaturePatches, "V", lambda data: data.U),
        turns=("rnrf.def2.1.features",),
    ),
    Bug(
        "robust strengths halved",
        _strengths(0.5),
        turns=("rnrf.asm2.3.strength", "rnrf.asm2.3.density"),
    ),
    Bug(
        "the search forgets the density",
        swapped(two_features, "_both", _always),
        turns=("rnrf.asm2.3.conflict",),
    ),
    Bug(
        "robust strengths doubled",
        _strengths(2.0),
        turns=("rnrf.sec2.5.separation", "rnrf.x.impossibility"),
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
        "universal attack spends ten times its budget",
        swapped(UniversalFeature, "__call__", _louder),
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
        "normals half as large again",
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

BUGS = (*SETTING, *TRAINING, *RECURSIONS)
