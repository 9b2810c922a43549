"""An attack that needs no gradient."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.balls import InBall
from adversarium.attacks.best import Best, per_example
from adversarium.attacks.gradient import batch_axes
from adversarium.rng import Streams, coins, normal
from adversarium.sockets import Loss, Points


@dataclass(frozen=True, kw_only=True)
class RandomSearch(InBall):
    """Random search without gradients: blocks of coordinates get random signs, the blocks shrink
    over time, and a change is accepted if the loss does not fall (similar to the Square attack of
    Andriushchenko et al. 2020).

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=4, mu=1.0).sample(3, stream(0, "train"))
    >>> def steps(x):
    ...     return (4 * (x - batch.x)).round().sum(-1)
    >>> steps(RandomSearch(radius=0.5)(steps, batch, 0, stream(0, "attack"))).tolist()
    [8.0, 8.0, 8.0]
    """

    p: float = math.inf
    radius: float
    queries: int = 100
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        self.ball.check(x)
        best, lead = Best(x, loss(x).detach()), batch_axes(loss, batch)
        z = self.ball.steepest(x, normal(x.shape, rng).to(x), lead)
        now = Best(z, loss(z).detach())
        for k in range(self.queries):
            z = self._changed(x, now.x, 0.8 * (1 - k / self.queries) ** 2, lead, rng)
            values = loss(z).detach()
            stays = values >= now.height
            now = Best(per_example(stays, z, now.x), torch.where(stays, values, now.height))
        return best.offer(now.x, now.height).x

    def _changed(self, x: Tensor, z: Tensor, share: float, lead: int, rng: Streams) -> Tensor:
        """Draw new signs on a random block of neighbouring coordinates; in half of the cases, one
        sign for the entire block."""
        shape = (*x.shape[:lead], max(1, math.prod(x.shape[lead:])))
        D = shape[-1]
        place, noise = normal((*shape[:-1], 3), rng).to(x), coins(shape, rng).to(x)
        width = max(1, round(share * D))
        first = (place[..., :1].sigmoid() * D).floor()
        inside = (torch.arange(D, device=x.device) - first) % D < width
        signs = torch.sign(torch.where(place[..., 1:2] > 0, place[..., 2:], noise))
        move = (z - x).reshape(shape)
        if self.p == math.inf:
            new = torch.where(inside, self.radius * signs, move)
        else:  # the block alone has norm `radius`; the projection rescales the sum
            size = self.radius / (math.sqrt(width) if self.p == 2 else width)
            new = torch.where(inside, size * signs, move)
        return self.ball.project(x, x + new.view(x.shape), lead)
