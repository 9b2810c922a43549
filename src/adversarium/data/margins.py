"""Large and small margins about a linear classifier: the toy data of CGRM."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.rng import coins, normal, uniform
from adversarium.shapes import Bool, Float
from adversarium.sockets import Batch, Named


@dataclass(frozen=True)
class MarginBatch:
    """x, y, and whether the margin is small.

    >>> from adversarium.rng import stream
    >>> batch = MarginMixture(d=3, alpha=2.0, beta=0.5, mu=0.5).sample(6, stream(0, "train"))
    >>> torch.equal(batch.is_small, batch.y * batch.x[:, 0] == 0.5)
    True
    """

    x: Float[Tensor, "*n d"]
    y: Float[Tensor, "*n"]
    is_small: Bool[Tensor, "*n"]


@dataclass(frozen=True, kw_only=True)
class MarginMixture:
    """x = c y w* + ξ with w* = e₁ and ξ ~ N(0, I − w* w*ᵀ), §4 of CGRM: c = β with probability μ
    (small margin), else α; `spread` draws c uniformly from [β, α] instead (ours).

    >>> from adversarium.rng import stream
    >>> batch = MarginMixture(d=3, alpha=2.0).sample(4, stream(0, "train"))
    >>> (batch.x[:, 0] * batch.y).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """

    d: int
    alpha: float  # α, the large margin
    beta: float = 0.5  # β, the small margin
    mu: float = 0.0  # μ, the share of small margins
    spread: bool = False

    k = 1

    def __post_init__(self) -> None:
        if self.d < 2 or not 0 < self.beta <= self.alpha or not 0 <= self.mu <= 1:
            raise ValueError(
                "MarginMixture needs d >= 2, 0 < beta <= alpha and 0 <= mu <= 1, got "
                f"d={self.d}, alpha={self.alpha}, beta={self.beta}, mu={self.mu}."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.d,)

    @property
    def budget(self) -> tuple[float, float]:
        """The norm (l2) and the radius (α) at which an attack can cancel the large margins."""
        return 2, float(self.alpha)

    def model_free(self, batch: Batch, p: float, radius: float) -> Mapping[str, Named]:
        """Return an empty mapping: every known attack needs a network."""
        return {}

    def ceiling(self, p: float, radius: float) -> float:
        """Return 1, because no bound on the robust accuracy is known."""
        return 1.0

    def sample(self, n: int, rng: Generator) -> MarginBatch:
        """Draw n points."""
        y, place = coins((n,), rng), uniform((n,), rng)
        is_small = place < self.mu
        margin = torch.where(is_small, self.beta, self.alpha).double()
        if self.spread:
            margin = self.beta + (self.alpha - self.beta) * place
        x = normal((n, self.d), rng)
        x[:, 0] = margin * y
        return MarginBatch(x=x, y=y, is_small=is_small)
