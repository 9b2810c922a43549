"""Perturbation sets B_p(x, radius), p ∈ {1, 2, ∞}, optionally intersected with a box.

Everything acts per example on x of shape (*batch, *event); `lead` is the number of batch axes.
With a box, all three operations are exact on the intersection: nothing is clamped afterwards.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

import torch
from torch import Tensor

from adversarium.rng import Streams, normal, uniform

_TINY = 1e-30  # keeps 0/0 at 0 in both precisions
_BISECTIONS = 100  # 40 for the order of magnitude, 60 for the digits of a float64


def _on_flat_events(
    method: Callable[["Ball", Tensor, Tensor], Tensor],
) -> Callable[["Ball", Tensor, Tensor, int], Tensor]:
    """Lets a method for (*batch, D) tensors act on (*batch, *event) ones."""

    @wraps(method)
    def wrapped(self: "Ball", x: Tensor, z: Tensor, lead: int) -> Tensor:
        if self.radius == 0:
            return x.clone()
        if x.ndim == lead:  # scalar events
            return method(self, x[..., None], z[..., None])[..., 0]
        return method(self, x.flatten(lead), z.flatten(lead)).view(x.shape)

    return wrapped


def unit(g: Tensor) -> Tensor:
    """g/‖g‖₂ along the last axis, 0 where g = 0; sound for gradients whose squares overflow."""
    scaled = g / g.abs().amax(-1, keepdim=True).clamp_min(_TINY)
    length: Tensor = scaled.norm(dim=-1, keepdim=True)
    return scaled / length.clamp_min(_TINY)


def norm(z: Tensor, p: float, lead: int) -> Tensor:
    """‖z‖_p of every example."""
    size: Tensor = z.flatten(lead).norm(p, dim=-1) if z.ndim > lead else z.abs()
    return size


@dataclass(frozen=True)
class Ball:
    """B_p(x, radius) = {x' : ‖x' − x‖_p ≤ radius}, and x' in [low, high] when `box` is given.

    >>> Ball(2, 1.0).project(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), lead=1)
    tensor([[0.6000, 0.8000]])
    """

    p: float
    radius: float
    box: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.p not in (1, 2, math.inf):
            raise ValueError(f"Ball needs p = 1, 2 or inf, got {self.p}.")
        if not self.radius >= 0:
            raise ValueError(
                f"Ball needs radius >= 0, got {self.radius}; for clean training use attack=None."
            )
        if self.box is not None and not self.box[0] < self.box[1]:
            raise ValueError(f"Ball needs a box (low, high) with low < high, got {self.box}.")

    def check(self, x: Tensor) -> None:
        """Refuses data outside the box: clamping them would silently change the data."""
        if self.box is None or not x.numel():
            return
        low, high = float(x.min()), float(x.max())
        if low < self.box[0] or high > self.box[1]:
            raise ValueError(
                f"the attack's box is {self.box}, the data lie in [{low:.4g}, {high:.4g}]; "
                "widen the box or leave it out (box=None)."
            )

    @_on_flat_events
    def project(self, x: Tensor, z: Tensor) -> Tensor:
        """The point of the set about x that is nearest to z in l2."""
        if self.p == math.inf:
            low, high = self._limits(x)
            return torch.maximum(torch.minimum(z, high), low)
        move = z - x
        if self.p == 2:
            if self.box is None:
                length: Tensor = move.norm(dim=-1, keepdim=True)
                return x + move * (self.radius / length.clamp_min(_TINY)).clamp(max=1)
            return self._largest(x, lambda s: self._boxed(x + move * s))
        if self.box is None:
            return x + _soft(move, _l1_threshold(move, self.radius))
        peak = move.abs().amax(-1, keepdim=True)
        return self._largest(x, lambda s: self._boxed(x + _soft(move, (1 - s) * peak)))

    @_on_flat_events
    def steepest(self, x: Tensor, g: Tensor) -> Tensor:
        """A point of the set about x that maximises ⟨g, x'⟩; x itself where g = 0."""
        if self.p == math.inf:
            low, high = self._limits(x)
            return torch.where(g > 0, high, torch.where(g < 0, low, x))
        if self.p == 2:
            along = unit(g)
            if self.box is None:
                return x + self.radius * along
            # the maximiser is clip(x + s·g) with the smallest s that spends the budget
            reach = 2 * (self.box[1] - self.box[0]) + self.radius
            smallest = torch.where(along == 0, math.inf, along.abs()).amin(-1, keepdim=True)
            far = reach / smallest.clamp_min(1e-12)
            far = torch.where(far.isfinite(), far, 1.0)
            return self._largest(x, lambda s: self._boxed(x + far * s * along), curved=True)
        return self._greedy(x, g)

    def sample(self, x: Tensor, lead: int, rng: Streams) -> Tensor:
        """A uniform point of the ball about x, per example; with a box, its projection into it."""
        shape = (*x.shape[:lead], max(1, math.prod(x.shape[lead:])))
        if self.p == math.inf:
            delta = 2 * uniform(shape, rng) - 1
        elif self.p == 2:
            delta = normal(shape, rng)
            delta = delta / delta.norm(dim=-1, keepdim=True)
            delta = delta * uniform((*shape[:-1], 1), rng) ** (1 / shape[-1])
        else:
            gaps = -torch.log1p(-uniform((*shape[:-1], shape[-1] + 1), rng))
            sides = torch.where(uniform(shape, rng) < 0.5, -1.0, 1.0)
            delta = sides * gaps[..., :-1] / gaps.sum(-1, keepdim=True)
        z = x + self.radius * delta.to(x).view(x.shape)
        return self.project(x, z, lead)

    def _limits(self, x: Tensor) -> tuple[Tensor, Tensor]:
        low, high = x - self.radius, x + self.radius
        return (low, high) if self.box is None else (self._boxed(low), self._boxed(high))

    def _boxed(self, z: Tensor) -> Tensor:
        return z if self.box is None else z.clamp(*self.box)

    def _largest(self, x: Tensor, path: Callable[[Tensor], Tensor], curved: bool = False) -> Tensor:
        """path(s) for the largest s ∈ [0, 1] that stays within the radius, by bisection.

        ‖path(s) − x‖_p is non-decreasing in s for each path above, and the kept end is always
        inside. A curved path spans many orders of magnitude and is bisected in log s first.
        """

        def inside(s: Tensor) -> Tensor:
            length: Tensor = (path(s) - x).norm(self.p, dim=-1, keepdim=True)
            return length <= self.radius

        one = torch.ones_like(x[..., :1])
        low, high = (1e-18 if curved else 0) * one, one
        whole = inside(one)
        for step in range(_BISECTIONS):
            middle = (low * high).sqrt() if curved and step < 40 else (low + high) / 2
            fits = inside(middle)
            low, high = torch.where(fits, middle, low), torch.where(fits, high, middle)
        return path(torch.where(whole, one, low))

    def _greedy(self, x: Tensor, g: Tensor) -> Tensor:
        """p = 1: spend the budget on the coordinates of largest |g|, each up to its wall."""
        room = torch.full_like(x, self.radius)
        if self.box is not None:
            wall = torch.where(g > 0, self.box[1] - x, x - self.box[0])
            room = torch.minimum(room, wall)
        order = g.abs().argsort(dim=-1, descending=True, stable=True)
        filled = room.gather(-1, order)
        before = filled.cumsum(-1) - filled
        spent = torch.minimum(filled, (self.radius - before).clamp_min(0))
        return x + torch.sign(g) * torch.zeros_like(x).scatter(-1, order, spent)


def _soft(z: Tensor, threshold: Tensor) -> Tensor:
    """sign(z)·max(|z| − threshold, 0)."""
    return torch.sign(z) * (z.abs() - threshold).clamp_min(0)


def _l1_threshold(z: Tensor, radius: float) -> Tensor:
    """The threshold at which soft-thresholding brings ‖z‖₁ down to the radius; 0 if it is below."""
    u = z.abs().sort(dim=-1, descending=True).values
    excess = u.cumsum(-1) - radius
    count = torch.arange(1, u.shape[-1] + 1, device=z.device, dtype=z.dtype)
    active = (u * count > excess).sum(-1, keepdim=True).clamp_min(1)
    return (excess.gather(-1, active - 1) / active).clamp_min(0)
