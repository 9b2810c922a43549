"""Theorems 4.3 and 4.4 of RNRF, with data and radius that satisfy all their hypotheses.

Paper: standard training learns the non-robust features, is accurate, and is misled by a
perturbation that does not depend on the model. Adversarial training learns the robust features and
classifies every ε-ball correctly.
Reading: α/β = 3, Σ_NR β³/Σ_R α³ = 7/3 and α/ε = 2.5 > 2 (`consistent`), so a robust classifier
exists. σ_n = 1/√d, attack step 10 per point; η = k/20, so η/k is the same at every k. Two starts:
σ0 = 0.3/√d, from which adversarial training learns features, and σ0 = 1/√d, as published in B.3.
Cost: quick 30 s (2 cores).
"""

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
from ..fig3.recordings import until

ATTACKED_TRAIN_ERROR = "broken_train_error"
POINTS = 200  # number of fresh points of every error
# families with σ0 as published in B.3
STANDARD_START, PRINTED_START = "standard, σ0 = 1/√d", "adversarial, σ0 = 1/√d"


quick = dict(seeds=5, places=((2, 25), (2, 50), (5, 50)), printed=((2, 25),))
paper = dict(
    seeds=20,
    places=((2, 50), (2, 100), (2, 200), (2, 400), (5, 100), (20, 100)),
    n=100,
    steps=600,
    printed=((2, 25), (2, 50), (2, 400), (5, 50)),
)
INNER_TIMES = (1, 25, 50, 100, 250)  # times at which the inner maximum is measured, besides the end
SIZES = ((2, 25), (2, 50), (2, 100), (5, 50), (10, 50))  # (k, d)
PRINTED_SIZES = ((2, 25), (2, 50), (5, 50))  # (k, d) of the runs with σ0 = 1/√d, N = d


def plan(places=SIZES, n=10, m=20, steps=250, step=10.0, eps=EPS, printed=PRINTED_SIZES):
    attack = MarginStep(radius=eps, step=step)
    for k, d in places:
        universal = UniversalFeature(radius=eps, k=k)
        suite = (universal, *strong_attacks(math.inf, eps, k))
        for family, train_attack in ((STANDARD, None), (ADVERSARIAL, attack)):
            errors: dict[str, tuple[Any, ...]] = {}
            if train_attack:
                errors = {"own_attack_error": (train_attack,), "universal_error": (universal,)}
                errors |= {"suite_error": suite}
            yield Run(
                family=family,
                at={"k": Read("data.k"), "d": Read("data.d")},
                data=consistent(k=k, d=d, sigma_n=d**-0.5),
                network=SmoothedCNN(m=m, sigma0=0.3 / d**0.5),
                attack=train_attack,
                n=max(n, k),
                steps=steps,
                eta=k / 20,
                probes=(
                    robust_features,
                    nonrobust_features,
                    *((At(InnerGap(), until(INNER_TIMES, steps)),) if train_attack else ()),
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
                record=25,
                dtype="float32",
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
                network=SmoothedCNN(m=m, sigma0=d**-0.5),
                attack=train_attack,
                n=d,
                steps=steps,
                eta=k / 20,
                probes=(robust_features, nonrobust_features),
                final=final,
                record=50,
                dtype="float32",
            )


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
        "attack fools the network on no point; one model-free perturbation does so on every point.",
    ),
)
