"""A linear part and threshold units: the learner of §4 of CGRM."""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.networks.activations import ReLU
from adversarium.networks.certificates import reached, slack, spreading, unit_bounds
from adversarium.rng import coins, normal


@dataclass(frozen=True, kw_only=True)
class MixedLearner:
    """f(x) = ⟨w_0, x⟩ + Σ_{i ≤ m} a_i relu(⟨w_i, x⟩ − b), with fixed b, §4 of CGRM.

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
        """Draw the initial weights."""
        d = math.prod(shape)
        w_0 = torch.zeros(d, dtype=torch.float64)
        if self.m == 0:
            return {"w_0": w_0}
        w = self.sigma0 * normal((self.m, d), rng)
        return {"w_0": w_0, "w": w, "a": coins((self.m,), rng)}

    def f(self, W: dict[str, Tensor], x: Tensor) -> Tensor:
        """Return one number per point."""
        linear = torch.einsum("...nd,...d->...n", x, W["w_0"])
        if self.m == 0:
            return linear
        active = torch.relu(x @ W["w"].mT - self.b)
        return linear + torch.einsum("...nm,...m->...n", active, W["a"])

    def directions(self, W: dict[str, Tensor]) -> Tensor:
        """Return the weights of the linear part and of the units."""
        linear = W["w_0"][..., None, :]
        return torch.cat([linear, W["w"]], dim=-2) if self.m else linear

    def interval(
        self, W: dict[str, Tensor], x: Tensor, p: float, radius: float
    ) -> tuple[Tensor, Tensor]:
        """Return bounds on f over B_p(x, radius); exact if no unit switches inside the ball."""
        held = {name: v.double() for name, v in W.items()}
        w_0, x = held["w_0"], x.double()
        w = held["w"] if self.m else torch.zeros_like(w_0)[..., None, :]
        a = held["a"] if self.m else torch.zeros_like(w[..., 0])
        z, reach, size = reached(w, x, p, radius, -self.b)
        linear = torch.einsum("...nd,...d->...n", x, w_0)
        terms = torch.einsum("...nd,...d->...n", x.abs(), w_0.abs())
        spread = spreading(w, p, radius, w_0[..., None, :])
        d = x.shape[-1]
        low, high = unit_bounds(a[..., None, :], ReLU(), z, reach, size, spread, d, linear)
        give = slack(d, terms)
        return low - give, high + give
