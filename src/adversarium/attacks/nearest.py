"""Attacks that search for the nearest misclassified point instead of the largest loss in a ball.

The loss is the logit difference or a targeted one: if it is positive, a point is misclassified.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball, InBall, norm, unit
from adversarium.attacks.best import Best, per_example, wide
from adversarium.attacks.gradient import APGD, climb
from adversarium.rng import Streams, normal
from adversarium.sockets import Loss, Points


@dataclass(frozen=True, kw_only=True)
class DDN(InBall):
    """Search for the nearest misclassified point in l2 with direction and norm decoupled (Rony et
    al. 2019): step along the gradient, then project onto a sphere about x that shrinks by the share
    `gamma` if the point is misclassified and grows otherwise. The result is projected into the
    ball.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = DDN(radius=9.0)(lambda x: x[:, 0] - 5, batch, 0, stream(0, "attack"))
    >>> bool((moved[:, 0] - 5 < 0.5).all() and (moved[:, 0] > 5).all())
    True
    """

    p = 2.0

    radius: float
    steps: int = 80
    gamma: float = 0.05
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        self.ball.check(x)
        near = _Nearest.of(loss, x, self.ball)
        z, lead = x, near.height.ndim
        size = torch.full_like(near.height, self.radius)
        for k in range(self.steps):
            values, g = climb(loss, z)
            near = near.offer(z, values)
            asleep = g.flatten(lead).abs().amax(-1) == 0
            g = per_example(asleep, normal(x.shape, rng).to(x), g)
            size = size * torch.where(values > 0, 1 - self.gamma, 1 + self.gamma)
            pace = self.radius * (0.01 + 0.99 * (1 + math.cos(math.pi * k / self.steps)) / 2)
            move = z + pace * unit(g.flatten(lead)).view(x.shape) - x
            z = x + wide(size, x) * unit(move.flatten(lead)).view(x.shape)
            z = z if self.box is None else z.clamp(*self.box)
        return near.offer(z, loss(z).detach()).inside(loss)


@dataclass(frozen=True, kw_only=True)
class FAB(InBall):
    """Search for the nearest misclassified point along the boundary (Croce and Hein 2020): x and
    the iterate are projected onto the zero set of the linearised loss; the next iterate is a mean
    of both, slightly beyond it, and closer to x if the iterate was misclassified. Searches start at
    the ends of ascents in twice the ball, and at x.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = FAB(p=1, radius=9.0)(lambda x: x[:, 0] - 5, batch, 0, stream(0, "attack"))
    >>> bool((moved[:, 0] - 5 < 0.5).all() and (moved[:, 0] > 5).all())
    True
    """

    p: float = math.inf
    radius: float
    steps: int = 40
    restarts: int = 2  # the second starts at x, the others at ends of ascents
    overshoot: float = 1.05
    back: float = 0.9
    bias: float = 0.1  # the largest weight of the projection of x
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        self.ball.check(x)
        near = _Nearest.of(loss, x, self.ball)
        lead = near.height.ndim
        for restart in range(self.restarts):
            far = APGD(p=self.p, radius=2 * self.radius, steps=1 + self.steps // 2, box=self.box)
            z = x if restart == 1 else far.ascent(loss, x, far.ball.sample(x, lead, rng)).x
            for _ in range(self.steps):
                values, g = climb(loss, z)
                near = near.offer(z, values)
                z = self._next(x, z, values, g, lead)
            near = near.offer(z, loss(z).detach())
        return near.inside(loss)

    def _next(self, x: Tensor, z: Tensor, values: Tensor, g: Tensor, lead: int) -> Tensor:
        """Return a mean of both projections, or a point nearer to x if z is misclassified."""
        at_x = values + ((x - z) * g).flatten(lead).sum(-1)  # the linearised loss at x
        to_z, to_x = (self._onto_zero(c, g, lead) for c in (values, at_x))
        a, b = norm(to_z, self.p, lead), norm(to_x, self.p, lead)
        share = wide((a / (a + b).clamp_min(1e-30)).clamp(max=self.bias), x)
        ahead = (1 - share) * (z + self.overshoot * to_z) + share * (x + self.overshoot * to_x)
        ahead = ahead if self.box is None else ahead.clamp(*self.box)
        limit = Ball(self.p, 8 * self.radius, self.box)  # a vanishing gradient leads far away
        ahead = limit.project(x, ahead.nan_to_num(0.0), lead)
        return per_example(values > 0, x + self.back * (ahead - x), ahead)

    def _onto_zero(self, c: Tensor, g: Tensor, lead: int) -> Tensor:
        """Return the shortest v with c + ⟨g, v⟩ = 0; 0 if the gradient vanishes."""
        g_flat = g.flatten(lead)
        along = Ball(self.p, 1.0).steepest(torch.zeros_like(g_flat), g_flat, lead)
        gain = (along * g_flat).sum(-1)
        share = torch.where(gain > 0, -c / gain.clamp_min(1e-30), 0)
        return (share[..., None] * along).view(g.shape)


@dataclass(frozen=True)
class _Nearest:
    """The nearest misclassified point found so far, and its distance from x."""

    x: Tensor
    ball: Ball
    point: Tensor
    distance: Tensor
    height: Tensor  # the loss at x

    @classmethod
    def of(cls, loss: Loss, x: Tensor, ball: Ball) -> "_Nearest":
        height = loss(x).detach()
        return cls(x, ball, x, torch.where(height > 0, 0.0, math.inf).to(height), height)

    def offer(self, z: Tensor, values: Tensor) -> "_Nearest":
        """Return the nearest of these points and the misclassified points among z."""
        distance = norm(z - self.x, self.ball.p, self.distance.ndim)
        nearer = (values > 0) & (distance < self.distance)
        point = per_example(nearer, z, self.point)
        return replace(self, point=point, distance=torch.where(nearer, distance, self.distance))

    def inside(self, loss: Loss) -> Tensor:
        """Return the nearest misclassified point, projected into the ball, or x if its loss is
        larger."""
        z = self.ball.project(self.x, self.point, self.distance.ndim)
        return Best(self.x, self.height).offer(z, loss(z).detach()).x
