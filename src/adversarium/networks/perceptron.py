"""A ReLU network with one hidden layer, all of its weights trained."""

import math
from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor

from adversarium.networks.activations import Activation, ReLU
from adversarium.rng import uniform


@dataclass(frozen=True, kw_only=True)
class Perceptron:
    """f(x) = Σ_s a_s φ(⟨w_s, x⟩ + b_s) + c, initial weights uniform within 1/√(inputs)."""

    m: int
    activation: Activation = field(default_factory=ReLU)

    def __post_init__(self) -> None:
        if self.m < 1:
            raise ValueError(f"Perceptron needs m >= 1, got {self.m}.")

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> dict[str, Tensor]:
        """The initial weights."""
        d = math.prod(shape)
        draw = lambda size, inputs: (2 * uniform(size, rng) - 1) / math.sqrt(inputs)
        sizes = {"w": ((self.m, d), d), "b": ((self.m,), d), "a": ((self.m,), self.m)}
        return {name: draw(*size) for name, size in sizes.items()} | {"c": draw((), self.m)}

    def f(self, W: dict[str, Tensor], x: Tensor) -> Tensor:
        """One number per point."""
        h = self.activation(x @ W["w"].mT + W["b"][..., None, :])
        return torch.einsum("...nm,...m->...n", h, W["a"]) + W["c"][..., None]
