"""Two-layer networks with a fixed top layer: the learners of BOAT and of §5 of CONV."""

import math
from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor

from adversarium.networks.activations import Activation, ReLU
from adversarium.networks.certificates import (
    Spread,
    gamma,
    largest_singular,
    reached,
    refuse_curved,
    spreading,
    unit_bounds,
)
from adversarium.rng import normal
from adversarium.shapes import Float

BLOCK = 2**16  # number of pre-activations that fit in the cache of a core


def signs(m: int, like: Tensor) -> Float[Tensor, " m"]:
    """a: the first half +1, the second half −1, §2 of BOAT."""
    a = torch.ones(m, dtype=like.dtype, device=like.device)
    a[m // 2 :] = -1
    return a


@dataclass(frozen=True, kw_only=True)
class TwoLayer:
    """f(x; W) = m^{−1/2} Σ_s a_s φ(⟨w_s, x⟩) with a_s = ±1 fixed, §2 of BOAT, eq. (4) of CONV.

    w_s ~ N(0, ω² I) for s ≤ m/2 and w_{s+m/2} = w_s, so f(·; W⁽⁰⁾) = 0. CONV draws pairs of
    opposite random signs on equal weights; ordering each pair gives this network.

    >>> W, x = torch.eye(2), torch.tensor([[3.0, 1.0]])
    >>> TwoLayer(m=2).f(W, x)
    tensor([1.4142])
    """

    m: int
    omega: float = 1.0  # ω, standard deviation of the initial weights
    activation: Activation = field(default_factory=ReLU)
    silent = True  # f = 0 everywhere at W⁽⁰⁾, so an attack has no gradient

    def __post_init__(self) -> None:
        if self.m < 2 or self.m % 2:
            raise ValueError(f"TwoLayer needs an even width m >= 2, got {self.m}.")
        if self.omega < 0:
            raise ValueError(f"TwoLayer needs omega >= 0, got {self.omega}.")

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> Float[Tensor, "m d"]:
        """Draw W⁽⁰⁾ with two equal halves."""
        half = self.omega * normal((self.m // 2, math.prod(shape)), rng)
        return torch.cat([half, half])

    def f(self, W: Tensor, x: Tensor) -> Tensor:
        """Return one number per point.

        It is exactly 0 at W⁽⁰⁾, because the halves are subtracted unit by unit.
        """
        rows = max(1, BLOCK // self.m)
        if x.ndim < 2 or x.shape[-2] <= rows or x.device.type != "cpu":
            return self.top(x @ W.mT)
        return torch.cat([self.top(some @ W.mT) for some in torch.split(x, rows, dim=-2)], dim=-1)

    def top(self, h: Tensor) -> Tensor:
        """Return m^{−1/2} Σ_s a_s φ(h_s), computed from the pre-activations."""
        plus, minus = self.activation(h).chunk(2, dim=-1)
        return (plus - minus).sum(-1) / math.sqrt(self.m)

    def directions(self, W: Tensor) -> Tensor:
        """Return the weights of the units."""
        return W

    def interval(self, W: Tensor, x: Tensor, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Return bounds on f over B_p(x, radius), for convex activations.

        ⟨w_s, x'⟩ stays within radius·‖w_s‖_q of ⟨w_s, x⟩. The result is the better of interval
        arithmetic and a linear relaxation.
        """
        W = W.double()
        z, reach, size = reached(W, x.double(), p, radius)
        return self.interval_at(z, reach, size, spreading(W, p, radius), W.shape[-1])

    def interval_at(
        self, h: Tensor, reach: Tensor, size: Tensor, spread: Spread, d: int
    ) -> tuple[Tensor, Tensor]:
        """Return bounds on f if every pre-activation h_s may move by `reach`.

        `size` is the sum of |terms| of h_s, `spread` the function e ↦ radius·‖Σ_s e_s w_s‖_q.
        """
        refuse_curved(self.activation)
        c = signs(self.m, h) / math.sqrt(self.m)
        return unit_bounds(c, self.activation, h, reach, size, spread, d)

    def lipschitz(self, W: Tensor, p: float) -> Tensor:
        """|f(x') − f(x)| ≤ sup|φ'| ‖W‖₂ ‖x' − x‖₂, Lemma 4.2 of BOAT, in the norm p; rounded up."""
        wide = math.sqrt(W.shape[-1]) if p == math.inf else 1.0
        return (1 + gamma(8)) * wide * self.activation.C1 * largest_singular(W)
