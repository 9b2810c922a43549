"""RNRF's recursions (Lemmas 5.1, 5.2, D.2, D.5 to D.7, D.16 to D.18) alongside noiseless training.

Paper: A, B, C, D of the filters follow closed recursions, exactly under standard training, and
under the one-step attack with the attacked coefficients of Lemma D.17. The probability of wrong
classes vanishes with d, at a rate independent of k.
Reading: without noise, one point per class represents the population; d = 64, η = 1/d, σ0 =
0.3/√d, ϱ = 3/log d. The weights have components orthogonal to the features in the run "attacked"
but not in "attacked, d = 2k". Strengths, density and radius satisfy Assumptions 2.3 and B.3
(`small`). Lemma 5.2 is tested with d = 128, for several attack steps η̃.
Cost: quick 35 s (2 cores).
"""

import math

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.measure.folds import Worst
from adversarium.networks import SmoothedCNN
from adversarium.plans import Read, Run

from ...theory.features import nonrobust_features, robust_features
from ...theory.kept_recursion import KeptRecursion
from ...theory.recursions import (
    FeatureRecursion,
    GrowthLaw,
    OffDiagonalGrowth,
    attacked_off_span,
    off_feature_drift,
    printed_attack_error,
    weights_off_span,
)
from ...theory.regime import SMALL_EPS, small
from ...theory.regime import gates as gates
from ...theory.softmax_tails import softmax_tails
from .readings import ADV, CLOSED, LARGE_STEP, LAW, SMALL_STEP, STD, VARIED

quick = dict(seeds=5, steps=300)
paper = dict(seeds=10, steps=4000)

CLASSES = (2, 4, 8, 16)
STEPS = (2.0, 5.0, 10.0, 25.0)  # η̃ in Lemma 5.2


def _noiseless(d):
    """Return data of two classes without noise."""
    return small(k=2, d=d, sigma_n=0.0)


def _scale(d):
    """Return ϱ = 3/log d and σ0 = 0.3/√d."""
    return dict(rho=3 / math.log(d), sigma0=0.3 / d**0.5)


def plan(steps=1000, m=50, d=64, eps=SMALL_EPS, step=10.0):
    curves, stride = (robust_features, nonrobust_features), max(1, steps // 60)
    scale = _scale(d)
    common = dict(steps=steps, eta=1 / d, probes=curves, record=max(1, steps // 60))
    tails = dict(probes=(*curves, softmax_tails))
    for k in CLASSES:
        yield Run(
            family=STD,
            at={"k": Read("data.k")},
            data=small(k=k, d=d, sigma_n=0.0),
            network=SmoothedCNN(m=min(m, 10), **scale),
            n=k,
            folds=(FeatureRecursion(stride), Worst(off_feature_drift), OffDiagonalGrowth()),
            **{**common, **tails, "steps": steps * k // 2, "record": max(1, steps * k // 120)},
        )
    yield Run(
        family=VARIED,
        data=TwoFeaturePatches(
            k=3, d=20, P=40, n_robust=2, sigma_n=0.0, strengths="uniform", spread=0.3
        ),
        network=SmoothedCNN(m=20, sigma0=0.3 / 20**0.5),
        n=30,
        folds=(FeatureRecursion(stride),),
        **{**common, "eta": 1 / 20},
    )
    attack = MarginStep(radius=eps, step=step)
    full_recursions = (KeptRecursion("printed"), KeptRecursion("unclipped"))
    for family, dimension, folds in (
        (ADV, d, (FeatureRecursion(stride), *full_recursions)),
        (CLOSED, 4, (FeatureRecursion(stride),)),
    ):
        yield Run(
            family=family,
            data=_noiseless(d=dimension),
            network=SmoothedCNN(m=m, **scale),
            attack=attack,
            n=2,
            folds=folds,
            **common,
        )
    large_d = 2 * d  # so that Σ B³ starts below a tenth of its plateau, also for the largest η̃
    for strength in STEPS:
        yield Run(
            family=LAW,
            at={"η̃": Read("attack.step_size")},
            data=_noiseless(d=large_d),
            network=SmoothedCNN(m=min(m, 20), **_scale(large_d)),
            attack=MarginStep(radius=eps, step=strength),
            n=2,
            folds=(GrowthLaw(),),
            **{**common, "steps": max(1, steps // 4), "eta": 1 / large_d},
        )
    # k·m < d − 2k: the initial weights do not span all dimensions
    few = SmoothedCNN(m=min(m, 10), **scale)
    large = SmoothedCNN(m=min(m, 10), **{**scale, "sigma0": d**-0.5})  # σ0 = 1/√d of Assumption B.3
    for family, network, train_attack, length in (
        (SMALL_STEP, few, attack, steps),
        (LARGE_STEP, large, MarginStep(radius=eps, step=d**0.9), max(1, steps // 8)),
        (LARGE_STEP, large, MarginStep(radius=eps, step=d**0.9, clip="patch"), max(1, steps // 8)),
    ):
        yield Run(
            family=family,
            at={"clip": Read("attack.clip")} if family == LARGE_STEP else {},
            data=_noiseless(d=d),
            network=network,
            attack=train_attack,
            n=2,
            folds=(Worst(weights_off_span), Worst(attacked_off_span), Worst(printed_attack_error)),
            **{**common, "steps": length},
        )
