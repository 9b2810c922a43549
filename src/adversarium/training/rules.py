"""Training rules: what turns W⁽ᵗ⁾ into W⁽ᵗ⁺¹⁾, as values."""

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch.utils._pytree import tree_map

from adversarium.training.objectives import Risk


@dataclass(frozen=True)
class GradientDescent:
    """W ← W − η ∇L(W) on the whole training set."""


@dataclass(frozen=True, kw_only=True)
class SGD:
    """Minibatches in random order, momentum and weight decay; η falls to 0 along half a cosine
    or stays."""

    batch: int = 64
    momentum: float = 0.9
    weight_decay: float = 0.0
    schedule: Literal["constant", "cosine"] = "cosine"

    def __post_init__(self) -> None:
        if self.batch < 1 or not 0 <= self.momentum < 1 or self.weight_decay < 0:
            raise ValueError(
                "SGD needs batch >= 1, 0 <= momentum < 1 and weight_decay >= 0, got "
                f"batch={self.batch}, momentum={self.momentum}, weight_decay={self.weight_decay}."
            )

    def start(self, W: Any) -> Any:
        """The memory before the first step: no velocity."""
        return tree_map(torch.zeros_like, W)

    def step(self, W: Any, gradient: Any, velocity: Any, eta: float, t: int) -> tuple[Any, Any]:
        """W and the velocity after one step."""
        velocity = tree_map(
            lambda v, g, w: self.momentum * v + g + self.weight_decay * w, velocity, gradient, W
        )
        return tree_map(lambda w, v: w - eta * v, W, velocity), velocity


@dataclass(frozen=True, kw_only=True)
class Adam:
    """Minibatches in random order, steps scaled by running moments of the gradient (Kingma and
    Ba); η falls to 0 along half a cosine or stays."""

    batch: int = 64
    beta1: float = 0.9
    beta2: float = 0.999
    schedule: Literal["constant", "cosine"] = "cosine"

    def __post_init__(self) -> None:
        if self.batch < 1 or not 0 <= self.beta1 < 1 or not 0 <= self.beta2 < 1:
            raise ValueError(
                "Adam needs batch >= 1 and 0 <= beta1, beta2 < 1, got "
                f"batch={self.batch}, beta1={self.beta1}, beta2={self.beta2}."
            )

    def start(self, W: Any) -> Any:
        """The memory before the first step: both moments 0."""
        return tree_map(torch.zeros_like, W), tree_map(torch.zeros_like, W)

    def step(self, W: Any, gradient: Any, memory: Any, eta: float, t: int) -> tuple[Any, Any]:
        """W and the moments after step t = 0, 1, …"""
        blend = lambda beta: lambda old, new: beta * old + (1 - beta) * new
        first = tree_map(blend(self.beta1), memory[0], gradient)
        second = tree_map(blend(self.beta2), memory[1], tree_map(torch.square, gradient))
        a, b = 1 - self.beta1 ** (t + 1), 1 - self.beta2 ** (t + 1)
        move = lambda w, m, v: w - eta * (m / a) / ((v / b).sqrt() + 1e-8)
        return tree_map(move, W, first, second), (first, second)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """n training points, `steps` updates of size eta on a risk, by an optimiser."""

    n: int
    steps: int
    eta: float
    risk: Risk = field(default_factory=Risk)
    optimiser: Any = field(default_factory=GradientDescent)  # or SGD, Adam

    def __post_init__(self) -> None:
        if self.n < 1 or self.steps < 0:
            raise ValueError(
                f"training needs n >= 1 points and steps >= 0, got n={self.n}, steps={self.steps}."
            )
        if not self.eta > 0:
            raise ValueError(f"training needs a step eta > 0, got {self.eta}.")
