"""Probes of the runs of Figure 3 of RNRF: curves, costly errors at a few times, final errors."""

import math
from collections.abc import Iterable
from typing import Any

from adversarium.attacks import APGD, PGD, FeatureReplacement, MarginStep, strong_attacks
from adversarium.data import TwoFeaturePatches
from adversarium.measure.errors import Error, ErrorByRadius, risk, train_error
from adversarium.measure.folds import At

from ...theory.feature_energies import feature_energy, typical_feature_energy
from ...theory.features import nonrobust_features, robust_features
from ...theory.two_features import (
    FeatureError,
    decomposition,
    foreign_nonrobust,
    foreign_robust,
    noise_correlations,
    nonrobust_total,
    outputs,
)

POINTS = 500  # number of points of the cheap errors
RADII = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
_CLEAN_TIMES = (0, 10, 30, 50, 60, 70, 80, 90, 100, 110, 120, 130, 150, 200, 300, 500, 750)


def until(times: Iterable[int], steps: int) -> tuple[int, ...]:
    """Return the given times that lie within a run, and its last step."""
    return (*(t for t in times if t < steps), steps)


def curves(steps: int) -> tuple[Any, ...]:
    """Return the probes that are cheap enough for every record time, and the clean test error."""
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
        At(Error(n=POINTS, name="test_error"), until(_CLEAN_TIMES, steps)),
    )


def _strong(eps: float) -> tuple[APGD | PGD, ...]:
    """Return two strong attacks."""
    return APGD(radius=eps, steps=20, restarts=1), PGD(radius=eps, steps=20, start="uniform")


def _raw(eps: float, step: float) -> PGD:
    """Return ascent along the unnormalised gradient of −F_y."""
    return PGD(radius=eps, steps=10, step=step, normalised=False, loss="minus_true_logit")


def costly(data: TwoFeaturePatches, eps: float, step: float, points: int) -> tuple[Any, ...]:
    """Return probes of errors under attack and of correlations with the noise."""
    # The model-free attack is admissible if every β_p ≤ ε.
    replaced = (FeatureReplacement(radius=eps, k=data.k),) if data.beta <= eps else ()
    return (
        *(Error(n=POINTS, attacks=(attack,), name="replaced_error") for attack in replaced),
        Error(n=points, attacks=(_raw(eps, step),), name="raw_error"),
        Error(n=points, attacks=_strong(eps), name="strong_error"),
        noise_correlations,
    )


def at_end(
    train_attack: MarginStep | None, k: int, eps: float, step: float, points: int
) -> tuple[Any, ...]:
    """Return probes for the end of a run.

    They measure errors on one kind of feature, under the training attack, under all strong attacks,
    and as functions of the radius.
    """
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
        *(Error(n=POINTS, attacks=(a,), name="own_attack_error") for a in (train_attack,) if a),
        Error(on="train", attacks=_strong(eps), name="strong_train_error"),
        feature_energy,
        typical_feature_energy,
        Error(n=points, attacks=strong_attacks(math.inf, eps, k), name="suite_error"),
        *(
            ErrorByRadius(attacks=suite, radii=RADII, n=points // 2, name=name)
            for name, suite in by_radius.items()
        ),
    )
