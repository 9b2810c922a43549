"""Gradient attacks: find points of a ball by ascent on a loss.

An attack receives a loss (a map from x to one number per example) and never a network. It follows
the gradient of each example separately, whatever the size of the batch. Its field `loss` names the
loss to increase. The default is logit_difference, because the gradient of a saturated cross-entropy
vanishes, so points that are not robust look robust.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball, InBall, norm, unit
from adversarium.attacks.best import Best, per_example
from adversarium.rng import Streams
from adversarium.sockets import Labelled, Loss, Points


class NoGradient(TypeError):
    """The loss is not differentiable with respect to x."""


def climb(loss: Loss, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the loss of every example and its gradient in x.

    Infinite entries of the gradient become large numbers. If the loss of an example is NaN, its
    gradient is set to 1 in every coordinate, so that an ascent leaves the point.
    """
    with torch.enable_grad():
        z = x.detach().requires_grad_(True)
        values = loss(z)
        found: tuple[Tensor | None, ...] = (None,)
        if values.requires_grad:
            found = torch.autograd.grad(values.sum(), z, allow_unused=True)
    if found[0] is None:
        raise NoGradient(
            "this attack needs the gradient of the loss in x, but the loss has none (is x detached "
            "or used as an index?); RandomSearch and Corners need no gradient."
        )
    values, large = values.detach(), torch.finfo(x.dtype).max ** 0.25
    gradient = found[0].nan_to_num(0.0, large, -large)
    nowhere = values.isnan().view(*values.shape, *[1] * (x.ndim - values.ndim))
    return values, gradient.masked_fill_(nowhere, 1.0)


def batch_axes(loss: Loss, batch: Points) -> int:
    """Return the number of leading axes of x that index examples, as y or the loss has them."""
    return batch.y.ndim if isinstance(batch, Labelled) else loss(batch.x).ndim


def flat(loss: Loss, x: Tensor, p: float, radius: float) -> Tensor:
    """Return for which examples the gradient has vanished: to first order, no point of the ball
    changes the loss by more than a millionth of its value. If an attack fails on such an example,
    this is no evidence that it is robust. In a ball of radius 0 no example counts as flat.

    >>> flat(lambda x: (10 * x.mean(-1)).clamp(-1, 1), torch.tensor([[0.0], [1.0]]), 2, 0.5)
    tensor([False,  True])
    """
    values, g = climb(loss, x)
    dual = {1: math.inf, 2: 2, math.inf: 1}[p]
    still = radius * norm(g, dual, values.ndim) <= 1e-6 * values.abs()
    return still & (radius > 0)


@dataclass(frozen=True, kw_only=True)
class FGSM(InBall):
    """x' = argmax of ⟨∇loss(x), x'⟩ over the ball: one full step of steepest ascent.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = FGSM(radius=0.5)(lambda x: x.sum(-1), batch, 0, stream(0, "attack"))
    >>> torch.equal(moved, batch.x + 0.5)
    True
    """

    p: float = math.inf
    radius: float
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        self.ball.check(batch.x)
        values, g = climb(loss, batch.x)
        return self.ball.steepest(batch.x, g, values.ndim)


@dataclass(frozen=True, kw_only=True)
class NoisyFGSM:
    """N-FGSM (de Jorge and others, 2022): uniform noise of size noise·radius, then one full
    steepest-ascent step from there, without projection. A training attack only: the result may lie
    (1 + noise)·radius away in l_inf.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = NoisyFGSM(radius=0.5)(lambda x: x.sum(-1), batch, 0, stream(0, "attack"))
    >>> far = (moved - batch.x).abs().max().item()
    >>> 0.5 < far <= 1.5
    True
    """

    radius: float
    noise: float = 2.0  # size of the noise, relative to the radius
    loss: str = "cross_entropy"
    box: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not self.radius >= 0 or not self.noise >= 0:
            raise ValueError(
                f"NoisyFGSM needs radius >= 0 and noise >= 0, got {self.radius} and {self.noise}."
            )

    @property
    def ball(self) -> Ball:
        """The set that the result stays in, which is larger than B_inf(x, radius)."""
        return Ball(math.inf, (1 + self.noise) * self.radius, self.box)

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        wide = Ball(math.inf, self.noise * self.radius, self.box)
        start = wide.sample(batch.x, 1, rng)  # in l_inf all coordinates are independent
        _, g = climb(loss, start)
        moved = start + self.radius * g.sign()
        return moved if self.box is None else moved.clamp(*self.box)


