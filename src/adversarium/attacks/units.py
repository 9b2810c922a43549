"""Attacks on the components of a network: its units, and the patches that it sums over.

An inactive unit has no gradient at x. A loss with guidance (`Guiding`) provides the weight vectors
of the network's units and the contribution of every patch; with any other loss they return x.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball, InBall
from adversarium.attacks.best import Best
from adversarium.attacks.gradient import APGD, climb
from adversarium.attacks.patches import PatchTransplant
from adversarium.rng import Streams
from adversarium.sockets import Guiding, Loss, Points


def _longest(directions: Tensor, most: int, opposites: bool = True) -> Tensor:
    """Return the `most` longest directions, followed by their opposites, (2r, *S, d)."""
    length = directions.norm(dim=-1)
    size = length.flatten(0, -2).amax(0) if length.ndim > 1 else length
    chosen = directions[..., size.argsort(descending=True, stable=True)[:most], :]
    both = torch.cat([chosen, -chosen], dim=-2) if opposites else chosen
    return both.movedim(-2, 0)


def _along(direction: Tensor, x: Tensor) -> Tensor:
    """Return one direction per replica, (*S, d), at every point of x, (*S, …, d)."""
    middle = [1] * (x.ndim - direction.ndim)
    return direction.view(*direction.shape[:-1], *middle, direction.shape[-1]).expand_as(x)


def _of_points(directions: Tensor, index: Tensor, x: Tensor) -> Tensor:
    """Return the direction with the given index, (c, *S, d), for every point."""
    if directions.ndim == 2:  # no replicas
        return directions[index]
    replica = torch.arange(len(x), device=x.device).view(-1, *[1] * (index.ndim - 1))
    return directions[index, replica]


@dataclass(frozen=True, kw_only=True)
class UnitSteps(InBall):
    """Full steps from x along the weights of every unit, active or not, and along the gradients at
    the points reached (w_j − y w_0 for a threshold unit next to a linear part), then an ascent from
    the best point. If there are more than `units` units, gradients are followed only for those
    whose step increases the loss most, and for those whose step exceeds the linear prediction at x
    most, which reveals inactive units.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> from adversarium.sockets import Guide
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> asleep = Guide(lambda x: torch.relu(x @ torch.tensor([0.0, 9.0]).double() - 20.0),
    ...                directions=torch.tensor([[0.0, 9.0]]).double())
    >>> bool((asleep(UnitSteps(p=2, radius=6.0)(asleep, batch, 0, stream(0, "a"))) > 0).all())
    True
    """

    p: float = math.inf
    radius: float
    units: int = 128  # number of units chosen by each of the two criteria
    opposites: bool = True  # also step against every unit, which threshold units do not need
    steps: int = 20
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        directions = loss.directions if isinstance(loss, Guiding) else None
        if directions is None or directions.ndim != x.ndim:  # patches have one more axis
            return x
        self.ball.check(x)
        values, slope = climb(loss, x)
        awake = Best(x, torch.full_like(values, -math.inf))
        for direction in self._followed(loss, x, values, slope, directions):
            z = self.ball.steepest(x, direction, values.ndim)
            height, g = climb(loss, z)
            awake = awake.offer(z, height)
            z = self.ball.steepest(x, g, values.ndim)
            awake = awake.offer(z, loss(z).detach())
        ascent = APGD(p=self.p, radius=self.radius, steps=self.steps, restarts=1, box=self.box)
        last = ascent.ascent(loss, x, awake.x)
        return Best(x, values).offer(last.x, last.height).x

    def _followed(
        self, loss: Loss, x: Tensor, values: Tensor, slope: Tensor, directions: Tensor
    ) -> Iterator[Tensor]:
        """Yield the directions, one per point, whose gradients are followed: all, or the best."""
        every = _longest(directions, directions.shape[-2], self.opposites)
        if directions.shape[-2] <= self.units:
            yield from (_along(direction, x) for direction in every)
            return
        heights, beyond = [], []
        for direction in every:
            z = self.ball.steepest(x, _along(direction, x), values.ndim)
            heights.append(loss(z).detach())
            straight = ((z - x) * slope).flatten(values.ndim).sum(-1)
            beyond.append(heights[-1] - values - straight)
        for gain in (torch.stack(heights), torch.stack(beyond)):
            for index in gain.topk(self.units, dim=0).indices:
                yield _of_points(every, index, x)


@dataclass(frozen=True, kw_only=True)
class PatchMaximiser(InBall):
    """f = Σ_p f_p(x_p): maximise every patch separately, and keep the best point of every patch,
    not of every example. Starting points are x, full steps along the units, and full steps along
    the gradients at these points. In l_inf every patch may use the entire radius. In l2 and l1 the
    budget is split into `shares` equal parts, which dynamic programming distributes over the
    patches. A final ascent moves all patches together.

    >>> from adversarium.data import PatchData
    >>> from adversarium.rng import stream
    >>> from adversarium.sockets import Guide
    >>> batch = PatchData(d=3, P=2, alpha=1.0, sigma=0.0).sample(4, stream(0, "train"))
    >>> def cubes(x):
    ...     return -batch.y[:, None] * x[..., 0].pow(3)
    >>> loss = Guide(lambda x: cubes(x).sum(-1), torch.eye(1, 3).double(),
    ...              lambda x: cubes(x)[..., None])
    >>> attack = PatchMaximiser(p=2, radius=0.9)
    >>> bool((loss(attack(loss, batch, 0, stream(0, "attack"))) > 0).all())
    True
    """

    p: float = math.inf
    radius: float
    units: int = 64  # number of longest units used, with both signs
    keep: int = 4  # directions per patch whose gradients are also tried
    steps: int = 20
    shares: int = 8  # parts of an l2 or l1 budget
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        rivals = loss.patchwise if isinstance(loss, Guiding) else None
        directions = loss.directions if isinstance(loss, Guiding) else None
        if rivals is None or directions is None or not self.radius:
            return x
        self.ball.check(x)
        together = APGD(p=self.p, radius=self.radius, steps=self.steps, restarts=1, box=self.box)
        best = Best(x, loss(x).detach())
        task = _Patches(rivals, _longest(directions, self.units), x, self)
        for rival in range(task.clean.shape[-1]):
            z = self.ball.project(x, task.best(rival), best.height.ndim)
            best = best.offer(z, loss(z).detach())
            last = together.ascent(loss, x, z)
            best = best.offer(last.x, last.height)
        if self.p == 2 and self.box is None:
            z = PatchTransplant(radius=self.radius)(loss, batch, t, rng)
            best = best.offer(z, loss(z).detach())
        return best.x


@dataclass(frozen=True)
class _Patches:
    """A batch whose patches are maximised separately, as if each patch were an example."""

    rivals: Loss  # contribution of every patch to F_j − F_y, every class j ≠ y, (…, P, r)
    directions: Tensor  # (c, *S, d)
    x: Tensor  # (…, P, d)
    by: PatchMaximiser
    clean: Tensor = field(init=False)
    ranked: Tensor = field(init=False)  # the best directions of every patch and rival

    def __post_init__(self) -> None:
        full, x = self.by.ball, self.x
        with torch.no_grad():
            clean = self.rivals(x)
            tried = [
                self.rivals(full.steepest(x, _along(u, x), x.ndim - 1)) for u in self.directions
            ]
        object.__setattr__(self, "clean", clean)
        keep = min(self.by.keep, len(tried))
        object.__setattr__(self, "ranked", torch.stack(tried).topk(keep, dim=0).indices)

    def best(self, rival: int) -> Tensor:
        """Return the best points of all patches for one rival; the budget is split among them."""
        if self.by.p == math.inf:
            return self.maximised(rival, self.by.radius).x
        parts = torch.arange(self.by.shares + 1).double() / self.by.shares
        sizes = self.by.radius * (parts.sqrt() if self.by.p == 2 else parts)
        found = [Best(self.x, self.clean[..., rival])]
        found += [self.maximised(rival, float(size)) for size in sizes[1:]]
        share = allotted(torch.stack([best.height for best in found], dim=-1))
        points = torch.stack([best.x for best in found], dim=-2)  # (…, P, B + 1, d)
        where = share[..., None, None].expand(*share.shape, 1, points.shape[-1])
        return points.gather(-2, where).squeeze(-2)

    def maximised(self, rival: int, radius: float) -> Best:
        """Return the best point of every patch in its own ball."""
        x, by = self.x, self.by
        ball, lead = Ball(by.p, radius, by.box), x.ndim - 1

        def value(z: Tensor) -> Tensor:
            return self.rivals(z)[..., rival]

        best = Best(x, self.clean[..., rival])
        for index in self.ranked[..., rival]:
            z = ball.steepest(x, _of_points(self.directions, index, x), lead)
            height, g = climb(value, z)
            best = best.offer(z, height)
            z = ball.steepest(x, g, lead)
            best = best.offer(z, value(z).detach())
        ascent = APGD(p=by.p, radius=radius, steps=by.steps, restarts=1, box=by.box)
        for start in (best.x, x):
            again = ascent.ascent(value, x, start)
            best = best.offer(again.x, again.height)
        return best


def allotted(gains: Tensor) -> Tensor:
    """Return how many of B equal parts of a budget each of P patches gets, (…, P), such that the
    total gain is largest; patch p gains gains[…, p, b] from b parts.

    >>> allotted(torch.tensor([[0.0, 1.0, 1.5], [0.0, 0.0, 3.0]])).tolist()
    [0, 2]
    """
    *_, P, size = gains.shape
    total = torch.full_like(gains[..., 0, :], -math.inf)
    total[..., 0] = 0
    choices = []
    for p in range(P):
        options = torch.stack(
            [
                torch.cat([torch.full_like(total[..., :c], -math.inf), total[..., : size - c]], -1)
                + gains[..., p, c, None]
                for c in range(size)
            ]
        )
        total, choice = options.max(0)
        choices.append(choice)
    left = total.argmax(-1, keepdim=True)
    shares = []
    for choice in reversed(choices):
        shares.append(choice.gather(-1, left))
        left = left - shares[-1]
    return torch.cat(shares[::-1], dim=-1)
