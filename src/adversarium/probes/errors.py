"""Errors and losses of a state. A point is wrong where its margin is ≤ 0."""

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from adversarium.attacks.gradient import APGD, PGD
from adversarium.data.batches import picked
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

    The first attack meets every point, the others the survivors of one replica at a time: what a
    seed's points meet does not depend on the other seeds.
    """
    worst = state.margin(batch)
    for attack in attacks[:1]:
        if (worst > 0).any():
            worst = torch.minimum(worst, state.margin(batch, attack))
    for i in range(len(worst) if attacks[1:] else 0):
        alone = state.full.replica(i)
        for attack in attacks[1:]:
            alive = (worst[i] > 0).nonzero().squeeze(-1)
            if len(alive):
                found = alone.margin(picked(batch, i, alive), attack)[0]
                worst[i, alive] = torch.minimum(worst[i, alive], found)
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


@dataclass(frozen=True, kw_only=True)
class ErrorByRadius:
    """The share of wrong points under attacks of several radii: name[i] at radii[i]. A stronger
    budget never counts less: each radius keeps what a smaller one broke. Without attacks: the
    share whose robustness no interval bound proves (l_inf)."""

    attacks: tuple[Any, ...]
    radii: tuple[float, ...]  # rising
    n: int
    name: str

    def __post_init__(self) -> None:
        if list(self.radii) != sorted(set(self.radii)):
            raise ValueError(f"ErrorByRadius needs rising radii, got {self.radii}.")

    def __call__(self, state: State, scene: Scene) -> Tensor:
        batch = scene.test(self.n)
        found = []
        for radius in self.radii:
            if self.attacks:
                suite = tuple(replace(attack, radius=radius) for attack in self.attacks)
                found.append(error(worst_margin(state, batch, suite)))
            else:
                found.append(error(certified_margin(state, batch, torch.inf, radius)))
        return torch.stack(found, dim=-1).cummax(-1).values


def certified_margin(state: State, batch: Any, p: float, radius: float) -> Tensor:
    """A lower bound of the margin over B_p(x, radius) by interval arithmetic; where it is
    positive, robustness is proven."""
    low, high = state.interval(batch, p, radius)
    if low.ndim == batch.y.ndim:
        return torch.where(batch.y > 0, low, -high)
    truth = batch.y[..., None]
    others = high.scatter(-1, truth, -torch.inf)
    return low.gather(-1, truth).squeeze(-1) - others.amax(-1)


def train_error(state: State, scene: Scene) -> Tensor:
    """Clean training error."""
    return error(state.margin(scene.train))


def robust_train_error(state: State, scene: Scene) -> Tensor:
    """Training error under the run's own attack."""
    return error(state.margin(scene.train, scene.attack))


def risk(state: State, scene: Scene) -> Tensor:
    """The training objective."""
    return state.risk()
