"""Attack the trained network of a run by every attack at every radius, and certify it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import Tensor

from adversarium import attacks
from adversarium.attacks import APGD, FGSM, PGD, Ball, PatchTransplant, strong_attacks
from adversarium.attacks.gradient import NoGradient, flat
from adversarium.measure.bracket import bracket
from adversarium.measure.errors import error, hunt, worst_margin
from adversarium.measure.scene import Scene
from adversarium.plans.run import Run
from adversarium.runs.jobs import resolve
from adversarium.runs.training_stream import state_at
from adversarium.sockets import (
    AnyState,
    Attack,
    Batch,
    Bounded,
    Certified,
    Named,
    PatchAdditive,
    Region,
    Structured,
)
from adversarium.training.objectives import logit_difference

SUITE = "all strong attacks"


@dataclass(frozen=True)
class Strengths:
    """Errors by attack and radius: errors[attack] has one number per radius."""

    p: float
    radii: tuple[float, ...]
    errors: dict[str, list[float]]
    proven: list[float]  # an upper bound from a certificate; empty if there is none
    floor: list[float] = field(default_factory=list)  # lower bound for every classifier, if known
    members: dict[str, list[int]] = field(default_factory=dict)  # points that each misclassified
    flat: list[float] = field(default_factory=list)  # share of correct points without a gradient


def named(part: Named) -> Attack:
    """Return the attack that a data distribution describes by class name and fields."""
    attack: Attack = getattr(attacks, part.part)(**part.fields)
    return attack


def ball_of(run: Run) -> Region | None:
    """Return the ball of the training attack, if it has one."""
    return run.attack.ball if isinstance(run.attack, Bounded) else None


def attacks_of(run: Run, batch: Batch, p: float, radius: float) -> dict[str, tuple[Attack, ...]]:
    """Return the attacks at one radius by name: gradient attacks, the run's training attack, an
    attack on patches if the network is a sum over patches, and attacks of the data distribution
    that do not use the network."""
    k, ball = run.data.k, ball_of(run)
    box = ball.box if ball is not None else None
    common: dict[str, Any] = dict(p=p, radius=radius, box=box)
    suite: dict[str, tuple[Attack, ...]] = {
        "FGSM, logit difference": (FGSM(**common),),
        "PGD-20, cross-entropy": (PGD(**common, loss="cross_entropy"),),
        "PGD-20, −F_y": (PGD(**common, loss="minus_true_logit"),),
        "PGD-20, raw gradient, step 10": (PGD(**common, step=10.0, normalised=False),),
        "PGD-10, raw gradient of −F_y, step 1e3": (
            PGD(**common, steps=10, step=1e3, normalised=False, loss="minus_true_logit"),
        ),
        "APGD, logit difference": (APGD(**common),),
        SUITE: strong_attacks(p, radius, k, box=box, targets=3),
    }
    if ball is not None:
        suite["training attack"] = (replace(cast(Any, run.attack), radius=radius),)
    if isinstance(run.network, PatchAdditive) and p == 2 and box is None:
        suite["one patch's direction on another"] = (PatchTransplant(radius=radius),)
    if isinstance(run.data, Structured):
        model_free = run.data.model_free(batch, p, radius)
        suite |= {name: (named(part),) for name, part in model_free.items()}
    return suite


def member(attack: Attack) -> str:
    """Return the name of one attack of the suite: its class, and its loss if that is targeted."""
    aim = str(getattr(attack, "loss", ""))
    return type(attack).__name__ + (f", {aim}" if aim.startswith("targeted") else "")


def flat_share(state: AnyState, run: Run, batch: Batch, margins: Tensor, ball: Region) -> float:
    """Return the share of points that no attack misclassified but at which the gradient vanishes or
    does not exist. For such points, gradient attacks are no evidence of robustness."""

    def loss(x: Tensor) -> Tensor:
        return logit_difference(run.network.f(state.W, x), batch.y)

    if not ball.radius:
        return 0.0
    try:
        blind = flat(loss, batch.x, ball.p, ball.radius)
    except NoGradient:
        blind = torch.ones_like(margins, dtype=torch.bool)
    return float((blind & (margins > 0)).double().mean())


def default_radii(run: Run) -> tuple[float, tuple[float, ...]]:
    """Return the norm of the training attack and eight radii up to 1.5 times its radius. If it has
    no ball, use the norm and radius that the data suggest, or p = 2 and radius 1."""
    ball = ball_of(run)
    p, top = 2.0, 1.0
    if ball is not None:
        p, top = ball.p, ball.radius
    elif isinstance(run.data, Structured):
        p, top = run.data.budget
    return p, tuple(round(top * f, 6) for f in (0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5))


def strengths(
    run: Run,
    seed: int,
    radii: Sequence[float] = (),
    n: int = 200,
    device: str = "cpu",
    checkpoints: str = "",
) -> Strengths:
    """Attack the final network of one seed on n fresh points with every attack. The network comes
    from its last checkpoint, or is trained.

    The row `SUITE` is the largest error that any attack found at this radius or at a smaller one.
    """
    p, usual = default_radii(run)
    chosen = tuple(sorted(radii)) or usual
    job = resolve(run)
    assert job.engine is not None
    state = state_at(job, seed, run.steps, device, checkpoints)
    scene = Scene(job.problem((seed,), device))
    batch = scene.test(n)
    errors: dict[str, list[float]] = {}
    proven: list[float] = []
    members: dict[str, list[int]] = {}
    asleep: list[float] = []
    for i, radius in enumerate(chosen):
        for name, suite in attacks_of(run, batch, p, radius).items():
            row = errors.setdefault(name, [math.nan] * len(chosen))
            if name != SUITE:
                row[i] = float(error(worst_margin(state, batch, suite)))
                continue
            margins = list(hunt(state, batch, suite))
            row[i] = float(error(margins[-1]))
            wrong = [int((~(found > 0)).sum()) for found in margins]
            for attack, before, after in zip(suite, wrong, wrong[1:], strict=False):
                found = members.setdefault(member(attack), [0] * len(chosen))
                found[i] += after - before
            asleep.append(flat_share(state, run, batch, margins[-1], Ball(p, radius)))
        if isinstance(run.network, Certified):
            _, open_ = bracket(state, scene, batch, p, radius, ())
            proven.append(float(open_))
    best = torch.tensor([list(row) for row in errors.values()]).nan_to_num(0).amax(0)
    errors[SUITE] = best.cummax(0).values.tolist()
    floor: list[float] = []
    if isinstance(run.data, Structured):
        floor = [1 - run.data.ceiling(p, radius) for radius in chosen]
    return Strengths(p, chosen, errors, proven, floor if any(floor) else [], members, asleep)
