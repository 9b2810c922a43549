"""Phases of adversarial training without noise: §5.2, Lemmas D.19, D.20, D.24 to D.26 of RNRF.

The runs vary the attack step η̃, the number of classes k, and the reading of the attack.

Paper: Σ_s B_s^q stops at order 1/η̃. From the time when A reaches ϱ/α, B is O(1/η̃). Then F_y(X̃)
grows like log t.
Reading: η̃ is the step per point (Figure 3: 1e3/N = 10) and lies between 1 and d. One point per
class represents the population. "sizes" has η̃ = √d and d = 15 … 120. σ0 = 0.3/√d, and 1/√d, as
published in B.3, in "printed start". Strengths, density and radius satisfy Assumptions 2.3 and B.3
(`small`).
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

quick = dict(seeds=5, classes=(2, 4, 8), sizes=(8, 16, 32, 64))
paper = dict(seeds=20, m=40, steps=4000)

_STEPS = (2.0, 5.0, 10.0, 25.0)
_CLASSES = (2, 4, 8, 20)
_READINGS: tuple[tuple[float, Literal["element", "patch"]], ...] = (
    (10.0, "element"),
    (10.0, "patch"),
    (1e3, "element"),
    (1e3, "patch"),
)
_SIZES = (15, 30, 60, 120)  # d, with η̃ = √d
DIM = 30  # small enough for F_y to reach log d within the run


def plan(steps=1400, m=20, d=DIM, eta=0.1, start=0.3, sizes=_SIZES, classes=_CLASSES, patience=40):
    eps, features = SMALL_EPS, (robust_features, nonrobust_features, nonrobust_total)
    foreign = (foreign_robust, foreign_nonrobust)
    common = dict(
        data=small(d=d, sigma_n=0.0), network=SmoothedCNN(m=m, sigma0=start / d**0.5), n=2, eta=eta
    )
    attacks = {step: MarginStep(radius=eps, step=step) for step in (*_STEPS, 10.0)}
    for step in (None, *_STEPS):
        yield Run(
            family=str((EARLY if step else PLAIN).family),
            at={"η̃": Read("attack.step_size")} if step else {},
            attack=attacks[step] if step else None,
            steps=min(steps, 300),
            record=2,
            probes=features,
            **{**common, "network": SmoothedCNN(m=m, sigma0=start / 6 / d**0.5)},
        )
    for step in _STEPS:
        yield Run(
            family=STEP,
            at={"η̃": Read("attack.step_size")},
            attack=attacks[step],
            steps=steps,
            probes=(*features, *foreign, attacked_outputs),
            record=40,
            **common,
        )
    for k in classes:
        dimension = max(200, d)  # d/(2k) is 5 at k = 20
        yield Run(
            family=CLASS,
            at={"k": Read("data.k")},
            data=small(k=k, d=dimension, sigma_n=0.0),
            network=SmoothedCNN(m=min(m, 8), sigma0=0.2 / dimension**0.5),
            attack=attacks[10.0],
            n=k,
            steps=steps * 2 // 5,
            eta=eta * k / 2,
            probes=(attacked_softmax_tails,),
            record=20,
            dtype="float32",
        )
    for (family, scale), size in itertools.product(((SIZE, start), (PRINTED, 1.0)), sizes):
        yield Run(
            family=family,
            at={"d": Read("data.d")},
            data=small(d=size, sigma_n=0.0),
            network=SmoothedCNN(m=m, sigma0=scale / size**0.5),
            attack=MarginStep(radius=eps, step=size**0.5),
            n=2,
            steps=math.ceil(patience * size),
            eta=eta,
            probes=(robust_features, *((attacked_outputs,) if family == SIZE else ())),
            record=geometric(math.ceil(patience * size)),
            dtype="float32",
        )
    for step, clip in _READINGS:
        yield Run(
            family=READING,
            at={"η̃": Read("attack.step_size"), "clip": Read("attack.clip")},
            data=TwoFeaturePatches(d=d, sigma_n=0.0, balanced=True),
            network=SmoothedCNN(m=m * 2),
            attack=MarginStep(radius=1.2, step=step, clip=clip),
            n=2,
            steps=steps // 2,
            eta=eta,
            probes=(*features, *foreign, attacked_outputs),
            record=40,
            dtype="float32",
        )
