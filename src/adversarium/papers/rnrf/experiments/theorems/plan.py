"""Theorems 4.3 and 4.4 of RNRF, with data and radius that satisfy all their hypotheses.

Paper: standard training learns the non-robust features, is accurate, and is misled by a
perturbation that does not depend on the model. Adversarial training learns the robust features and
classifies every ε-ball correctly.
Reading: α/β = 3, Σ_NR β³/Σ_R α³ = 7/3 and α/ε = 2.5 > 2 (`consistent`), so a robust classifier
exists. σ_n = 1/√d, N = d, η = 1/d, ϱ = 3/log d, attack step 10 per point, at least d² and 50kd
steps. Two starts: σ0 = 0.3/√d, from which adversarial training learns features, and σ0 = 1/√d, as
published in B.3; "threshold" varies ϱ within Θ(1/log d) from both.
Cost: quick 30 s (2 cores).
"""

import itertools
import math
from typing import Any

from adversarium.attacks import FeatureReplacement, MarginStep, UniversalFeature, strong_attacks
from adversarium.measure.errors import Error, train_error
from adversarium.measure.folds import At
from adversarium.networks import SmoothedCNN
from adversarium.plans import Read, Run, Table

from ...theory.feature_energies import feature_energy, robust_feature_energy, typical_feature_energy
from ...theory.features import nonrobust_features, robust_features
from ...theory.regime import EPS, consistent
from ...theory.regime import gates as gates
from ...theory.two_features import FeatureError, InnerGap, SwappedError
from ..fig3.readings import ADVERSARIAL, STANDARD

ATTACKED_TRAIN_ERROR = "broken_train_error"
POINTS = 200  # number of fresh points of every error
# families with σ0 as published in B.3
STANDARD_START, PRINTED_START = "standard, σ0 = 1/√d", "adversarial, σ0 = 1/√d"
THRESHOLD = "threshold"  # ϱ varies


quick = dict(
    seeds=5,
    places=((2, 16), (2, 24)),
    attacked=((2, 16), (2, 24)),
    printed=((2, 16),),
    turns=10,
    least=False,
    thresholds=(),
)
paper = dict(seeds=60)
INNER_TIMES = (0.02, 0.05, 0.1, 0.2, 0.5)  # shares of the run after which it is measured
SIZES = ((2, 16), (2, 32), (2, 64), (2, 128), (5, 32), (8, 32))  # (k, d)
ATTACKED = SIZES[:5]  # those under adversarial training
PRINTED_SIZES = ((2, 16), (2, 32))  # (k, d) of the runs with σ0 = 1/√d
THRESHOLDS = (1.0, 3.0)  # ϱ·log d


def plan(
    places=SIZES, attacked=ATTACKED, printed=PRINTED_SIZES, m=10, turns=50, least=True, step=10.0,
    eps=EPS, thresholds=THRESHOLDS,
):  # fmt: skip
    attack = MarginStep(radius=eps, step=step)
    for k, d in places:
        steps = _rule(k, d, turns, least)["steps"]
        moments = tuple(sorted({1, *(round(share * steps) for share in INNER_TIMES), steps}))
        universal = UniversalFeature(radius=eps, k=k)
        suite = (universal, *strong_attacks(math.inf, eps, k))
        for family, train_attack in ((STANDARD, None), (ADVERSARIAL, attack)):
            if train_attack and (k, d) not in attacked:
                continue
            errors: dict[str, tuple[Any, ...]] = {}
            if train_attack:
                errors = {"own_attack_error": (train_attack,), "universal_error": (universal,)}
                errors |= {"suite_error": suite}
            yield Run(
                family=family,
                at={"k": Read("data.k"), "d": Read("data.d")},
                data=consistent(k=k, d=d, sigma_n=d**-0.5),
                network=SmoothedCNN(m=m, rho=3 / math.log(d), sigma0=0.3 / d**0.5),
                attack=train_attack,
                **_rule(k, d, turns, least),
                probes=(
                    robust_features,
                    nonrobust_features,
                    *((At(InnerGap(), moments),) if train_attack else ()),
                ),
                final=(
                    *_theorem_4_3(eps, k),
                    FeatureError("robust", POINTS),
                    robust_feature_energy,
                    *(
                        Error(n=POINTS, attacks=attacks, name=name)
                        for name, attacks in errors.items()
                    ),
                    *(
                        (Error(on="train", attacks=suite, name=ATTACKED_TRAIN_ERROR),)
                        if train_attack
                        else ()
                    ),
                ),
            )
    for k, d in printed:
        starts = {
            STANDARD_START: (None, _theorem_4_3(eps, k)),
            PRINTED_START: (attack, (FeatureError("robust", POINTS),)),
        }
        for family, (train_attack, final) in starts.items():
            yield Run(
                family=family,
                at={"k": Read("data.k"), "d": Read("data.d")},
                data=consistent(k=k, d=d, sigma_n=d**-0.5),
                network=SmoothedCNN(m=m, rho=3 / math.log(d), sigma0=d**-0.5),
                attack=train_attack,
                **_rule(k, d, turns, least),
                probes=(robust_features, nonrobust_features),
                final=final,
            )
    for start, threshold in itertools.product((0.3, 1.0), thresholds):
        k, d = 2, 16
        yield Run(
            family=THRESHOLD,
            at={"σ0√d": start, "ϱ log d": threshold},
            data=consistent(k=k, d=d, sigma_n=d**-0.5),
            network=SmoothedCNN(m=m, rho=threshold / math.log(d), sigma0=start / d**0.5),
            attack=attack,
            **_rule(k, d, turns, least),
            probes=(robust_features, nonrobust_features),
            final=(FeatureError("robust", POINTS),),
        )


def _rule(k, d, turns, least):
    """Return N = d, η = 1/d and at least turns·kd steps (with `least`, also at least d²)."""
    steps = max(turns * k * d, d**2 if least else 0)
    return dict(n=d, eta=1 / d, steps=steps, record=max(1, steps // 25), dtype="float32")


def _theorem_4_3(eps, k):
    """Return probes of the quantities in Theorem 4.3 of RNRF."""
    return (
        train_error,
        Error(n=POINTS, name="test_error"),
        FeatureError("nonrobust", POINTS),
        SwappedError(eps, POINTS),
        feature_energy,
        typical_feature_energy,
        Error(n=POINTS, attacks=(FeatureReplacement(radius=eps, k=k),), name="replaced_error"),
    )


_errors = {
    "test_error": "clean",
    "robust_only_error": "robust features alone",
    "nonrobust_only_error": "non-robust features alone",
    "replaced_error": "model-free attack",
    "own_attack_error": "training attack",
    "universal_error": "universal: −εu_y + εu_j on every patch",
    "suite_error": "the universal and strong attacks",
}

figures = (
    Table(
        name="theorems",
        title="Errors at the end, with data that satisfy all hypotheses",
        y=tuple(_errors),
        names=_errors,
        caption="Mean over seeds with its 99 % interval. After adversarial training, the training "
        "attack fools the network on few points, one model-free perturbation on most.",
    ),
)
