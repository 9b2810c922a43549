"""Attacks: `attack(loss, batch, t, rng)` returns points of the perturbation set."""

from adversarium.attacks.balls import Ball
from adversarium.attacks.caps import CapPGD
from adversarium.attacks.far import Crossings, FarSide
from adversarium.attacks.finite import Corners, FiniteAttack
from adversarium.attacks.gradient import APGD, FGSM, PGD, MarginStep, NoisyFGSM
from adversarium.attacks.nearest import DDN, FAB
from adversarium.attacks.patches import PatchTransplant
from adversarium.attacks.search import RandomSearch
from adversarium.attacks.smoothed import BoundaryWalk, SmoothedAscent
from adversarium.attacks.sparse import SparseAscent
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
from adversarium.attacks.units import PatchMaximiser, UnitSteps

__all__ = [
    "APGD",
    "DDN",
    "FAB",
    "FGSM",
    "GTA",
    "PGD",
    "Ball",
    "BoundaryWalk",
    "CapPGD",
    "Corners",
    "Crossings",
    "FarSide",
    "FeatureCollision",
    "FeatureReplacement",
    "FiniteAttack",
    "GenericGTA",
    "MarginStep",
    "NoisyFGSM",
    "PatchMaximiser",
    "PatchTransplant",
    "RandomSearch",
    "SignalPatch",
    "SmoothedAscent",
    "SparseAscent",
    "UnitSteps",
    "UniversalFeature",
    "gta",
    "midpoint",
    "strong_attacks",
]
