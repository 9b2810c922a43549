"""Gradient ascent on the sphere, where the perturbation set is an entire cap about x."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.balls import unit
from adversarium.attacks.best import Best
from adversarium.attacks.gradient import climb
from adversarium.rng import Streams, normal
from adversarium.sockets import Loss, Points


@dataclass(frozen=True, kw_only=True)
class CapPGD:
    """Gradient ascent along the unit sphere, projected onto the cap {x' : |x'| = 1, |x' − x| ≤
    radius}, §3 of CONV. It starts at x, then at random points of the rim and at the points opposite
    to them, and returns the best point found.

    >>> from adversarium.data import SpherePoints
    >>> from adversarium.rng import stream
    >>> batch = SpherePoints(d=3).sample(2, stream(0, "train"))
    >>> moved = CapPGD(radius=0.2)(lambda x: x[..., 0], batch, 0, stream(0, "attack"))
    >>> [round(float(v), 9) for v in (moved - batch.x).norm(dim=-1)]
    [0.2, 0.2]
    """

    radius: float  # chord radius of the cap
    steps: int = 100
    starts: int = 3
    loss: str = "risk"

    def __post_init__(self) -> None:
        if not 0 <= self.radius < 2:
            raise ValueError(f"CapPGD needs 0 <= radius < 2, got {self.radius}.")
        if self.steps < 1 or self.starts < 1:
            raise ValueError(
                f"CapPGD needs steps >= 1 and starts >= 1, got {self.steps} and {self.starts}."
            )

    @property
    def angle(self) -> float:
        """Return the half-angle of the cap."""
        return 2 * math.asin(self.radius / 2)

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x, way = batch.x, torch.zeros_like(batch.x)
        off = float((x.norm(dim=-1) - 1).abs().max())
        if off > 1e-6:
            raise ValueError(
                f"CapPGD needs points on the unit sphere, got one {off:.2g} away from it."
            )
        best = Best(x, loss(x).detach())
        for start in range(self.starts):
            if start > 0:
                way = -way if start % 2 == 0 else self._drawn(x, rng)
            z = self._within(x, x + way)
            for _ in range(self.steps):
                values, g = climb(loss, z)
                best = best.offer(z, values)
                z = self._within(x, z + 2.5 * self.angle / self.steps * unit(g - _along(g, z)))
            best = best.offer(z, loss(z).detach())
        return best.x

    def _drawn(self, x: Tensor, rng: Streams) -> Tensor:
        """Draw a vector of length 2 orthogonal to x for every cap."""
        way = normal(x.shape, rng).to(x)
        return 2 * unit(way - _along(way, x))

    def _within(self, x: Tensor, z: Tensor) -> Tensor:
        """Return, for every z, the nearest point of the cap about x."""
        z = unit(z)
        side = z - _along(z, x)
        angle = torch.atan2(side.norm(dim=-1, keepdim=True), (z * x).sum(-1, keepdim=True))
        edge = math.cos(self.angle) * x + math.sin(self.angle) * unit(side)
        return torch.where(angle <= self.angle, z, edge)


def _along(v: Tensor, x: Tensor) -> Tensor:
    """Return the component of v along the unit vectors x."""
    return (v * x).sum(-1, keepdim=True) * x