@dataclass(frozen=True, kw_only=True)
class PGD(InBall):
    """Projected gradient ascent: x ← P(x + step·direction), where direction is the steepest-ascent
    direction of unit p-norm, or the raw gradient. The best result of all restarts is returned. If
    `best` is set, an ascent returns its best iterate, otherwise its last.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = PGD(p=2, radius=0.5, steps=5)(lambda x: x[:, 0], batch, 0, stream(0, "attack"))
    >>> [round(gain, 12) for gain in (moved - batch.x)[:, 0].tolist()]
    [0.5, 0.5, 0.5]
    """

    p: float = math.inf
    radius: float
    steps: int = 20
    step: float | None = None  # 2.5·radius/steps if None
    normalised: bool = True  # False: the raw gradient
    start: Literal["zero", "uniform"] = "zero"
    restarts: int = 1  # the first begins at `start`, the others at uniform points
    best: bool = True
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None
    after: int = 0  # no perturbation before this training step

    @property
    def step_size(self) -> float:
        """Return the length of a step in the norm p, or the factor of a raw gradient."""
        return 2.5 * self.radius / self.steps if self.step is None else self.step

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < 1 or self.restarts < 1:
            raise ValueError(
                f"PGD needs steps >= 1 and restarts >= 1, got {self.steps} and {self.restarts}."
            )
        if self.step is not None and self.step < 0:
            raise ValueError(f"PGD needs step >= 0, got {self.step}.")

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        if t < self.after:
            return batch.x
        self.ball.check(batch.x)
        x, best = batch.x, None
        for restart in range(self.restarts):
            start = x
            if restart > 0 or self.start == "uniform":
                start = self.ball.sample(x, batch_axes(loss, batch), rng)
            again = self._ascent(loss, x, start)
            best = again if best is None else best.offer(again.x, again.height)
        assert best is not None
        return best.x

    def _ascent(self, loss: Loss, x: Tensor, z: Tensor) -> Best:
        """Run one ascent from z; return its best (or last) iterate and the loss there, which is not
        computed for a last iterate that nothing is compared with."""
        values, g = climb(loss, z)
        lead, ball = values.ndim, self.ball
        walls = ball.limits(x) if self.p == math.inf and self.radius else None
        kept = Best(z, values)
        for k in range(self.steps):
            z = self._moved(z, g, lead)
            z = ball.project(x, z, lead) if walls is None else z.clamp(*walls)
            if k + 1 < self.steps:
                values, g = climb(loss, z)
            elif self.best or self.restarts > 1:  # the last point needs no gradient
                values = loss(z).detach()
            kept = kept.offer(z, values) if self.best else Best(z, values)
        return kept

    def _moved(self, z: Tensor, g: Tensor, lead: int) -> Tensor:
        if not self.normalised:  # clipped, so that its square cannot overflow
            large = 1e-4 * torch.finfo(z.dtype).max ** 0.5
            return z + (self.step_size * g).clamp(-large, large)
        if self.p == math.inf:
            return z + self.step_size * g.sign()
        return Ball(self.p, self.step_size).steepest(z, g, lead)


