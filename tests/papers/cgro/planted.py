"""Bugs that CGRO's claims must notice."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import torch

from adversarium.constructions import counting, parts
from adversarium.data import PatchData
from adversarium.papers.cgro.theory import cubic, densities, images
from adversarium.papers.cgro.theory.memorisation import (
    Decay,
    NoiseFall,
    NoiseResidual,
)
from adversarium.papers.cgro.theory.open_constants import OpenConstants
from adversarium.papers.cgro.theory.smooth import Features
from adversarium.rng import uniform
from adversarium.training.engines.signal_noise import SignalNoiseState
from tests.planted.bugs import Bug, misled, scaled, swapped, together
from tests.planted.parts import HALF_BALLS, misstepping


def _unlabelled(original, self, n, rng):
    batch = original(self, n, rng)
    x = batch.x.clone()
    x[torch.arange(n), batch.signal, 0] = self.alpha
    return type(batch)(x=x, y=batch.y, signal=batch.signal)


def _one_label(original, self, n, rng):
    batch = _unlabelled(original, self, n, rng)
    return replace(batch, y=torch.ones_like(batch.y))


def _half_attack(problem):
    if problem.attack is None:
        return problem
    return replace(problem, attack=replace(problem.attack, gamma=problem.attack.gamma / 2))


def _half_attacked(problem):
    return replace(
        problem, recipe=replace(problem.recipe, risk=replace(problem.recipe.risk, lam=0.5))
    )


def _half_gamma(original, x, signal, gamma):
    return original(x, signal, gamma / 2)


def _over_points(original, x):
    return original(x) / x.shape[-1]


def _half_ball(original, D, side):
    return (original(D, side) + 1) / 2


def _mostly_zero(original, shape, rng):
    return original(shape, rng) * (uniform((shape[0], *[1] * (len(shape) - 1)), rng) < 0.2)


_HALF_ATTACK = misled("signal_noise", _half_attack)


def _rooted(original, self, memory):
    """Divide sums over N(P − 1) cross terms by the root of this number."""
    rows = dict(original(self, memory))
    rows["residual"] = rows["residual"] / memory.start.shape[1] ** 0.5
    return rows


def _rooted_fall(original, self, memory):
    """Divide the largest decrease of N(P − 1) noise patches by the root of this number."""
    return {name: row / memory[0].shape[1] ** 0.5 for name, row in original(self, memory).items()}


def _once_more(original, self, memory, state, scene):
    """Divide a mean over points by the number of points once more, in the stored values of L."""
    risk = SignalNoiseState.risk
    over_n = patch.object(SignalNoiseState, "risk", lambda own: risk(own) / own.problem.recipe.n)
    with over_n:
        return original(self, memory, state, scene)


def _after_training(original, run, split, radii=images.EPOCHS):
    curve = original(run, split, radii)
    return np.repeat(curve[:, -1:], curve.shape[1], axis=1)


def _training_points(original, run, split, radii=images.EPOCHS):
    return original(run, "train", radii)


def _from_zero(original, radii, values, low, high):
    return original(radii, values, 0.0, high - low)


BUGS = (
    Bug(
        "√N lost from the cross terms, and N from the mean loss",
        together(
            swapped(NoiseResidual, "rows", _rooted),
            swapped(NoiseFall, "rows", _rooted_fall),
            swapped(Decay, "see", _once_more),
            swapped(OpenConstants, "see", _once_more),
        ),
        turns=("cgro.lem4.4", "cgro.lemC.8", "cgro.lemC.9"),
        knobs={"counts": (5, 10, 20, 40), "sizes": (), "etas": (), "large": (), "many": ()},
        seeds=20,
    ),
    Bug(
        "transfer attack half as strong",
        swapped(cubic, "gta", _half_gamma),
        turns=("cgro.eq.gta", "cgro.eq.decomp"),
    ),
    Bug("all labels are +1", swapped(PatchData, "sample", _one_label), turns=("cgro.eq.grad",)),
    Bug(
        "steps in signal and noise coordinates twice as long as the recipe says",
        misstepping("signal_noise", 2.0),
        turns=("cgro.eq.grad.corrected",),
    ),
    Bug(
        "training in signal and noise coordinates with γ halved",
        _HALF_ATTACK,
        turns=("cgro.thm4.1.phase-gamma",),
        knobs={"steps": 6000, "gaps": (0.05,)},
        seeds=10,
    ),
    Bug(
        "clean training gives weight ½ to the attacked points",
        misled("signal_noise", _half_attacked),
        turns=("cgro.thm4.1.control-lam0",),
        knobs={"steps": 2000},
        seeds=30,
    ),
    Bug(
        "a mean over points is divided by their number once more",
        swapped(torch, "sigmoid", _over_points),
        turns=("cgro.lemC.10",),
        knobs={"most": 5},
        seeds=10,
    ),
    Bug(
        "units without a kink",
        swapped(torch, "relu", lambda original, x: torch.nn.functional.softplus(x)),
        turns=("cgro.propD.5",),
    ),
    Bug(
        "the average over a ball covers only its part in [0, 1]^D",
        swapped(densities, "ball", _half_ball),
        turns=("cgro.thmF.1.I.corrected",),
        knobs={"draws": 800, "repeats": (10, 2)},
    ),
    Bug(
        "noise mostly zero",
        swapped(cubic, "normal", _mostly_zero),
        turns=("cgro.lemA.4.corrected",),
    ),
    Bug(
        "sawtooth functions a tenth too low",
        lambda: patch.object(parts, "_TOOTH", 0.9 * parts._TOOTH),
        turns=("cgro.lemD.2", "cgro.lemD.3"),
    ),
    Bug(
        "C(μ) an eighth too large",
        scaled(counting, "shattering_constant", 1.125),
        turns=("cgro.thm5.3.counting",),
    ),
    Bug(
        "balls of half the radius",
        HALF_BALLS,
        turns=("cgro.eq.C",),
        knobs={"built": ((6, 4),)},
        parameters={"memorised": 4, "looked": 4},
    ),
    Bug(
        "gradients a fifth too small",
        scaled(Features, "slope", 0.8),
        turns=("cgro.thmF.1.taylor",),
        parameters={"nets": 2, "points": 100},
    ),
    Bug(
        "gradients a fifth too large",
        scaled(Features, "slope", 1.2),
        turns=("cgro.propE.2",),
        parameters={"points": 500},
    ),
    Bug(
        "the landscape after training read at every epoch",
        swapped(images, "_mean_log", _after_training),
        turns=("cgro.fig2g.digits", "cgro.fig3L.digits"),
        reading=True,
    ),
    Bug(
        "training points read as test points",
        swapped(images, "_mean_log", _training_points),
        turns=("cgro.fig3L.digits",),
        reading=True,
    ),
    Bug(
        "slopes outside the training radius read from 0 on",
        swapped(images, "_slope", _from_zero),
        turns=("cgro.fig2a.digits",),
        reading=True,
    ),
)
