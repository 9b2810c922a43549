"""Every attack × radius on the trained networks of a run, with the certified bracket."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from adversarium.attacks import (
    APGD,
    FGSM,
    GTA,
    PGD,
    FeatureCollision,
    FeatureReplacement,
    UniversalFeature,
)
from adversarium.experiments.spec import Run
from adversarium.probes.bracket import bracket
from adversarium.probes.errors import error, strong_attacks, worst_margin
from adversarium.sweeps.run import states


@dataclass(frozen=True)
class Strengths:
    """Errors by attack and radius: errors[attack] has one number per radius."""

    p: float
    radii: tuple[float, ...]
    errors: dict[str, list[float]]
    proven: list[float]  # the share that no certificate covers; empty where there is none


def attacks_of(
    run: Run, batch: Any, p: float, radius: float, box: Any
) -> dict[str, tuple[Any, ...]]:
    """The named attacks at one radius: the run's own, by gradient for every network, model-free
    where the data keep their latent draw."""
    k = run.data.k
    common = dict(p=p, radius=radius, box=box)
    found: dict[str, tuple[Any, ...]] = {
        "FGSM, logit difference": (FGSM(**common),),
        "PGD-20, cross-entropy": (PGD(**common, loss="cross_entropy"),),
        "PGD-20, −F_y": (PGD(**common, loss="minus_true_logit"),),
        "PGD-20, raw gradient, step 10": (PGD(**common, step=10.0, normalised=False),),
        "PGD-10, raw gradient of −F_y, step 1e3": (
            PGD(**common, steps=10, step=1e3, normalised=False, loss="minus_true_logit"),
        ),
        "APGD, logit difference": (APGD(**common),),
        "all strong attacks": strong_attacks(p, radius, k, box=box, targets=3),
    }
    if hasattr(run.attack, "radius"):
        found["training attack"] = (replace(run.attack, radius=radius),)
    if hasattr(run.data, "n_robust") and p == math.inf:
        if radius >= float(batch.strength[~batch.is_robust].max()):
            found["model-free (Thm 4.3 of RNRF)"] = (FeatureReplacement(radius=radius, k=k),)
            constant = run.data.strengths == "constant"
            if constant and radius <= run.data.alpha <= 2 * radius:
                collide = FeatureCollision(radius=radius, alpha=run.data.alpha, k=k)
                found["collision list"] = (collide,)
        found["universal −εu_y + εu_j"] = (UniversalFeature(radius=radius, k=k),)
    if hasattr(run.data, "alpha") and hasattr(run.data, "sigma") and p == 2:
        found["GTA"] = (GTA(gamma=min(1.0, radius / run.data.alpha)),)
    return found


def default_radii(run: Run) -> tuple[float, tuple[float, ...]]:
    """The norm of the training attack and eight radii up to one and a half times its own; l2 up
    to the length of a typical point's signal where there is none."""
    ball = getattr(run.attack, "ball", None)
    if ball is not None:
        p, top = ball.p, ball.radius
    elif hasattr(run.data, "n_robust"):
        p, top = math.inf, run.data.alpha / 2
    else:
        p, top = 2, float(getattr(run.data, "alpha", getattr(run.data, "mu", 1.0)))
    return p, tuple(round(top * f, 6) for f in (0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5))


def strengths(
    run: Run, seed: int, radii: Sequence[float] = (), n: int = 200, device: str = "cpu"
) -> Strengths:
    """Trains one seed and attacks its final network on n fresh points with everything there is.

    A stronger attack never reports less than a weaker one found at a smaller radius: the strong
    row is the running maximum of all rows.
    """
    p, own = default_radii(run)
    chosen = tuple(sorted(radii)) or own
    _, scene, iterator = states(run, (seed,), device)
    *_, state = iterator
    batch = scene.test(n)
    box = getattr(getattr(run.attack, "ball", None), "box", None)
    errors: dict[str, list[float]] = {}
    proven: list[float] = []
    for radius in chosen:
        for name, suite in attacks_of(run, batch, p, radius, box).items():
            row = errors.setdefault(name, [math.nan] * len(chosen))
            row[chosen.index(radius)] = float(error(worst_margin(state, batch, suite)))
        if hasattr(run.network, "interval"):
            _, open_ = bracket(state, scene, batch, p, radius, ())
            proven.append(float(open_))
    best = torch.tensor([list(row) for row in errors.values()]).nan_to_num(0).amax(0)
    errors["all strong attacks"] = best.cummax(0).values.tolist()
    return Strengths(p, chosen, errors, proven)
