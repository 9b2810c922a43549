"""A network with one hidden layer; by default, of ReLU units with all weights trained."""

import math
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Generator, Tensor

from adversarium.networks.activations import Activation, ReLU
from adversarium.networks.certificates import (
    gamma,
    largest_singular,
    reached,
    refuse_curved,
    spreading,
    unit_bounds,
)
from adversarium.networks.duals import dual
from adversarium.networks.two_layer import signs
from adversarium.rng import uniform


def _within(size: tuple[int, ...], inputs: int, rng: Generator) -> Tensor:
    """Draw uniform numbers between −1/√(inputs) and 1/√(inputs)."""
    return (2 * uniform(size, rng) - 1) / math.sqrt(inputs)


@dataclass(frozen=True, kw_only=True)
class Perceptron:
    """f(x) = Σ_s a_s φ(⟨w_s, x⟩ + b_s) + c, initial weights uniform in ±1/√(inputs).

    Without `biases`, b and c stay 0. If `top` is "fixed", a and c keep their initial values; if it
    is "signs", a stays ±1/√m (half of each sign) and c stays 0.

    >>> from adversarium.rng import stream
    >>> W = Perceptron(m=3).init(stream(0, "init"), (2,), k=1)
    >>> {name: tuple(w.shape) for name, w in W.items()}
    {'w': (3, 2), 'b': (3,), 'a': (3,), 'c': ()}
    """

    m: int
    activation: Activation = field(default_factory=ReLU)
    biases: bool = True
    top: Literal["trained", "fixed", "signs"] = "trained"

    later = ("biases", "top")  # fields added after the first version

    def __post_init__(self) -> None:
        if self.m < 1:
            raise ValueError(f"Perceptron needs m >= 1, got {self.m}.")
        if self.top not in ("trained", "fixed", "signs"):
            raise ValueError(
                f"Perceptron needs top to be trained, fixed or signs, got {self.top!r}."
            )
        if self.top == "signs" and self.m % 2:
            raise ValueError(f"Perceptron with top=signs needs an even width m, got {self.m}.")

    @property
    def still(self) -> frozenset[str]:
        """The names of the weights that training does not change."""
        named = ("b", "c") * (not self.biases) + ("a", "c") * (self.top != "trained")
        return frozenset(named)

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> dict[str, Tensor]:
        """Draw the initial weights."""
        d = math.prod(shape)
        drawn = {
            "w": _within((self.m, d), d, rng),
            "b": _within((self.m,), d, rng),
            "a": _within((self.m,), self.m, rng),
            "c": _within((), self.m, rng),
        }
        if self.top == "signs":
            drawn |= {"a": signs(self.m, drawn["a"]) / math.sqrt(self.m), "c": 0 * drawn["c"]}
        without = () if self.biases else ("b", "c")
        return {name: 0 * w if name in without else w for name, w in drawn.items()}

    def f(self, W: dict[str, Tensor], x: Tensor) -> Tensor:
        """Return one number per point."""
        b, a, c = (self._held(name, W[name]) for name in ("b", "a", "c"))
        h = self.activation(x @ W["w"].mT + b[..., None, :])
        return torch.einsum("...nm,...m->...n", h, a) + c[..., None]

    def _held(self, name: str, w: Tensor) -> Tensor:
        """Return the weights, detached from the gradient if training does not change them."""
        return w.detach() + 0 * w if name in self.still else w

    def directions(self, W: dict[str, Tensor]) -> Tensor:
        """Return the weights of the units."""
        return W["w"]

    def interval(
        self, W: dict[str, Tensor], x: Tensor, p: float, radius: float
    ) -> tuple[Tensor, Tensor]:
        """Return bounds on f over B_p(x, radius), for convex activations."""
        refuse_curved(self.activation)
        w, b, a, c = (W[name].double() for name in ("w", "b", "a", "c"))
        z, reach, size = reached(w, x.double(), p, radius, b[..., None, :])
        spread, d = spreading(w, p, radius), w.shape[-1]
        return unit_bounds(
            a[..., None, :], self.activation, z, reach, size, spread, d, c[..., None]
        )

    def lipschitz(self, W: dict[str, Tensor], p: float) -> Tensor:
        """|f(x') − f(x)| ≤ sup|φ'| min{‖a‖₂‖W‖₂, Σ_s|a_s|‖w_s‖} ‖x' − x‖, in the norm p; rounded
        up."""
        w, a = W["w"].double(), W["a"].double()
        wide = math.sqrt(w.shape[-1]) if p == math.inf else 1.0
        spectral = wide * a.norm(dim=-1) * largest_singular(w)
        summed = (a.abs() * w.norm(dual(p), dim=-1)).sum(-1)
        least: Tensor = torch.minimum(spectral, summed)
        return (1 + gamma(2 * sum(w.shape[-2:]))) * self.activation.C1 * least
