"""Training rules: what turns W⁽ᵗ⁾ into W⁽ᵗ⁺¹⁾, as values."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from adversarium.training.objectives import Risk

Tree = Any  # weights, or what is kept beside them: tensors in any nesting


@dataclass(frozen=True)
class GradientDescent:
    """W ← W − η ∇L(W) on the whole training set; with `every`, η is multiplied by `drop` after so
    many steps, again and again.

    >>> GradientDescent(drop=0.5, every=500).factor(1000)
    0.25
    """

    drop: float = 1.0
    every: int = 0  # never

    later: ClassVar[tuple[str, ...]] = ("drop", "every")  # not of the first version

    def __post_init__(self) -> None:
        if not self.drop > 0 or self.every < 0:
            raise ValueError(
                f"GradientDescent needs drop > 0 and every >= 0, got {self.drop}, {self.every}."
            )

    def factor(self, t: int) -> float:
        """What multiplies η at step t."""
        return self.drop ** (t // self.every) if self.every else 1.0


@dataclass(frozen=True, kw_only=True)
class SGD:
    """Minibatches in random order, momentum and weight decay; η falls to 0 along half a cosine
    or stays.

    >>> sgd, W, g = SGD(momentum=0.5), torch.tensor([1.0]), torch.tensor([2.0])
    >>> W, velocity = sgd.step(W, g, sgd.start(W), eta=0.25, t=0)
    >>> W.item(), sgd.step(W, g, velocity, eta=0.25, t=1)[0].item()
    (0.5, -0.25)
    """

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

    def start(self, W: Tree) -> Tree:
        """The memory before the first step: no velocity."""
        return tree_map(torch.zeros_like, W)

    def step(
        self, W: Tree, gradient: Tree, velocity: Tree, eta: float, t: int
    ) -> tuple[Tree, Tree]:
        """W and the velocity after one step."""
        velocity = tree_map(
            lambda v, g, w: self.momentum * v + g + self.weight_decay * w, velocity, gradient, W
        )
        return tree_map(lambda w, v: w - eta * v, W, velocity), velocity


@dataclass(frozen=True, kw_only=True)
class Adam:
    """Minibatches in random order, steps scaled by running moments of the gradient (Kingma and
    Ba); η falls to 0 along half a cosine or stays.

    >>> adam, W, g = Adam(), torch.ones(2).double(), torch.tensor([100.0, -0.01]).double()
    >>> moved, _ = adam.step(W, g, adam.start(W), eta=0.25, t=0)
    >>> [round(w, 4) for w in moved.tolist()]  # the first step has length η
    [0.75, 1.25]
    """

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

    def start(self, W: Tree) -> Tree:
        """The memory before the first step: both moments 0."""
        return tree_map(torch.zeros_like, W), tree_map(torch.zeros_like, W)

    def step(self, W: Tree, gradient: Tree, memory: Tree, eta: float, t: int) -> tuple[Tree, Tree]:
        """W and the moments after step t = 0, 1, …"""
        first = _blended(self.beta1, memory[0], gradient)
        second = _blended(self.beta2, memory[1], tree_map(torch.square, gradient))
        a, b = 1 - self.beta1 ** (t + 1), 1 - self.beta2 ** (t + 1)

        def moved(w: Tensor, m: Tensor, v: Tensor) -> Tensor:
            return w - eta * (m / a) / ((v / b).sqrt() + 1e-8)

        return tree_map(moved, W, first, second), (first, second)


def _blended(beta: float, old: Tree, new: Tree) -> Tree:
    """β old + (1 − β) new, leaf by leaf."""
    return tree_map(lambda a, b: beta * a + (1 - beta) * b, old, new)


Optimiser = GradientDescent | SGD | Adam


@dataclass(frozen=True, kw_only=True)
class Rule:
    """n training points, `steps` updates of size eta on a risk, by an optimiser.

    >>> rule = Rule(n=100, steps=50, eta=0.1, risk=Risk(loss="exponential"), optimiser=SGD(batch=9))
    >>> rule.risk.loss, rule.optimiser.schedule
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
            raise ValueError(f"training needs a step eta > 0, got {self.eta}.")

    def decayed(self, t: int) -> float:
        """What multiplies η at step t of full-batch descent."""
        return self.optimiser.factor(t) if isinstance(self.optimiser, GradientDescent) else 1.0
