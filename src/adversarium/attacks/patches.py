"""An attack on networks that look at all patches with the same filters."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball, unit
from adversarium.attacks.gradient import Loss, Points, climb
from adversarium.rng import Streams


@dataclass(frozen=True, kw_only=True)
class PatchTransplant:
    """The steepest direction of the patch that matters most, spent partly there and partly on
    another patch, in l2; the best of all patches and shares (ours).

    Filters are shared: what hurts in one patch hurts in another. Where an activation is flat at 0
    (z³) the gradient does not see the other patches, and ascents from x stall.
    """

    radius: float
    shares: int = 21
    loss: str = "logit_difference"

    @property
    def ball(self) -> Ball:
        """The perturbation set."""
        return Ball(2, self.radius)

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        height, g = climb(loss, x)
        if g.ndim != height.ndim + 2:
            raise TypeError("PatchTransplant needs inputs of patches (P, d).")
        P = x.shape[-2]
        main = g.abs().amax(-1).argmax(-1)  # the patch that matters most
        direction = g.gather(-2, main[..., None, None].expand(*main.shape, 1, x.shape[-1]))
        direction = unit(direction)
        own = torch.nn.functional.one_hot(main, P).to(x)[..., None]
        best = x
        for j in range(P):
            other = torch.zeros(P, 1).to(x)
            other[j] = 1
            for i in range(self.shares):
                angle = math.pi / 2 * i / (self.shares - 1)
                weight = math.cos(angle) * own + math.sin(angle) * other
                length = weight.square().sum((-1, -2), keepdim=True).sqrt()
                z = x + self.radius * weight / length * direction
                values = loss(z).detach()
                best = torch.where((values > height)[..., None, None], z, best)
                height = torch.maximum(values, height)
        return best
