"""Explicit classifiers that memorise every point (CGRO), or only points of small margin (CGRM)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from adversarium.constructions.parts import clip, distance, least, product, soft_indicator
from adversarium.constructions.relu import (
    affine,
    identity,
    in_parallel,
    numbers,
    on_same_input,
    then,
)
from adversarium.shapes import Float

Gate = Literal["product", "exact"]


def linear_clean(D: int, eps0: float) -> nn.Sequential:
    """f_clean(x) = clip((x_D − ½)/ε0): correct at x_D = ½ ± ε0, but not robust there.

    >>> f = linear_clean(2, eps0=0.25)
    >>> f(torch.tensor([[0.9, 0.75], [0.1, 0.5], [0.9, 0.0]]).double())[:, 0].tolist()
    [1.0, 0.0, -1.0]
    """
    weight = torch.zeros(1, D, dtype=torch.float64)
    weight[0, -1] = 1 / eps0
    return then(affine(weight, numbers([-0.5 / eps0])), clip())


@dataclass(frozen=True, kw_only=True)
class Balls:
    """The memorised balls B_p(x_i, δ), with classes at distance R > 2δ.

    The soft indicator of a ball falls from 1 at distance δ + ε0 from its centre to 0 at distance R
    − δ − ε0 (the paper has R − δε0).

    >>> x, y = torch.tensor([[0.1, 0.55], [0.9, 0.45]]).double(), torch.tensor([1.0, -1.0]).double()
    >>> net = Balls(x=x, y=y, delta=0.2, R=0.8).memorising_network(linear_clean(2, 0.05))
    >>> below = x - torch.tensor([0.0, 0.19])  # in the balls, where f_clean is −1
    >>> torch.sign(net(below))[:, 0].tolist()
    [1.0, -1.0]
    """

    x: Float[Tensor, "n D"]
    y: Float[Tensor, " n"]
    delta: float
    R: float
    eps0: float = 0.01
    p: float = math.inf
    s: int = 10  # stages of every network for a square

    def __post_init__(self) -> None:
        if self.delta < 0 or self.eps0 < 0:
            raise ValueError(
                f"Balls needs delta >= 0 and eps0 >= 0, got delta={self.delta}, eps0={self.eps0}."
            )
        distances = torch.cdist(self.x, self.x, p=self.p)[self.y[:, None] != self.y]
        if len(distances) and float(distances.min()) == 0:
            raise ValueError("Balls needs different points for the two labels, got one with both.")
        if not 2 * (self.delta + self.eps0) < self.R:
            raise ValueError(
                f"Balls needs classes at a distance R > 2(delta + eps0), got R={self.R}, "
                f"delta={self.delta}, eps0={self.eps0}."
            )

    def inside(self, x: Tensor) -> Tensor:
        """1[‖x − x_i‖_p ≤ δ], (…, n), up to rounding."""
        return (torch.cdist(x, self.x, p=self.p) <= self.delta * (1 + 1e-9)).double()

    def on_ramp(self, x: Tensor) -> Tensor:
        """Return whether x lies outside a ball, yet where its soft indicator is not 0."""
        distances = torch.cdist(x, self.x, p=self.p)
        return ((distances > self.delta) & (distances < self.R - self.delta - self.eps0)).any(-1)

    @property
    def _soft(self) -> nn.Sequential:
        """The soft indicator as a function of the distance, or of its square if p = 2."""
        a, b = self.delta + self.eps0, self.R - self.delta - self.eps0
        return soft_indicator(a**2, b**2) if self.p == 2 else soft_indicator(a, b)

    def _distances(self) -> list[nn.Sequential]:
        """Return one network per ball for the distance to its centre."""
        return [distance(x, self.p, self.s) for x in self.x]

    def f_S(self, clean: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """y_i on the balls and f_clean elsewhere, eq. (C) of CGRO (discontinuous: no network)."""
        inside = self.inside(x)
        return torch.where(inside.any(-1), torch.sign(inside @ self.y), clean(x)[..., 0])

    def f_adv(self, clean: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """Σ_i y_i 1[x in ball i] + f_clean(x) 1[x in none], §3 of CGRM (discontinuous)."""
        inside = self.inside(x)
        return inside @ self.y + torch.where(inside.any(-1), 0.0, clean(x)[..., 0])

    def memorising_network(self, clean: nn.Sequential, gate: Gate = "product") -> nn.Sequential:
        """f̄ + Σ_i (y_i − f̄) soft(d_i), f̄ = clip(f_clean): the network of Theorem 5.2 of CGRO.

        With the gate "exact" it is clip(f̄ + 2 Σ_i y_i soft(d_i)), which needs no products (ours).
        """
        n = len(self.x)
        soft = in_parallel(identity(1), *[self._soft] * n)
        trunk = then(
            on_same_input(then(clean, clip()), *self._distances()), soft
        )  # f̄, soft(d_1), …
        if gate == "exact":
            return then(trunk, affine(torch.cat([torch.ones(1), 2 * self.y])[None]), clip())
        pairs, bias = torch.zeros(1 + 2 * n, 1 + n), torch.zeros(1 + 2 * n)
        pairs[0, 0] = 1
        rows = 1 + 2 * torch.arange(n)
        pairs[rows, 0], bias[rows] = -1, self.y.to(bias)  # y_i − f̄
        pairs[rows + 1, 1 + torch.arange(n)] = 1  # soft(d_i)
        gates = in_parallel(identity(1), *[product(2.0, self.s)] * n)
        return then(trunk, affine(pairs, bias), gates, affine(torch.ones(1, 1 + n)))

    def closed_form(self, x: Float[Tensor, "k D"], eps0: float) -> Float[Tensor, " k"]:
        """clip(f̄ + 2 Σ_i y_i soft(d_i)), f̄ = clip((x_D − ½)/ε0), computed without a network."""
        distances = torch.cdist(x, self.x, p=self.p)
        a, b = self.delta + self.eps0, self.R - self.delta - self.eps0
        soft = ((b - distances) / (b - a)).clamp(0, 1)
        clean = ((x[:, -1] - 0.5) / eps0).clamp(-1, 1)
        return (clean + 2 * soft @ self.y).clamp(-1, 1)

    def compact_network(self, clean: nn.Sequential, gate: Gate = "product") -> nn.Sequential:
        """φ1 + ×̃(φ2, f̄), the ReLU network of Theorem 3.3 of CGRM.

        φ1 = Σ_i y_i soft(d_i) and φ2 = 1 − soft(min_i d_i), so there is one product for any number
        of balls. The gate "exact" is that of `memorising_network`, without products.
        """
        if gate == "exact":
            return self.memorising_network(clean, gate)
        n = len(self.x)
        trunk = on_same_input(then(clean, clip()), *self._distances())  # f̄, d_1, …
        eye = torch.eye(1 + n)
        clipped, distances = affine(eye[:1]), affine(eye[1:])
        phi_1 = then(distances, in_parallel(*[self._soft] * n), affine(self.y[None]))
        phi_2 = then(distances, least(n), self._soft, affine([[-1.0]], [1.0]))
        parts = then(trunk, on_same_input(phi_1, phi_2, clipped))
        return then(parts, in_parallel(identity(1), product(1.0, self.s)), affine([[1.0, 1.0]]))
