"""Attacks that start beyond the decision boundary, so they do not need a gradient at x.

The loss is the logit difference or a targeted one: if it is positive, a point is misclassified.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball, InBall
from adversarium.attacks.best import Best, per_example, wide
from adversarium.attacks.gradient import APGD, climb
from adversarium.rng import Streams, normal
from adversarium.sockets import Loss, Points


@dataclass(frozen=True, kw_only=True)
class FarSide(InBall):
    """Ascents in balls of 3, 2, 1.4 and 1 times the radius, each from the end of the last.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = FarSide(radius=0.5, steps=10)(lambda x: x.sum(-1), batch, 0, stream(0, "attack"))
    >>> torch.allclose(moved, batch.x + 0.5)
    True
    """

    p: float = math.inf
    radius: float
    steps: int = 30
    factors: tuple[float, ...] = (3.0, 2.0, 1.4, 1.0)
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        self.ball.check(x)
        best = Best(x, loss(x).detach())
        lead = best.height.ndim
        own = APGD(p=self.p, radius=self.radius, steps=self.steps, restarts=1, box=self.box)
        z = own.ball.sample(x, lead, rng)  # not from x: its gradient may have vanished
        for factor in self.factors:
            larger = replace(own, radius=factor * self.radius)
            z = larger.ascent(loss, x, larger.ball.project(x, z, lead)).x
        z = self.ball.project(x, z, lead)
        return best.offer(z, loss(z).detach()).x


@dataclass(frozen=True, kw_only=True)
class Crossings(InBall):
    """Search for the decision boundary on segments from x to other points of the batch, and to
    points `reach` radii away along the diagonals and in random directions. Each crossing gives two
    candidates: its projection into the ball, and the full step from x along the gradient at the
    crossing. An ascent starts from the best candidate.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=0.0).sample(3, stream(0, "train"))
    >>> def clipped(x):  # no slope at x
    ...     return (x.mean(-1) - 1 - batch.x.mean(-1)).clamp(-0.1, 0.1)
    >>> bool((clipped(Crossings(radius=1.5)(clipped, batch, 0, stream(0, "attack"))) > 0).all())
    True
    """

    p: float = math.inf
    radius: float
    tries: int = 8  # number of other points, and of random directions
    reach: float = 4.0
    steps: int = 20
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x, ball = batch.x, self.ball
        ball.check(x)
        clean = Best(x, loss(x).detach())
        lead = clean.height.ndim
        best = Best(x, torch.full_like(clean.height, -math.inf))
        for far in self._far(x, lead, rng):
            z, crossed = self._crossing(loss, x, far)
            _, g = climb(loss, z)
            for point in (ball.project(x, z, lead), ball.steepest(x, g, lead)):
                height = torch.where(crossed, loss(point).detach(), -math.inf)
                best = best.offer(point, height)
        found = best.height > -math.inf
        ascent = APGD(p=self.p, radius=self.radius, steps=self.steps, restarts=1, box=self.box)
        last = ascent.ascent(loss, x, per_example(found, best.x, x))
        return clean.offer(best.x, best.height).offer(last.x, last.height).x

    def _far(self, x: Tensor, lead: int, rng: Streams) -> list[Tensor]:
        """Return the far ends of the segments."""
        around = Ball(self.p, self.reach * self.radius, self.box)
        n = x.shape[lead - 1]
        others = [x.roll(shift, lead - 1) for shift in range(1, min(self.tries + 1, n))]
        ones = torch.ones_like(x)
        noise = [normal(x.shape, rng).to(x) for _ in range(self.tries)]
        return others + [around.steepest(x, g, lead) for g in (ones, -ones, *noise)]

    def _crossing(self, loss: Loss, x: Tensor, far: Tensor) -> tuple[Tensor, Tensor]:
        """Return the misclassified point that bisection finds between x and `far`, and whether
        there is one (`far` is misclassified)."""
        broken = loss(far).detach() > 0
        low, high = torch.zeros_like(broken, dtype=x.dtype), torch.ones_like(broken, dtype=x.dtype)
        for _ in range(10):
            middle = (low + high) / 2
            inside = loss(x + wide(middle, x) * (far - x)).detach() > 0
            low, high = torch.where(inside, low, middle), torch.where(inside, middle, high)
        return x + wide(high, x) * (far - x), broken
