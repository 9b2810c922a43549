"""Attacks that never look at the network: they know the data model or another classifier."""

from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.gradient import Loss, Points
from adversarium.rng import Streams
from adversarium.shapes import Float, Int


def gta(
    x: Float[Tensor, "*n P d"], signal: Int[Tensor, "*n"], gamma: float
) -> Float[Tensor, "*n P d"]:
    """X^adv = X − γ g(X) ∇g(X) / ‖∇g(X)‖₂, eq. (A) of CGRO.

    Reading: g(X) = ⟨w*, X[signal(X)]⟩ has ‖∇g‖₂ = ‖w*‖₂ = 1, so on the support of D the
    step multiplies the signal patch by 1 − γ and leaves the others alone.
    """
    shrink = torch.ones_like(x[..., 0]).scatter(-1, signal[..., None], 1 - gamma)
    return shrink[..., None] * x


@dataclass(frozen=True, kw_only=True)
class GTA:
    """The geometry-based transfer attack of §3.3 of CGRO; its l2 length is γα."""

    gamma: float
    loss: str = "logit_difference"  # never climbed: the attack depends on X and w* alone

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"GTA needs 0 <= gamma <= 1, got {self.gamma}.")

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        signal = getattr(batch, "signal", None)
        if signal is None:
            raise TypeError(
                "GTA needs patch data with a known signal patch (PatchData), got "
                f"{type(batch).__name__}."
            )
        return gta(batch.x, signal, self.gamma)
