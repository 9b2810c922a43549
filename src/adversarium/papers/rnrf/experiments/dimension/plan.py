"""Lemmas of RNRF on the growth with the dimension d.

These are D.8 (also with k), D.9 to D.11, D.21 and D.23 without noise, and E.3 to E.7, E.10 and E.11
with noise.

Paper: B reaches ϱ/β, and then F_y reaches log d while A is Õ(1/√d). At the end of standard training
B = Θ(log d), and the noise is never learnt. Under attack, A = Θ(log d) and B = Õ(1/η̃), η̃ =
d^(c₀).
Reading: k = 4 (3 under attack, 2 with noise), m = 12 (8 with noise), σ0 = 0.3/√d, σ_n = 1/√d,
c₀ = ½, η = 1/d, d² steps (d³ in two families with noise) and, with noise, N = d. ϱ = 1/log d under
standard training and 3/log d under attack, so that the first attack does not overshoot. Strengths,
density and radius satisfy Assumptions 2.3 and B.3 (`small`).
Cost: quick 45 s (2 cores).
"""

import math
from typing import Any

from adversarium.attacks import MarginStep
from adversarium.networks import SmoothedCNN
from adversarium.plans import Read, Run, Table, where

from ...theory.features import nonrobust_features, robust_features
from ...theory.readings import A, B, geometric
from ...theory.regime import SMALL_EPS, small
from ...theory.regime import gates as gates
from ...theory.stages import ForeignRatio, GrowthRange, NoiseRemainder
from ...theory.two_features import (
    class_logits,
    foreign_nonrobust,
    foreign_robust,
    noise_correlations,
    nonrobust_total,
    outputs,
)
from .readings import (
    ATTACKED,
    CLASSES,
    LARGE,
    LONG_ATTACKED,
    LONG_NOISY,
    NOISY,
    PLAIN,
    QUIET,
    STEP,
    C,
    D,
)

_SMALL = (12, 15, 18, 24)
quick = dict(
    seeds=5, plain=(16, 24, 32, 48), large=(32, 48), noisy=_SMALL, attacked=_SMALL, quiet=_SMALL,
    long=(6, 8, 10), at_one=12,
)  # fmt: skip
paper = dict(seeds=40)
STEPS = (2.0, 5.0, 10.0, 25.0)  # η̃ at one d, for Lemma E.11
ENOUGH = 0.04  # share of d² steps in which F_y reaches log d at d ≥ 64, Lemma D.10


def plan(
    plain=(16, 32, 64, 128),
    large=(64, 128, 256, 512),
    noisy=(8, 16, 32, 64, 96),
    attacked=(8, 16, 32, 64, 96),
    quiet=(12, 24, 48, 96),
    long=(8, 16, 32, 48, 64),
    classes=(2, 4, 8, 16),
    at_one=32,
    m=12,
    k=4,
    start=0.3,
):
    features = (robust_features, nonrobust_features)
    foreign = (foreign_robust, foreign_nonrobust)
    at, dtype = {"d": Read("data.d")}, "float32"
    for family, d in (*((PLAIN, d) for d in plain), *((LARGE, d) for d in large)):
        steps = d**2 if family == PLAIN else round(d**2 * ENOUGH)
        yield Run(
            family=family,
            at=at,
            data=small(k=k, d=d, sigma_n=0.0),
            network=SmoothedCNN(m=m, rho=1 / math.log(d), sigma0=start / d**0.5),
            n=k,
            steps=steps,
            eta=1 / d,
            probes=(*features, class_logits),
            folds=(GrowthRange(),) if family == PLAIN else (),
            record=geometric(steps),
            dtype=dtype,
        )
    for class_count in classes:
        yield Run(
            family=CLASSES,
            at={"k": Read("data.k")},
            data=small(k=class_count, d=64, sigma_n=0.0),
            network=SmoothedCNN(m=m, rho=1 / math.log(64), sigma0=start / 8),
            n=class_count,
            steps=1000,
            eta=class_count / 1024,
            folds=(GrowthRange(),),
            record=(0,),
            dtype=dtype,
        )
    for family, d in (*((NOISY, d) for d in noisy), *((LONG_NOISY, d) for d in long)):
        steps, recorded = d**3, dict[str, Any](probes=(outputs,))
        if family == NOISY:
            every = (*features, *foreign, outputs, noise_correlations)
            steps, recorded = d**2, dict(probes=every, folds=(NoiseRemainder(),))
        yield Run(
            family=family,
            at=at,
            data=small(d=d, sigma_n=d**-0.5),
            network=SmoothedCNN(m=min(m, 8), rho=1 / math.log(d), sigma0=start / d**0.5),
            n=d,
            steps=steps,
            eta=1 / d,
            record=geometric(steps),
            dtype=dtype,
            **recorded,
        )
    sizes = (
        *((QUIET, d, d**0.5) for d in quiet),
        *((ATTACKED, d, d**0.5) for d in attacked),
        *((LONG_ATTACKED, d, d**0.5) for d in long),
        *((STEP, at_one, step) for step in STEPS),
    )
    for family, d, step in sizes:
        quiet = family == QUIET
        class_count, noise = (3, ()) if quiet else (2, (noise_correlations,))
        steps, recorded = d**3, dict[str, Any](probes=(robust_features,), record=(d**3,))
        if family != LONG_ATTACKED:
            every = (*features, *foreign, nonrobust_total, *noise)
            steps, recorded = d**2, dict(probes=every, record=geometric(d**2))
            recorded["folds"] = (ForeignRatio(),)
        yield Run(
            family=family,
            at={"η̃": Read("attack.step_size")} if family == STEP else at,
            data=small(k=class_count, d=d, sigma_n=0.0 if quiet else d**-0.5),
            network=SmoothedCNN(
                m=m if quiet else min(m, 8), rho=3 / math.log(d), sigma0=start / d**0.5
            ),
            attack=MarginStep(radius=SMALL_EPS, step=step),
            n=k if quiet else d,
            steps=steps,
            eta=1 / d,
            dtype=dtype,
            **recorded,
        )


_names = {A: "max A", B: "max B", C: "max C", D: "max D"}

figures = (
    Table(
        name="dimension",
        title="Correlations at the end, by dimension",
        y=tuple(_names),
        runs=(where(NOISY), where(QUIET), where(ATTACKED), where(STEP)),
        names=_names,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
