"""Phases of adversarial training without noise: §5.2, Lemmas D.19, D.20, D.24 to D.26 of RNRF.

The runs vary the attack step η̃, the number of classes k, and the reading of the attack.

Paper: Σ_s B_s^q stops at order 1/η̃. From the time when A reaches ϱ/α, B is O(1/η̃). Then F_y(X̃)
grows like log t.
Reading: η̃ is the step per point (Figure 3: 1e3/N = 10) and lies between 1 and d. One point per
class represents the population. η = 1/d and ϱ = 3/log d. "sizes" has η̃ = √d and d = 8 … 64.
σ0 = 0.3/√d, and 1/√d, as published in B.3, in "printed start". Strengths, density and radius
satisfy Assumptions 2.3 and B.3 (`small`).
Cost: quick 45 s (2 cores).
"""

import itertools
import math
from typing import Literal

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.plans import Read, Run

from ...theory.features import nonrobust_features, robust_features
from ...theory.readings import geometric
from ...theory.regime import SMALL_EPS, small
from ...theory.regime import gates as gates
from ...theory.softmax_tails import attacked_softmax_tails
from ...theory.two_features import (
    attacked_outputs,
    foreign_nonrobust,
    foreign_robust,
    nonrobust_total,
)
from .readings import CLASS, EARLY, PLAIN, PRINTED, READING, SIZE, STEP

quick = dict(seeds=5, steps=1500, classes=(2, 4, 8), sizes=(8, 12, 16, 24), early=((16, 0.3),))
paper = dict(seeds=10)

_STEPS = (2.0, 5.0, 10.0, 25.0)
_CLASSES = (2, 4, 8, 16)
_EARLY = ((256, 0.3), (512, 0.3), (4096, 1.0))  # (d, σ0√d), with κ_B(0) < 0.01
_EARLY_STEPS = (1.0, 2.0, 4.0)
_READINGS: tuple[tuple[float, Literal["element", "patch"]], ...] = (
    (10.0, "element"),
    (10.0, "patch"),
    (1e3, "element"),
    (1e3, "patch"),
)
_SIZES = (8, 16, 32, 64)  # d, with η̃ = √d
DIM = 30  # small enough for F_y to reach log d within the run


def plan(
    steps=8000, m=20, d=DIM, start=0.3, sizes=_SIZES, classes=_CLASSES, early=_EARLY, patience=1
):
    eps, features = SMALL_EPS, (robust_features, nonrobust_features, nonrobust_total)
    foreign = (foreign_robust, foreign_nonrobust)
    common = dict(data=small(d=d, sigma_n=0.0), network=_network(m, d, start), n=2, eta=1 / d)
    attacks = {step: MarginStep(radius=eps, step=step) for step in (*_STEPS, *_EARLY_STEPS)}
    for (size, scale), step in itertools.product(early, (None, *_EARLY_STEPS)):
        places = {"d": Read("data.d"), "σ0√d": scale}
        yield Run(
            family=str((EARLY if step else PLAIN).family),
            at={**places, "η̃": Read("attack.step_size")} if step else places,
            data=small(d=size, sigma_n=0.0),
            network=_network(m, size, scale),
            attack=attacks[step] if step else None,
            n=2,
            steps=(5 if scale < 1 else 3) * size,  # κ_B passes 0.1 earlier from the printed start
            eta=1 / size,
            record=max(1, size // 50),
            probes=features,
        )
    for step in _STEPS:
        yield Run(
            family=STEP,
            at={"η̃": Read("attack.step_size")},
            attack=attacks[step],
            steps=steps,
            probes=(*features, *foreign, attacked_outputs),
            record=max(1, steps // 100),
            **common,
        )
    for k in classes:
        dimension = 64
        yield Run(
            family=CLASS,
            at={"k": Read("data.k")},
            data=small(k=k, d=dimension, sigma_n=0.0),
            network=_network(min(m, 8), dimension, start),
            attack=attacks[10.0],
            n=k,
            steps=steps * max(k, 8) // 8,
            eta=1 / dimension,
            probes=(attacked_softmax_tails,),
            record=max(1, steps * max(k, 8) // 800),
            dtype="float32",
        )
    for (family, scale), size in itertools.product(((SIZE, start), (PRINTED, 1.0)), sizes):
        yield Run(
            family=family,
            at={"d": Read("data.d")},
            data=small(d=size, sigma_n=0.0),
            network=_network(min(m, 8), size, scale),
            attack=MarginStep(radius=eps, step=size**0.5),
            n=2,
            steps=patience * size**2,
            eta=1 / size,
            probes=(robust_features, *((attacked_outputs,) if family == SIZE else ())),
            record=geometric(patience * size**2),
            dtype="float32",
        )
    for step, clip in _READINGS:
        yield Run(
            family=READING,
            at={"η̃": Read("attack.step_size"), "clip": Read("attack.clip")},
            data=TwoFeaturePatches(d=d, sigma_n=0.0, balanced=True),
            network=SmoothedCNN(m=80),
            attack=MarginStep(radius=1.2, step=step, clip=clip),
            n=2,
            steps=min(steps, 2000),
            eta=0.1,
            probes=(*features, *foreign, attacked_outputs),
            record=40,
            dtype="float32",
        )


def _network(m, d, start):
    """Return a network with ϱ = 3/log d and σ0 = start/√d."""
    return SmoothedCNN(m=m, rho=3 / math.log(d), sigma0=start / d**0.5)
