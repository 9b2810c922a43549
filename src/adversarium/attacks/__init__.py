"""Attacks: `attack(loss, batch, t, rng)` returns points of the perturbation set."""

from adversarium.attacks.balls import Ball
from adversarium.attacks.finite import Corners, FiniteAttack
from adversarium.attacks.gradient import APGD, FGSM, PGD, MarginStep
from adversarium.attacks.patches import PatchTransplant
from adversarium.attacks.strong import strong_attacks
from adversarium.attacks.transfer import (
    GTA,
    FeatureCollision,
    FeatureReplacement,
    GenericGTA,
    SignalPatch,
    UniversalFeature,
    gta,
    midpoint,
)

__all__ = [
    "APGD",
    "FGSM",
    "GTA",
    "PGD",
    "Ball",
    "Corners",
    "FeatureCollision",
    "FeatureReplacement",
    "FiniteAttack",
    "GenericGTA",
    "MarginStep",
    "PatchTransplant",
    "SignalPatch",
    "UniversalFeature",
    "gta",
    "midpoint",
    "strong_attacks",
]
