"""Errors and losses of a state. A point is wrong where its margin is ≤ 0."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from adversarium.attacks.gradient import APGD, PGD
from adversarium.probes.scene import Scene
from adversarium.training.states import State


def strong_attacks(
    p: float,
    radius: float,
    k: int,
    box: tuple[float, float] | None = None,
    steps: int = 50,
    targets: int = 9,
) -> tuple[Any, ...]:
    """The evaluation suite: an adaptive ascent on the logit difference, one on each of the
    `targets` strongest wrong classes, and an independent plain ascent as the second opinion."""
    suite: list[Any] = [APGD(p=p, radius=radius, steps=steps, restarts=3, box=box)]
    for rank in range(1, min(k - 1, targets) + 1 if k > 2 else 1):
        loss = f"targeted:{rank}"
        suite.append(APGD(p=p, radius=radius, steps=steps, restarts=1, loss=loss, box=box))
    plain = PGD(p=p, radius=radius, steps=steps, start="uniform", restarts=2, box=box)
    return (*suite, plain)


def worst_margin(state: State, batch: Any, attacks: tuple[Any, ...]) -> Tensor:
    """The smallest margin that any of the attacks finds, never above the clean one.

    Every point meets every attack (until none is left): random starts are then the same
    whatever became of the other points and replicas.
    """
    worst = state.margin(batch)
    for attack in attacks:
        if not (worst > 0).any():
            break
        worst = torch.minimum(worst, state.margin(batch, attack))
    return worst


def error(margins: Tensor) -> Tensor:
    """The share of points without a positive margin (a margin that is no number is wrong)."""
    return 1 - (margins > 0).double().mean(-1)


@dataclass(frozen=True, kw_only=True)
class Error:
    """The share of wrong points, on fresh points or on the training set, clean or attacked.

    `attacks` is "none", "training" (the run's own attack) or a tuple of attacks, of which every
    point meets all.
    """

    on: str = "test"  # test or train
    n: int = 1000  # fresh points (test only)
    attacks: Any = "none"
    name: str = field(default="")

    def __call__(self, state: State, scene: Scene) -> Tensor:
        batch = scene.train if self.on == "train" else scene.test(self.n)
        if self.attacks == "none":
            return error(state.margin(batch))
        if self.attacks == "training":
            return error(state.margin(batch, scene.attack))
        return error(worst_margin(state, batch, self.attacks))


def train_error(state: State, scene: Scene) -> Tensor:
    """Clean training error."""
    return error(state.margin(scene.train))


def robust_train_error(state: State, scene: Scene) -> Tensor:
    """Training error under the run's own attack."""
    return error(state.margin(scene.train, scene.attack))


def risk(state: State, scene: Scene) -> Tensor:
    """The training objective."""
    return state.risk()
