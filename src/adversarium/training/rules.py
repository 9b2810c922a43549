"""Training rules: what turns W⁽ᵗ⁾ into W⁽ᵗ⁺¹⁾, as values."""

from dataclasses import dataclass, field
from typing import Any, Literal

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


@dataclass(frozen=True, kw_only=True)
class Rule:
    """n training points, `steps` updates of size eta on a risk, by an optimiser."""

    n: int
    steps: int
    eta: float
    risk: Risk = field(default_factory=Risk)
    optimiser: Any = field(default_factory=GradientDescent)  # or SGD

    def __post_init__(self) -> None:
        if self.n < 1 or self.steps < 0:
            raise ValueError(
                f"training needs n >= 1 points and steps >= 0, got n={self.n}, steps={self.steps}."
            )
        if not self.eta > 0:
            raise ValueError(f"training needs a step eta > 0, got {self.eta}.")
