"""Two noisy clusters: the data of BOAT."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.rng import coins, normal, uniform
from adversarium.shapes import Float
from adversarium.sockets import Batch, Named


@dataclass(frozen=True)
class ClusterBatch:
    """x, the observed label y and the clean label.

    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=3.0, beta=0.0).sample(5, stream(0, "train"))
    >>> torch.equal(batch.y, batch.clean_y)  # without label noise
    True
    """

    x: Float[Tensor, "*n d"]
    y: Float[Tensor, "*n"]
    clean_y: Float[Tensor, "*n"]


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """x = y_c μ + ξ with ξ ~ N(0, I_d), labels flipped with probability β, §2 of BOAT.

    μ = ‖μ‖ e₁: only the norm matters for Gaussian clusters. Units: ξ has variance one per
    coordinate, as in the paper's experiments (Definition 2.1 read literally asks for 3/8).

    >>> from adversarium.rng import stream
    >>> Clusters(d=5, mu=2.0).sample(4, stream(0, "train")).x.shape
    torch.Size([4, 5])
    """

    d: int
    mu: float  # ‖μ‖
    beta: float = 0.1  # label noise

    k = 1

    def __post_init__(self) -> None:
        if self.d < 1 or self.mu < 0:
            raise ValueError(f"Clusters needs d >= 1 and mu >= 0, got d={self.d}, mu={self.mu}.")
        if not 0 <= self.beta < 0.5:
            raise ValueError(f"Clusters needs label noise 0 <= beta < 1/2, got {self.beta}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.d,)

    @property
    def budget(self) -> tuple[float, float]:
        """In l2 the clusters meet at radius ‖μ‖."""
        return 2, float(self.mu)

    def model_free(self, batch: Batch, p: float, radius: float) -> Mapping[str, Named]:
        """No attack that needs no network is known."""
        return {}

    def ceiling(self, p: float, radius: float) -> float:
        """No bound on the robust accuracy is known."""
        return 1.0

    def sample(self, n: int, rng: Generator) -> ClusterBatch:
        """n points of D, with their clean labels."""
        clean_y = coins((n,), rng)
        flipped = uniform((n,), rng) < self.beta
        x = normal((n, self.d), rng)
        x[:, 0] += self.mu * clean_y
        return ClusterBatch(x=x, y=torch.where(flipped, -clean_y, clean_y), clean_y=clean_y)
