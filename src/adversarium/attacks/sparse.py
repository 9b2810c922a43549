"""Ascent in l1, where a good step moves few coordinates."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball, InBall
from adversarium.attacks.best import Best, per_example, wide
from adversarium.attacks.gradient import climb
from adversarium.rng import Streams
from adversarium.sockets import Loss, Points


@dataclass(frozen=True, kw_only=True)
class SparseAscent(InBall):
    """l1 ascent with adaptive sparsity (Croce and Hein 2021). Each step moves the coordinates with
    the largest gradient; their number is the number of coordinates in which the best point so far
    differs from x, divided by 1.5. The step size shrinks unless that number has fallen. The ascent
    runs in balls of three, two and one times the radius in turn.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = SparseAscent(radius=0.5)(lambda x: x[:, 0], batch, 0, stream(0, "attack"))
    >>> [round(gain, 6) for gain in (moved - batch.x)[:, 0].tolist()]
    [0.5, 0.5, 0.5]
    """

    p = 1.0

    radius: float
    steps: int = 60
    restarts: int = 2
    factors: tuple[float, ...] = (3.0, 2.0, 1.0)
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        self.ball.check(x)
        best = Best(x, loss(x).detach())
        lead = best.height.ndim
        for restart in range(self.restarts):
            z = x if restart == 0 else self.ball.sample(x, lead, rng)
            for factor in self.factors:
                ball = Ball(1, factor * self.radius, self.box)
                again = self._ascent(loss, x, ball.project(x, z, lead), ball, lead)
                z = again.x
            best = best.offer(again.x, again.height)
        return best.x

    def _ascent(self, loss: Loss, x: Tensor, start: Tensor, ball: Ball, lead: int) -> Best:
        values, g = climb(loss, start)
        best, best_g, z = Best(start, values), g, start
        D = max(1, math.prod(x.shape[lead:]))
        width = torch.full_like(values, max(1.0, 0.2 * D))
        step, used = torch.full_like(values, ball.radius), torch.full_like(values, math.inf)
        for k in range(self.steps):
            z = ball.project(x, z + wide(step, x) * _sparse(g, width, lead), lead)
            values, g = climb(loss, z)
            best_g = per_example(values > best.height, g, best_g)
            best = best.offer(z, values)
            if (k + 1) % max(3, self.steps // 15) == 0:
                now = (best.x != x).flatten(lead).sum(-1).to(values).clamp_min(1)
                fewer = now < 0.95 * used
                step = torch.where(fewer, ball.radius, (step / 1.5).clamp_min(ball.radius / 10))
                width, used = (now / 1.5).clamp_min(1), now
                z, g = per_example(fewer, best.x, z), per_example(fewer, best_g, g)
        return best


def _sparse(g: Tensor, width: Tensor, lead: int) -> Tensor:
    """Return the signs of the `width` largest coordinates, divided by their number, else 0."""
    if g.ndim == lead:
        return torch.sign(g)
    rows = g.flatten(lead)
    size = rows.abs()
    least = size.sort(dim=-1, descending=True).values.gather(-1, width.long()[..., None] - 1)
    along = torch.sign(rows) * (size >= least)
    return (along / along.abs().sum(-1, keepdim=True).clamp_min(1)).view(g.shape)