@dataclass(frozen=True, kw_only=True)
class APGD(InBall):
    """Ascent with momentum and a step that halves, per example, when progress stops.

    This attack resembles Auto-PGD (Croce and Hein). It starts once from x, then from uniform
    points, and returns the best point found.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = APGD(radius=0.5, steps=10)(lambda x: x.sum(-1), batch, 0, stream(0, "attack"))
    >>> torch.equal(moved, batch.x + 0.5)
    True
    """

    p: float = math.inf
    radius: float
    steps: int = 50
    restarts: int = 3
    loss: str = "logit_difference"
    box: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < 1 or self.restarts < 1:
            raise ValueError(
                f"APGD needs steps >= 1 and restarts >= 1, got {self.steps} and {self.restarts}."
            )

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        self.ball.check(batch.x)
        x = batch.x
        best = Best(x, loss(x).detach())
        for restart in range(self.restarts):
            start = x if restart == 0 else self.ball.sample(x, best.height.ndim, rng)
            again = self.ascent(loss, x, start)
            best = best.offer(again.x, again.height)
        return best.x

    def ascent(self, loss: Loss, x: Tensor, start: Tensor) -> Best:
        """Run one ascent from `start`, a point of the ball about x; return the best point and its
        loss. At each checkpoint, an example whose loss has stalled halves its step size and
        continues from its best point."""
        values, g = climb(loss, start)
        step, looks = torch.full_like(values, 2 * self.radius), self._looks()
        z, previous = start, start
        best, best_g = Best(start, values), g
        gains, last_height = torch.zeros_like(values), values  # since the last checkpoint
        halved = torch.zeros_like(values, dtype=torch.bool)  # at the last checkpoint
        for k in range(self.steps):
            z, previous = self._next(x, z, previous, g, step, k), z
            before, (values, g) = values, climb(loss, z)
            best_g = per_example(values > best.height, g, best_g)
            best = best.offer(z, values)
            gains = gains + (values > before)
            if k + 1 in looks:
                few = gains < 0.75 * looks[k + 1]
                stalled = few | (~halved & (best.height <= last_height))
                step = torch.where(stalled, step / 2, step)
                z, g = per_example(stalled, best.x, z), per_example(stalled, best_g, g)
                values = torch.where(stalled, best.height, values)
                previous = per_example(stalled, z, previous)  # no momentum
                halved, gains, last_height = stalled, torch.zeros_like(gains), best.height
        return best

    def _looks(self) -> dict[int, int]:
        """Return the steps after which progress is checked, each with the number of steps since the
        previous check, which decreases."""
        looks, k = {}, 0
        while k < self.steps:
            shrinking: float = 0.22 * self.steps * 0.85 ** (6 * k / self.steps)
            window = max(3, round(shrinking))
            k += window
            looks[k] = window
        return looks

    def _next(
        self, x: Tensor, z: Tensor, previous: Tensor, g: Tensor, step: Tensor, k: int
    ) -> Tensor:
        """Return P(z + ¾(z₊ − z) + ¼(z − z₋)) with z₊ = P(z + step·direction) and z₋ the previous
        point; the first step returns z₊."""
        lead = step.ndim
        target = self.ball.project(x, self._moved(z, g, step, lead, k), lead)
        momentum = target if k == 0 else target + 0.25 * (z - previous) - 0.25 * (target - z)
        return self.ball.project(x, momentum, lead)

    def _moved(self, z: Tensor, g: Tensor, step: Tensor, lead: int, k: int) -> Tensor:
        """Return z + step × (the steepest direction of unit norm). For p = 1 the step is spread
        over the largest coordinates of g, because steps in single coordinates are slow; the share
        used cycles between 1/2 and 1/64."""
        if g.ndim == lead:
            return z + step * torch.sign(g)
        flat = g.flatten(lead)
        if self.p == math.inf:
            along = torch.sign(flat)
        elif self.p == 2:
            along = unit(flat)
        else:
            D = flat.shape[-1]
            width = max(1, round(D * 0.5 ** (1 + 5 * ((k * 7) % self.steps) / self.steps)))
            kept = flat.abs() >= flat.abs().topk(width, dim=-1).values[..., -1:]
            along = torch.sign(flat) * kept
            along = along / along.abs().sum(-1, keepdim=True).clamp_min(1)
        return z + (step[..., None] * along).view(z.shape)


@dataclass(frozen=True, kw_only=True)
class MarginStep(InBall):
    """X̃ = X + Clip(η̃ ∇_X L_margin), the one-step attack of §2.4 of RNRF, L_margin = −F_y.

    `over` divides η̃: with over = N the step follows the gradient of the batch mean. The divisor is
    fixed, whatever the number of attacked points. By default (over = 1), η̃ applies per example, as
    in the paper's formula. `clip` limits every coordinate to ±ε ("element") or rescales every patch
    to a sup norm of at most ε ("patch").

    >>> from adversarium.data import TwoFeaturePatches
    >>> from adversarium.rng import stream
    >>> batch = TwoFeaturePatches(d=4, P=2).sample(3, stream(0, "train"))
    >>> attack = MarginStep(radius=0.5, step=10.0)
    >>> torch.equal(attack(lambda x: x.sum((-1, -2)), batch, 0, stream(0, "a")), batch.x + 0.5)
    True
    """

    p = math.inf
    box = None

    radius: float
    step: float  # η̃
    over: int = 1
    clip: Literal["element", "patch"] = "element"
    loss: str = "minus_true_logit"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step < 0 or self.over < 1:
            raise ValueError(
                f"MarginStep needs step >= 0 and over >= 1, got {self.step} and {self.over}."
            )

    @property
    def step_size(self) -> float:
        """Return η̃ per point."""
        return self.step / self.over

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        self.ball.check(batch.x)
        _, g = climb(loss, batch.x)
        move = self.step_size * g
        if self.clip == "element":
            return batch.x + move.clamp(-self.radius, self.radius)
        height = move.abs().amax(-1, keepdim=True)
        return batch.x + move * (self.radius / height.clamp_min(1e-30)).clamp(max=1)
