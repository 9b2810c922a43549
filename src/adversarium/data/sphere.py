"""Points of the unit sphere with finite perturbation sets: the data of CONV."""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.rng import normal, uniform
from adversarium.shapes import Float


@dataclass(frozen=True)
class SphereBatch:
    """x, y and the finite perturbation set B(x), whose first member is x itself.

    >>> from adversarium.rng import stream
    >>> batch = SpherePoints(d=3, K=4).sample(2, stream(0, "train"))
    >>> torch.equal(batch.options[:, 0], batch.x), batch.y.tolist()
    (True, [1.0, -1.0])
    """

    x: Float[Tensor, "*n d"]
    y: Float[Tensor, "*n"]
    options: Float[Tensor, "*n K d"]


def half_angle(radius: float) -> float:
    """θ = 2 arcsin(radius/2): half-angle of the cap of chord radius `radius`, Def. 3.1 of CONV."""
    return 2 * math.asin(radius / 2)


def compatible(x: Tensor, y: Tensor, radius: float) -> bool:
    """Return whether caps of chord radius `radius` about unit vectors are compatible with their
    labels, Def. 3.1 of CONV: the closures of caps with different labels are disjoint.

    >>> x = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    >>> compatible(x, torch.tensor([1.0, -1.0]), 0.5)
    True
    """
    chord = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    angle = 2 * torch.asin((chord / 2).clamp_max(1.0))
    differ = y[:, None] != y
    return not bool((differ & (angle <= 2 * half_angle(radius) + 1e-12)).any())


@dataclass(frozen=True, kw_only=True)
class SpherePoints:
    """Separated points of the unit sphere of R^d with alternating labels, Def. 3.1 of CONV.

    B(x) is finite: x, then K − 1 points of the cap of chord radius `radius`, half of them on its
    rim. Points are drawn until caps of different points are disjoint with some slack, so the sets
    are compatible with any labels.

    >>> from adversarium.rng import stream
    >>> SpherePoints(d=3, K=5).sample(2, stream(0, "train")).options.shape
    torch.Size([2, 5, 3])
    """

    d: int = 2
    radius: float = 0.2  # chord radius of the cap
    K: int = 9  # size of B(x)
    slack: float = 1.15  # all angles between points are > 2 θ slack

    k = 1

    def __post_init__(self) -> None:
        if self.d < 2 or self.K < 1:
            raise ValueError(f"SpherePoints needs d >= 2 and K >= 1, got d={self.d}, K={self.K}.")
        if not 0 <= self.radius < 2:
            raise ValueError(f"SpherePoints needs 0 <= radius < 2, got {self.radius}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.d,)

    def sample(self, n: int, rng: Generator) -> SphereBatch:
        """Draw n pairwise separated points with their perturbation sets."""
        x = self._separated(n, rng)
        y = 1.0 - 2.0 * (torch.arange(n) % 2)
        return SphereBatch(x=x, y=y.double(), options=self._caps(x, rng))

    def _separated(self, n: int, rng: Generator) -> Float[Tensor, "n d"]:
        closest = math.cos(min(math.pi, 2 * half_angle(self.radius) * self.slack))
        for _ in range(200):  # an early point can block the circle: start again
            kept: list[Tensor] = []
            for _ in range(50 * n):
                z = torch.nn.functional.normalize(normal((self.d,), rng), dim=0)
                if all(float(z @ other) < closest for other in kept):
                    kept.append(z)
                if len(kept) == n:
                    return torch.stack(kept)
        raise ValueError(
            f"SpherePoints found no {n} points with disjoint caps of radius {self.radius} in "
            f"d={self.d}; use fewer points, a smaller radius or a larger d."
        )

    def _caps(self, x: Tensor, rng: Generator) -> Float[Tensor, "n K d"]:
        n = len(x)
        angle = half_angle(self.radius) * uniform((n, self.K), rng)
        angle[:, : self.K // 2] = half_angle(self.radius)  # the rim
        angle[:, -1:] = 0  # x itself
        tangent = normal((n, self.K, self.d), rng)
        tangent = tangent - (tangent @ x[..., None]) * x[:, None]
        tangent = torch.nn.functional.normalize(tangent, dim=-1)
        options = torch.cos(angle)[..., None] * x[:, None] + torch.sin(angle)[..., None] * tangent
        return options.flip(1)
