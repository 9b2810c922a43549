"""Regression: real labels that depend linearly on x."""

from dataclasses import dataclass

from torch import Generator, Tensor

from adversarium.rng import normal
from adversarium.shapes import Float


@dataclass(frozen=True)
class RegressionBatch:
    """Inputs and real labels.

    >>> from adversarium.rng import stream
    >>> LinearResponse(d=3).sample(2, stream(0, "train")).y.shape
    torch.Size([2])
    """

    x: Float[Tensor, "*n d"]
    y: Float[Tensor, "*n"]


@dataclass(frozen=True, kw_only=True)
class LinearResponse:
    """y = ⟨w*, x⟩ + ξ with x ~ N(0, I_d), ξ ~ N(0, σ²) and w* = scale·e₁.

    >>> import torch
    >>> from adversarium.rng import stream
    >>> batch = LinearResponse(d=3, sigma=0.0).sample(2, stream(0, "train"))
    >>> torch.equal(batch.y, batch.x[:, 0])
    True
    """

    d: int
    sigma: float = 0.5
    scale: float = 1.0

    k = 1

    def __post_init__(self) -> None:
        if self.d < 1 or self.sigma < 0:
            raise ValueError(
                f"LinearResponse needs d >= 1 and sigma >= 0, got d={self.d}, sigma={self.sigma}."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.d,)

    def best(self, x: Tensor) -> Tensor:
        """Return E[y | x] = ⟨w*, x⟩."""
        return self.scale * x[..., 0]

    def sample(self, n: int, rng: Generator) -> RegressionBatch:
        """Draw n points with their labels."""
        x = normal((n, self.d), rng)
        return RegressionBatch(x=x, y=self.best(x) + self.sigma * normal((n,), rng))
