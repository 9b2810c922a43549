"""A linear part and threshold units: the learner of §4 of CGRM."""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.rng import coins, normal


@dataclass(frozen=True, kw_only=True)
class MixedLearner:
    """f(x) = ⟨w_0, x⟩ + Σ_{i ≤ m} a_i relu(⟨w_i, x⟩ − b), the threshold b fixed, §4 of CGRM.

    w_0 starts at 0, w_i ~ N(0, σ0² I), a_i = ±1 at random; m = 0 is the linear classifier.

    >>> MixedLearner().f({"w_0": torch.tensor([1.0, 2.0])}, torch.tensor([[3.0, 4.0]]))
    tensor([11.])
    """

    m: int = 0
    b: float = 0.0
    sigma0: float = 0.0

    def __post_init__(self) -> None:
        if self.m < 0 or self.sigma0 < 0:
            raise ValueError(
                f"MixedLearner needs m >= 0 and sigma0 >= 0, got m={self.m}, sigma0={self.sigma0}."
            )

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> dict[str, Tensor]:
        """The initial weights."""
        d = math.prod(shape)
        w_0 = torch.zeros(d, dtype=torch.float64)
        if self.m == 0:
            return {"w_0": w_0}
        w = self.sigma0 * normal((self.m, d), rng)
        return {"w_0": w_0, "w": w, "a": coins((self.m,), rng)}

    def f(self, W: dict[str, Tensor], x: Tensor) -> Tensor:
        """One number per point."""
        linear = torch.einsum("...nd,...d->...n", x, W["w_0"])
        if self.m == 0:
            return linear
        active = torch.relu(x @ W["w"].mT - self.b)
        return linear + torch.einsum("...nm,...m->...n", active, W["a"])

    def directions(self, W: dict[str, Tensor]) -> Tensor:
        """The linear part and the units."""
        return (
            torch.cat([W["w_0"][..., None, :], W["w"]], dim=-2)
            if self.m
            else W["w_0"][..., None, :]
        )
