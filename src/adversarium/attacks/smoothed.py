"""Attacks that use only outputs of the network: for gradients that are quantised, shattered or
false."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball, InBall, norm, unit
from adversarium.attacks.best import Best, per_example, wide
from adversarium.rng import Streams, normal
from adversarium.sockets import Loss, Points

Wrong = Callable[[Tensor], Tensor]  # points ↦ whether they are misclassified


@dataclass(frozen=True, kw_only=True)
class SmoothedAscent(InBall):
    """Ascent along the gradient of the loss smoothed by Gaussian noise, which is estimated from
    pairs of opposite points z ± σu; it needs no derivative. The noise and the steps shrink; after
    every tenth step the ascent continues from its best point.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> def steps(x):
    ...     return (8 * (x - batch.x)).round().sum(-1)
    >>> steps(SmoothedAscent(radius=0.5)(steps, batch, 0, stream(0, "attack"))).tolist()
    [8.0, 8.0, 8.0]
    """

    p: float = math.inf
    radius: float
    steps: int = 60
    queries: int = 48
    noise: float = 0.5  # the first noise, relative to the radius
    restarts: int = 1  # the first begins at x, the others at uniform points
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        self.ball.check(x)
        best = Best(x, loss(x).detach())
        lead = best.height.ndim
        for restart in range(self.restarts):
            z = x if restart == 0 else self.ball.sample(x, lead, rng)
            again = Best(z, loss(z).detach())
            pace = torch.zeros_like(x)
            for k in range(self.steps):
                left = 1 - k / self.steps
                g = self._slope(loss, x, z, self.noise * left + 0.02, lead, rng)
                pace = 0.7 * pace + unit(g.flatten(lead)).view(x.shape)
                step = Ball(self.p, 2 * self.radius * left**1.5 + 0.02 * self.radius)
                z = self.ball.project(x, step.steepest(z, pace, lead), lead)
                values = loss(z).detach()
                again = again.offer(z, values)
                if k % 10 == 9:  # from the best point, without momentum
                    z, pace = again.x, torch.zeros_like(x)
            best = best.offer(again.x, again.height)
        return best.x

    def _slope(
        self, loss: Loss, x: Tensor, z: Tensor, noise: float, lead: int, rng: Streams
    ) -> Tensor:
        """Return the mean over draws of (loss(z + σu) − loss(z − σu)) u, a multiple of the
        gradient of the smoothed loss; σu has about `noise` times the radius as its norm."""
        D = max(1, math.prod(x.shape[lead:]))
        size = noise * self.radius / (1.0 if self.p == math.inf else D ** (1 / self.p))
        total = torch.zeros_like(x)
        for _ in range(self.queries // 2):
            u = normal(x.shape, rng).to(x)
            ends = [z + size * u, z - size * u]
            if self.box is not None:
                ends = [end.clamp(*self.box) for end in ends]
            gain = (loss(ends[0]) - loss(ends[1])).detach().nan_to_num(0.0)
            total = total + wide(gain, x) * u
        return total


@dataclass(frozen=True, kw_only=True)
class BoundaryWalk(InBall):
    """A walk along the decision boundary towards x that uses only the predicted class (similar to
    HopSkipJump, Chen, Jordan and Wainwright 2020). It starts from the nearest misclassified point
    on segments to other points of the batch and to random far points. At each point, the normal of
    the boundary is estimated from the classes of points around it.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=0.0).sample(3, stream(0, "train"))
    >>> def sides(x):  # no slope anywhere
    ...     return torch.sign((x - batch.x)[..., 0] - 1)
    >>> sides(BoundaryWalk(radius=1.3, p=2)(sides, batch, 0, stream(0, "attack"))).tolist()
    [1.0, 1.0, 1.0]
    """

    p: float = math.inf
    radius: float
    steps: int = 24
    queries: int = 40
    tries: int = 8  # other points, and random directions, at which the walk may start
    reach: float = 12.0  # distance of random starting points, in radii
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        self.ball.check(x)
        height = loss(x).detach()
        lead = height.ndim

        def wrong(z: Tensor) -> Tensor:
            return ~(loss(z).detach() <= 0)

        z, far = self._started(wrong, x, lead, rng)
        for k in range(self.steps):
            g = self._normal(wrong, x, z, lead, rng)
            pace = norm(z - x, self.p, lead) / math.sqrt(k + 1)
            new, stepped = z, torch.zeros_like(far)
            for _ in range(6):  # the longest step that stays misclassified
                tried = self._stepped(z, g, pace, lead)
                tried = tried if self.box is None else tried.clamp(*self.box)
                taken = wrong(tried) & ~stepped
                new, stepped = per_example(taken, tried, new), stepped | taken
                pace = pace / 2
            new = self._nearer(wrong, x, new, lead)
            closer = norm(new - x, self.p, lead) < norm(z - x, self.p, lead)
            z = per_example(closer & far, new, z)
        z = self.ball.project(x, z, lead)
        return Best(x, height).offer(per_example(far, z, x), loss(z).detach()).x

    def _started(self, wrong: Wrong, x: Tensor, lead: int, rng: Streams) -> tuple[Tensor, Tensor]:
        """Return the nearest boundary points found on segments, and for which examples any was."""
        n = x.shape[lead - 1]
        ends = [x.roll(shift, lead - 1) for shift in range(1, min(self.tries + 1, n))]
        wide_ball = Ball(self.p, self.reach * self.radius, self.box)
        ends += [wide_ball.steepest(x, normal(x.shape, rng).to(x), lead) for _ in range(self.tries)]
        best = Best(x, torch.full(x.shape[:lead], -math.inf, dtype=x.dtype, device=x.device))
        for end in ends:
            reached = wrong(end)
            near = self._nearer(wrong, x, end, lead)
            distance = torch.where(reached, -norm(near - x, self.p, lead), -math.inf)
            best = best.offer(near, distance)
        return best.x, best.height > -math.inf

    def _nearer(self, wrong: Wrong, x: Tensor, z: Tensor, lead: int) -> Tensor:
        """Return the misclassified point that bisection finds on the way from z to x; in l_inf the
        way clips every coordinate at a shrinking distance."""
        low = torch.zeros(x.shape[:lead], dtype=x.dtype, device=x.device)
        high = torch.ones_like(low)
        top = norm(z - x, self.p, lead)
        for _ in range(12):
            middle = (low + high) / 2
            inside = wrong(self._between(x, z, middle, top))
            low, high = torch.where(inside, low, middle), torch.where(inside, middle, high)
        return self._between(x, z, high, top)

    def _between(self, x: Tensor, z: Tensor, share: Tensor, top: Tensor) -> Tensor:
        if self.p != math.inf:
            return x + wide(share, x) * (z - x)
        limit = wide(share * top, x)
        return x + torch.maximum(torch.minimum(z - x, limit), -limit)

    def _normal(self, wrong: Wrong, x: Tensor, z: Tensor, lead: int, rng: Streams) -> Tensor:
        """Return the mean of random directions, signed by whether they lead to the wrong class."""
        D = max(1, math.prod(x.shape[lead:]))
        size = wide(norm(z - x, 2, lead), x) * 0.1 / math.sqrt(D)
        drawn, signs = [], []
        for _ in range(self.queries):
            u = normal(x.shape, rng).to(x)
            drawn.append(u)
            signs.append(wrong(z + size * u).to(x) * 2 - 1)
        sides = torch.stack(signs)
        sides = sides - sides.mean(0)  # a baseline: most directions may lead to one side
        return sum((wide(s, x) * u for s, u in zip(sides, drawn, strict=True)), torch.zeros_like(x))

    def _stepped(self, z: Tensor, g: Tensor, pace: Tensor, lead: int) -> Tensor:
        flat = g.flatten(lead)
        along = flat.sign() if self.p == math.inf else unit(flat)
        return z + wide(pace, z) * along.view(z.shape)
