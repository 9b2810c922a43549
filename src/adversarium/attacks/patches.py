"""An attack on networks that apply the same filters to all patches."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.balls import InBall, unit
from adversarium.attacks.best import Best
from adversarium.attacks.gradient import climb
from adversarium.rng import Streams
from adversarium.sockets import Loss, Points


@dataclass(frozen=True, kw_only=True)
class PatchTransplant(InBall):
    """An l2 attack (ours) that moves two patches along the loss gradient of the patch where it is
    largest: that patch and any other. It returns the best of all second patches and weights.

    All patches share their filters, so a direction that increases the loss in one patch does so in
    others. If the activation is flat at 0 (z³), the gradient almost vanishes in other patches, so
    ascents from x do not move them.

    >>> from adversarium.data import PatchData
    >>> from adversarium.rng import stream
    >>> batch = PatchData(d=3, P=2, alpha=1.0, sigma=0.0).sample(4, stream(0, "train"))
    >>> def cubes(x):
    ...     return -batch.y * x[..., 0].pow(3).sum(-1)
    >>> bool((cubes(PatchTransplant(radius=0.9)(cubes, batch, 0, stream(0, "attack"))) > 0).all())
    True
    """

    p = 2.0
    box = None

    radius: float
    shares: int = 21
    loss: str = "logit_difference"

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        values, g = climb(loss, x)
        if g.ndim != values.ndim + 2:
            raise TypeError(
                f"PatchTransplant needs patches, x of shape (…, P, d), got {tuple(x.shape)}."
            )
        P = x.shape[-2]
        main = g.abs().amax(-1).argmax(-1)  # the patch with the largest gradient
        direction = g.gather(-2, main[..., None, None].expand(*main.shape, 1, x.shape[-1]))
        direction = unit(direction)
        there = torch.nn.functional.one_hot(main, P).to(x)[..., None]
        best = Best(x, values)
        for j in range(P):
            other = torch.zeros(P, 1).to(x)
            other[j] = 1
            for i in range(self.shares):
                angle = math.pi / 2 * i / (self.shares - 1)
                weight = math.cos(angle) * there + math.sin(angle) * other
                length = weight.square().sum((-1, -2), keepdim=True).sqrt()
                z = x + self.radius * weight / length * direction
                best = best.offer(z, loss(z).detach())
        return best.x
