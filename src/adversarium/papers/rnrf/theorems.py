"""Theorems 4.3 and 4.4 of RNRF where their hypotheses about the data and the radius hold together.

Paper: standard training learns the non-robust features, is accurate, and is broken by a
perturbation that knows no model; adversarial training learns the robust ones and is right on all of
every ε-ball.
Reading: α/β = 3, density 7/3, α/ε = 2.5 (`consistent`), which leaves room for a robust classifier
(α > 2ε); σ_n = 1/√d, attack step 10 a point; η = k/20, so that η/k is the same at every k. Two
starts: σ0 = 0.3/√d, where adversarial training learns something, and σ0 = 1/√d, as B.3 prints it.
Cost: quick 30 s (2 cores).
"""

import math
from typing import Any

from adversarium.attacks import FeatureReplacement, MarginStep, UniversalFeature, strong_attacks
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.fig3_readings import ADVERSARIAL, STANDARD
from adversarium.papers.rnrf.fig3_recordings import until
from adversarium.papers.rnrf.regime import EPS, consistent, gates
from adversarium.papers.rnrf.theorems_checks import (
    BROKEN,
    POINTS,
    PRINTED_START,
    STANDARD_START,
    checks,
)
from adversarium.plans import Read, Run, Table
from adversarium.probes import (
    At,
    Error,
    FeatureError,
    InnerGap,
    SwappedError,
    feature_energy,
    nonrobust_features,
    robust_feature_energy,
    robust_features,
    train_error,
    typical_feature_energy,
)

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(seeds=5, places=((2, 25), (2, 50), (5, 50)), printed=((2, 25),))
paper = dict(
    seeds=20,
    places=((2, 50), (2, 100), (2, 200), (2, 400), (5, 100), (20, 100)),
    n=100,
    steps=600,
    printed=((2, 25), (2, 50), (2, 400), (5, 50)),
)
INNER = (1, 25, 50, 100, 250)  # and the end
PLACES = ((2, 25), (2, 50), (2, 100), (5, 50), (10, 50))  # k and d
PRINTED = ((2, 25), (2, 50), (5, 50))  # k and d, N = d, with σ0 = 1/√d


def plan(places=PLACES, n=10, m=20, steps=250, step=10.0, eps=EPS, printed=PRINTED):
    attack = MarginStep(radius=eps, step=step)
    for k, d in places:
        universal = UniversalFeature(radius=eps, k=k)
        broken = (universal, *strong_attacks(math.inf, eps, k))
        for family, by in ((STANDARD, None), (ADVERSARIAL, attack)):
            faced: dict[str, tuple[Any, ...]] = {}
            if by:
                faced = {"own_attack_error": (by,), "universal_error": (universal,)}
                faced |= {"suite_error": broken}
            yield Run(
                family=family,
                at={"k": Read("data.k"), "d": Read("data.d")},
                data=consistent(k=k, d=d, sigma_n=d**-0.5),
                network=SmoothedCNN(m=m, sigma0=0.3 / d**0.5),
                attack=by,
                n=max(n, k),
                steps=steps,
                eta=k / 20,
                probes=(
                    robust_features,
                    nonrobust_features,
                    *((At(InnerGap(), until(INNER, steps)),) if by else ()),
                ),
                final=(
                    *_standard(eps, k),
                    FeatureError("robust", POINTS),
                    robust_feature_energy,
                    *(Error(n=POINTS, attacks=one, name=name) for name, one in faced.items()),
                    *((Error(on="train", attacks=broken, name=BROKEN),) if by else ()),
                ),
                record=25,
                dtype="float32",
            )
    for k, d in printed:
        starts = {
            STANDARD_START: (None, _standard(eps, k)),
            PRINTED_START: (attack, (FeatureError("robust", POINTS),)),
        }
        for family, (by, final) in starts.items():
            yield Run(
                family=family,
                at={"k": Read("data.k"), "d": Read("data.d")},
                data=consistent(k=k, d=d, sigma_n=d**-0.5),
                network=SmoothedCNN(m=m, sigma0=d**-0.5),
                attack=by,
                n=d,
                steps=steps,
                eta=k / 20,
                probes=(robust_features, nonrobust_features),
                final=final,
                record=50,
                dtype="float32",
            )


def _standard(eps, k):
    """What Theorem 4.3 of RNRF speaks of, after either training."""
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
    "universal_error": "−εu_y + εu_j on every patch",
    "suite_error": "that and strong attacks",
}

figures = (
    Table(
        name="theorems",
        title="Errors at the end, where the hypotheses hold together",
        y=tuple(_errors),
        names=_errors,
        caption="Mean over seeds with its 99 % interval. After adversarial training the training "
        "attack breaks nothing, and one perturbation that knows no network breaks everything.",
    ),
)
