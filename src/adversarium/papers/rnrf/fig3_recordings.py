"""What the runs of Figure 3 of RNRF record: curves, costly errors at some times, errors at the
end."""

import math
from collections.abc import Iterable
from typing import Any

from adversarium.attacks import APGD, PGD, FeatureReplacement, MarginStep, strong_attacks
from adversarium.data import TwoFeaturePatches
from adversarium.probes import (
    At,
    Error,
    ErrorByRadius,
    FeatureError,
    decomposition,
    feature_energy,
    foreign_nonrobust,
    foreign_robust,
    noise_correlations,
    nonrobust_features,
    nonrobust_total,
    outputs,
    risk,
    robust_features,
    train_error,
    typical_feature_energy,
)

POINTS = 500  # of the cheap errors
RADII = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
_CLEAN = (0, 10, 30, 50, 60, 70, 80, 90, 100, 110, 120, 130, 150, 200, 300, 500, 750)


def until(times: Iterable[int], steps: int) -> tuple[int, ...]:
    """The times within a run, and its end."""
    return (*(t for t in times if t < steps), steps)


def curves(steps: int) -> tuple[Any, ...]:
    """What is cheap enough for every record time, and the clean test error."""
    return (
        robust_features,
        nonrobust_features,
        nonrobust_total,
        foreign_robust,
        foreign_nonrobust,
        outputs,
        risk,
        train_error,
        decomposition,
        At(Error(n=POINTS, name="test_error"), until(_CLEAN, steps)),
    )


def _strong(eps: float) -> tuple[APGD | PGD, ...]:
    return APGD(radius=eps, steps=20, restarts=1), PGD(radius=eps, steps=20, start="uniform")


def _raw(eps: float, step: float) -> PGD:
    return PGD(radius=eps, steps=10, step=step, normalised=False, loss="minus_true_logit")


def costly(data: TwoFeaturePatches, eps: float, step: float, points: int) -> tuple[Any, ...]:
    """Attacked errors and correlations with the noise."""
    # the model-free attack is admissible where every β_p ≤ ε
    replaced = (FeatureReplacement(radius=eps, k=data.k),) if data.beta <= eps else ()
    return (
        *(Error(n=POINTS, attacks=(attack,), name="replaced_error") for attack in replaced),
        Error(n=points, attacks=(_raw(eps, step),), name="raw_error"),
        Error(n=points, attacks=_strong(eps), name="strong_error"),
        noise_correlations,
    )


def at_end(by: MarginStep | None, k: int, eps: float, step: float, points: int) -> tuple[Any, ...]:
    """Errors on one kind of feature, under the training attack, the whole suite, every radius."""
    by_radius = {
        "strong_by_radius": _strong(eps),
        "lowering_by_radius": (PGD(radius=eps, steps=10, loss="minus_true_logit"),),
        "saturated_by_radius": (PGD(radius=eps, steps=10, loss="cross_entropy"),),
        "raw_by_radius": (_raw(eps, step),),
        "unproven_by_radius": (),
    }
    return (
        FeatureError("robust", POINTS),
        FeatureError("nonrobust", POINTS),
        *(Error(n=POINTS, attacks=(a,), name="own_attack_error") for a in (by,) if a),
        Error(on="train", attacks=_strong(eps), name="strong_train_error"),
        feature_energy,
        typical_feature_energy,
        Error(n=points, attacks=strong_attacks(math.inf, eps, k), name="suite_error"),
        *(
            ErrorByRadius(attacks=suite, radii=RADII, n=points // 2, name=name)
            for name, suite in by_radius.items()
        ),
    )
