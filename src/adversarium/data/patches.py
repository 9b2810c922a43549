"""Signal and noise patches: the data of CGRO."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.rng import coins, integers, normal
from adversarium.shapes import Float, Int
from adversarium.sockets import Batch, Named


@dataclass(frozen=True)
class PatchBatch:
    """X, y and the index of the signal patch.

    >>> from adversarium.rng import stream
    >>> batch = PatchData(d=3, P=4, alpha=2.0, sigma=0.1).sample(5, stream(0, "train"))
    >>> torch.equal(batch.x[..., 0].abs().argmax(-1), batch.signal)
    True
    """

    x: Float[Tensor, "*n P d"]
    y: Float[Tensor, "*n"]
    signal: Int[Tensor, "*n"]


@dataclass(frozen=True, kw_only=True)
class PatchData:
    """The patch distribution D, §3.1 of CGRO, with w* = e₁ (without loss of generality).

    X[signal] = α y w*; the other P − 1 patches are N(0, σ²(I − w* w*ᵀ)). The paper does not specify
    the position of the signal patch; here it is uniform, and no quantity depends on it.

    >>> from adversarium.rng import stream
    >>> batch = PatchData(d=3, P=2, alpha=2.0, sigma=0.1).sample(4, stream(0, "train"))
    >>> (batch.y * batch.x[range(4), batch.signal, 0]).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """

    d: int  # dimension of a patch
    P: int  # number of patches
    alpha: float  # α, norm of the signal patch
    sigma: float  # σ, standard deviation of the noise

    k = 1  # one scalar output

    def __post_init__(self) -> None:
        if self.d < 2 or self.P < 2:
            raise ValueError(
                f"PatchData needs d >= 2 and P >= 2 (a signal and a noise patch), "
                f"got d={self.d}, P={self.P}."
            )
        if self.alpha <= 0 or self.sigma < 0:
            raise ValueError(
                f"PatchData needs alpha > 0 and sigma >= 0, got alpha={self.alpha}, "
                f"sigma={self.sigma}."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.P, self.d)

    @property
    def budget(self) -> tuple[float, float]:
        """The norm (l2) and the radius (α) at which an attack can cancel the signal patch."""
        return 2, float(self.alpha)

    def model_free(self, batch: Batch, p: float, radius: float) -> Mapping[str, Named]:
        """Return GTA with γα = min(radius, α) for l2, §3.3 of CGRO; nothing for other norms."""
        return {"GTA": Named("GTA", {"gamma": min(1.0, radius / self.alpha)})} if p == 2 else {}

    def ceiling(self, p: float, radius: float) -> float:
        """Return 1, because no bound on the robust accuracy is known."""
        return 1.0

    def sample(self, n: int, rng: Generator) -> PatchBatch:
        """Draw n points of D."""
        y = coins((n,), rng)
        signal = integers(self.P, (n,), rng)
        x = self.sigma * normal((n, self.P, self.d), rng)
        x[..., 0] = 0
        rows = torch.arange(n)
        x[rows, signal] = 0
        x[rows, signal, 0] = self.alpha * y
        return PatchBatch(x=x, y=y, signal=signal)
