"""Training rules: descriptions of the step from W⁽ᵗ⁾ to W⁽ᵗ⁺¹⁾."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from adversarium.rng import Streams, integers
from adversarium.training.objectives import Risk

Tree = Any  # weights or optimiser memory: tensors in any nesting


@dataclass(frozen=True)
class GradientDescent:
    """W ← W − η ∇L(W) on the whole training set.

    If `every` is positive, η is multiplied by `drop` after every `every` steps.

    >>> GradientDescent(drop=0.5, every=500).factor(1000)
    0.25
    """

    drop: float = 1.0
    every: int = 0  # 0: never

    later: ClassVar[tuple[str, ...]] = ("drop", "every")  # fields added after the first version

    def __post_init__(self) -> None:
        if not self.drop > 0 or self.every < 0:
            raise ValueError(
                f"GradientDescent needs drop > 0 and every >= 0, got drop={self.drop}, "
                f"every={self.every}."
            )

    def factor(self, t: int) -> float:
        """Return the factor of η at step t."""
        return self.drop ** (t // self.every) if self.every else 1.0


@dataclass(frozen=True, kw_only=True)
class Triangular:
    """η rises linearly from 0 to full size at the share `peak` of all steps, then falls to 0.

    >>> [Triangular(peak=0.25).factor(t, steps=8) for t in (0, 1, 2, 5, 8)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    peak: float = 0.4

    def __post_init__(self) -> None:
        if not 0 <= self.peak <= 1:
            raise ValueError(f"Triangular needs 0 <= peak <= 1, got {self.peak}.")

    def factor(self, t: int, steps: int) -> float:
        """Return the factor of η at step t."""
        rising, place = self.peak * steps, min(t, steps)
        if place < rising:
            return place / rising
        return (steps - place) / max(steps - rising, 1e-300)


@dataclass(frozen=True, kw_only=True)
class Piecewise:
    """η is multiplied by `drop` at each of the given shares of all steps.

    >>> [Piecewise(at=(0.5, 0.75), drop=0.1).factor(t, steps=8) for t in (0, 4, 7)]
    [1.0, 0.1, 0.010000000000000002]
    """

    at: tuple[float, ...] = (0.5, 0.75)
    drop: float = 0.1

    def __post_init__(self) -> None:
        if not self.drop > 0 or not all(0 <= share <= 1 for share in self.at):
            raise ValueError(
                "Piecewise needs drop > 0 and shares in [0, 1], got "
                f"drop={self.drop}, at={self.at}."
            )

    def factor(self, t: int, steps: int) -> float:
        """Return the factor of η at step t."""
        return float(self.drop ** sum(t >= share * steps for share in self.at))


@dataclass(frozen=True, kw_only=True)
class CropFlip:
    """Augmentation of images: a random crop after padding by `pad` zeros on each side, and a
    horizontal reflection with probability ½, drawn from the stream of each seed."""

    pad: int = 4
    flip: bool = True

    def __call__(self, x: Tensor, rng: Streams) -> Tensor:
        """Crop and reflect the images x, (seed, batch, channel, height, width)."""
        shape, places = x.shape[:2], 2 * self.pad + 1
        down, right = (integers(places, shape, rng).to(x.device) for _ in range(2))
        turned = (integers(2, shape, rng) == 1).to(x.device) if self.flip else None
        return self.moved(x, down, right, turned)

    def moved(self, x: Tensor, down: Tensor, right: Tensor, turned: Tensor | None) -> Tensor:
        """Return every image cropped at its place and reflected where `turned` is true; the last
        three arguments have one entry per image, (seed, batch)."""
        *_, height, width = x.shape
        padded = torch.nn.functional.pad(x, (self.pad,) * 4)
        rows = (down[..., None] + torch.arange(height, device=x.device))[:, :, None, :, None]
        columns = (right[..., None] + torch.arange(width, device=x.device))[:, :, None, None, :]
        if turned is not None:
            columns = torch.where(turned[:, :, None, None, None], columns.flip(-1), columns)
        seeds = torch.arange(x.shape[0], device=x.device)[:, None, None, None, None]
        points = torch.arange(x.shape[1], device=x.device)[None, :, None, None, None]
        channels = torch.arange(x.shape[2], device=x.device)[None, None, :, None, None]
        return padded[seeds, points, channels, rows, columns]


@runtime_checkable
class Scheduled(Protocol):
    """A schedule of the step size: `factor` multiplies η at step t of all `steps`."""

    def factor(self, t: int, steps: int) -> float: ...


StepSchedule = Literal["constant", "cosine"] | Scheduled
_LATER = ("augment", "autocast", "clip", "attack_mode", "average")  # added after rows were stored
Mode = Literal["evaluation", "training"]


def step_factor(schedule: StepSchedule, t: int, steps: int) -> float:
    """Return the factor of η at step t of a schedule.

    >>> step_factor("cosine", 5, 10), step_factor("constant", 5, 10)
    (0.5, 1.0)
    """
    if isinstance(schedule, Scheduled):
        return schedule.factor(t, steps)
    return 1.0 if schedule == "constant" else (1 + math.cos(math.pi * t / steps)) / 2


def clipped(gradient: Tree, most: float | None) -> Tree:
    """Scale the gradient of every seed down to a norm of at most `most`."""
    if most is None:
        return gradient
    squares = [g.flatten(1).square().sum(1) for g in tree_leaves(gradient)]
    length = torch.stack(squares).sum(0).sqrt()
    factor = (most / length.clamp_min(1e-300)).clamp_max(1.0)
    return tree_map(lambda g: g * factor.to(g).view(-1, *[1] * (g.ndim - 1)), gradient)


@dataclass(frozen=True, kw_only=True)
class SGD:
    """Minibatches in random order with momentum and weight decay.

    `schedule` is "constant", "cosine" (η falls to 0 along half a cosine), Triangular(…),
    Piecewise(…) or your own dataclass with a method `factor(t, steps)`; `augment` transforms the
    images of a batch; `autocast` runs network and attack in mixed precision; `clip` bounds the norm
    of the gradient. With `attack_mode="training"`, the training attack sees batch statistics, as in
    much published code. With `average=a`, what is measured are not the last weights W but their
    running average, a·average + (1 − a)·W after every step (at first with a smaller a).

    >>> sgd, W, g = SGD(momentum=0.5), torch.tensor([1.0]), torch.tensor([2.0])
    >>> W, velocity = sgd.step(W, g, sgd.start(W), eta=0.25, t=0)
    >>> W.item(), sgd.step(W, g, velocity, eta=0.25, t=1)[0].item()
    (0.5, -0.25)
    """

    batch: int = 64
    momentum: float = 0.9
    weight_decay: float = 0.0
    schedule: StepSchedule = "cosine"
    augment: Callable[[Tensor, Streams], Tensor] | None = None
    autocast: Literal["bfloat16", "float16"] | None = None
    clip: float | None = None
    attack_mode: Mode = "evaluation"
    average: float | None = None

    later: ClassVar[tuple[str, ...]] = _LATER

    def __post_init__(self) -> None:
        _require_options(self)
        if self.batch < 1 or not 0 <= self.momentum < 1 or self.weight_decay < 0:
            raise ValueError(
                "SGD needs batch >= 1, 0 <= momentum < 1 and weight_decay >= 0, got "
                f"batch={self.batch}, momentum={self.momentum}, weight_decay={self.weight_decay}."
            )

    def start(self, W: Tree) -> Tree:
        """Return the memory before the first step: zero velocity."""
        return tree_map(torch.zeros_like, W)

    def step(
        self, W: Tree, gradient: Tree, velocity: Tree, eta: float, t: int
    ) -> tuple[Tree, Tree]:
        """Return W and the velocity after one step."""
        velocity = tree_map(
            lambda v, g, w: self.momentum * v + g + self.weight_decay * w, velocity, gradient, W
        )
        return tree_map(lambda w, v: w - eta * v, W, velocity), velocity


@dataclass(frozen=True, kw_only=True)
class Adam:
    """Minibatches in random order, with steps scaled by running moments of the gradient (Kingma and
    Ba); the options from `schedule` on have the same meaning as for SGD.

    >>> adam, W, g = Adam(), torch.ones(2).double(), torch.tensor([100.0, -0.01]).double()
    >>> moved, _ = adam.step(W, g, adam.start(W), eta=0.25, t=0)
    >>> [round(w, 4) for w in moved.tolist()]  # the first step has length η
    [0.75, 1.25]
    """

    batch: int = 64
    beta1: float = 0.9
    beta2: float = 0.999
    schedule: StepSchedule = "cosine"
    augment: Callable[[Tensor, Streams], Tensor] | None = None
    autocast: Literal["bfloat16", "float16"] | None = None
    clip: float | None = None
    attack_mode: Mode = "evaluation"
    average: float | None = None

    later: ClassVar[tuple[str, ...]] = _LATER

    def __post_init__(self) -> None:
        _require_options(self)
        if self.batch < 1 or not 0 <= self.beta1 < 1 or not 0 <= self.beta2 < 1:
            raise ValueError(
                "Adam needs batch >= 1 and 0 <= beta1, beta2 < 1, got "
                f"batch={self.batch}, beta1={self.beta1}, beta2={self.beta2}."
            )

    def start(self, W: Tree) -> Tree:
        """Return the memory before the first step: both moments are 0."""
        return tree_map(torch.zeros_like, W), tree_map(torch.zeros_like, W)

    def step(self, W: Tree, gradient: Tree, memory: Tree, eta: float, t: int) -> tuple[Tree, Tree]:
        """Return W and the moments after step t = 0, 1, …"""
        first = _blended(self.beta1, memory[0], gradient)
        second = _blended(self.beta2, memory[1], tree_map(torch.square, gradient))
        a, b = 1 - self.beta1 ** (t + 1), 1 - self.beta2 ** (t + 1)

        def moved(w: Tensor, m: Tensor, v: Tensor) -> Tensor:
            return w - eta * (m / a) / ((v / b).sqrt() + 1e-8)

        return tree_map(moved, W, first, second), (first, second)


def _require_options(optimiser: "SGD | Adam") -> None:
    autocast, augment, clip = optimiser.autocast, optimiser.augment, optimiser.clip
    schedule, average, mode = optimiser.schedule, optimiser.average, optimiser.attack_mode
    if autocast not in (None, "bfloat16", "float16"):
        raise ValueError(
            f"an optimiser needs autocast bfloat16, float16 or None, got {autocast!r}."
        )
    if augment is not None and not callable(augment):
        raise ValueError(
            f"an optimiser needs a function augment(x, rng), or None, got {augment!r}."
        )
    if clip is not None and not clip > 0:
        raise ValueError(f"an optimiser needs clip > 0 or None, got {clip}.")
    if mode not in ("evaluation", "training"):
        raise ValueError(f"an optimiser needs attack_mode evaluation or training, got {mode!r}.")
    if average is not None and not 0 < average < 1:
        raise ValueError(f"an optimiser needs 0 < average < 1 or None, got {average}.")
    own = isinstance(schedule, Scheduled) and not isinstance(schedule, type)
    if not own and schedule not in ("constant", "cosine"):
        raise ValueError(
            "a schedule must be constant, cosine, Triangular(peak=…), Piecewise(at=…, drop=…) or "
            f"an object with a method factor(t, steps), got {schedule!r}."
        )


def _blended(beta: float, old: Tree, new: Tree) -> Tree:
    """Return β old + (1 − β) new, leaf by leaf."""
    return tree_map(lambda a, b: beta * a + (1 - beta) * b, old, new)


Optimiser = GradientDescent | SGD | Adam


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A training rule: n points, and `steps` updates of size eta on a risk by an optimiser.

    >>> risk, optimiser = Risk(loss="exponential"), SGD(batch=9)
    >>> recipe = Recipe(n=100, steps=50, eta=0.1, risk=risk, optimiser=optimiser)
    >>> recipe.risk.loss, recipe.optimiser.schedule
    ('exponential', 'cosine')
    """

    n: int
    steps: int
    eta: float
    risk: Risk = field(default_factory=Risk)
    optimiser: Optimiser = field(default_factory=GradientDescent)

    def __post_init__(self) -> None:
        if self.n < 1 or self.steps < 0:
            raise ValueError(
                f"training needs n >= 1 points and steps >= 0, got n={self.n}, steps={self.steps}."
            )
        if not self.eta > 0:
            raise ValueError(f"training needs a step size eta > 0, got {self.eta}.")

    def decayed(self, t: int) -> float:
        """Return the factor of η at step t of GradientDescent; 1 for other optimisers."""
        return self.optimiser.factor(t) if isinstance(self.optimiser, GradientDescent) else 1.0
