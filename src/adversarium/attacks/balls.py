"""Perturbation sets B_p(x, radius), p ∈ {1, 2, ∞}, optionally intersected with a box.

Everything acts per example on x of shape (*batch, *event); `lead` is the number of batch axes. With
a box, `project` and `steepest` are exact on the intersection, not approximated by clamping.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

import torch
from torch import Tensor

from adversarium.rng import Streams, normal, uniform

_TINY = 1e-30  # makes 0/0 equal 0 in both precisions


def _on_flat_events(
    method: Callable[["Ball", Tensor, Tensor], Tensor],
) -> Callable[["Ball", Tensor, Tensor, int], Tensor]:
    """Apply a method for (*batch, D) tensors to (*batch, *event) tensors."""

    @wraps(method)
    def wrapped(self: "Ball", x: Tensor, z: Tensor, lead: int) -> Tensor:
        if self.radius == 0:
            return x.clone()
        if x.ndim == lead:  # scalar events
            return method(self, x[..., None], z[..., None])[..., 0]
        return method(self, x.flatten(lead), z.flatten(lead)).view(x.shape)

    return wrapped


def whole(p: float) -> float:
    """Return 1 for 1.0 and 2 for 2.0: the names of attacks and of random streams contain p."""
    return int(p) if p in (1, 2) else p


def unit(g: Tensor) -> Tensor:
    """Return g/‖g‖₂ along the last axis, 0 where g = 0; it neither overflows nor underflows."""
    peak = g.abs().amax(-1, keepdim=True)
    scaled = g / torch.where(peak > 0, peak, 1.0)
    length: Tensor = scaled.norm(dim=-1, keepdim=True)
    return scaled / length.clamp_min(_TINY)


def norm(z: Tensor, p: float, lead: int) -> Tensor:
    """Return ‖z‖_p of every example."""
    size: Tensor = z.flatten(lead).norm(p, dim=-1) if z.ndim > lead else z.abs()
    return size


@dataclass(frozen=True)
class Ball:
    """B_p(x, radius) = {x' : ‖x' − x‖_p ≤ radius}, and x' in [low, high] if `box` is given.

    >>> Ball(2, 1.0).project(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), lead=1)
    tensor([[0.6000, 0.8000]])
    """

    p: float
    radius: float
    box: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.p not in (1, 2, math.inf):
            raise ValueError(f"Ball needs p = 1, 2 or inf (a number: math.inf), got {self.p!r}.")
        object.__setattr__(self, "p", whole(self.p))
        if not self.radius >= 0:
            raise ValueError(
                f"Ball needs radius >= 0, got {self.radius}; for clean training use attack=None."
            )
        if self.box is not None and not self.box[0] < self.box[1]:
            raise ValueError(f"Ball needs a box (low, high) with low < high, got {self.box}.")

    def check(self, x: Tensor) -> None:
        """Raise if the data are not finite or lie outside the box (rounded to the data's dtype).
        They are not clamped, because that would silently change them."""
        if not bool(x.isfinite().all()):
            raise ValueError(
                "an attack needs finite data, got "
                f"{int((~x.isfinite()).sum())} infinite or NaN entries."
            )
        if self.box is None or not x.numel():
            return
        low, high = float(x.min()), float(x.max())
        wall = torch.tensor(self.box, dtype=x.dtype).tolist()
        if low < wall[0] or high > wall[1]:
            raise ValueError(
                f"an attack needs a box that contains the data, got box={self.box} and data in "
                f"[{low:.4g}, {high:.4g}]; widen the box or use box=None."
            )

    @_on_flat_events
    def project(self, x: Tensor, z: Tensor) -> Tensor:
        """Return the point of the set about x that is nearest to z in l2."""
        if self.p == math.inf:
            low, high = self.limits(x)
            return torch.maximum(torch.minimum(z, high), low)
        move = z - x
        if self.p == 2:
            if self.box is None:
                length: Tensor = move.norm(dim=-1, keepdim=True)
                return x + move * (self.radius / length.clamp_min(_TINY)).clamp(max=1)
            return self._within(x, move, _stretch(move, self._walls(x, move), self.radius, 1.0))
        if self.box is None:
            return x + _l1_nearest(move, self.radius)
        return self._within(x, move, _l1_boxed(move, self._walls(x, move), self.radius))

    @_on_flat_events
    def steepest(self, x: Tensor, g: Tensor) -> Tensor:
        """Return a point of the set about x that maximises ⟨g, x'⟩; x itself where g = 0."""
        if self.p == math.inf:
            low, high = self.limits(x)
            return torch.where(g > 0, high, torch.where(g < 0, low, x))
        if self.p == 2:
            along = unit(g)
            if self.box is None:
                return x + self.radius * along
            # the maximiser is clip(x + s·g) with the smallest s that spends the budget
            return self._within(x, g, _stretch(along, self._walls(x, g), self.radius))
        return self._greedy(x, g)

    def sample(self, x: Tensor, lead: int, rng: Streams) -> Tensor:
        """Draw a uniform point of the ball about x, per example; with a box, project it into the
        box."""
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

    def enclosed(self, x: Tensor, z: Tensor, lead: int) -> Tensor:
        """Return z, moved towards x where rounding has put it outside the set: in exact arithmetic
        the result lies in the set.

        >>> x = torch.tensor([[0.3, 0.7]])
        >>> z = Ball(math.inf, 1e-5).enclosed(x, x + 1e-5, lead=1)
        >>> bool(((z.double() - x.double()).abs() <= 1e-5).all())
        True
        """
        wide, start = z.double(), x.double()
        for _ in range(4):
            move = (wide - start).flatten(lead) if x.ndim > lead else (wide - start)[..., None]
            length: Tensor = move.norm(self.p, dim=-1, keepdim=True)
            outside = length > self.radius
            if not bool(outside.any()):
                break
            shrink = torch.where(outside, self.radius / length.clamp_min(_TINY) * (1 - 1e-12), 1.0)
            wanted = move * shrink
            near = (start + wanted.view(x.shape)).to(z.dtype)
            far = (near.double() - start).abs() > wanted.abs().view(x.shape)
            z = torch.where(far, torch.nextafter(near, x.to(z.dtype)), near)
            wide = z.double()
        return self._boxed(z)

    def limits(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the smallest and the largest coordinates of the set in l_inf."""
        low, high = x - self.radius, x + self.radius
        return (low, high) if self.box is None else (self._boxed(low), self._boxed(high))

    def _boxed(self, z: Tensor) -> Tensor:
        return z if self.box is None else z.clamp(*self.box)

    def _walls(self, x: Tensor, g: Tensor) -> Tensor:
        """Return how far every coordinate may move in the direction of g."""
        assert self.box is not None
        low, high = torch.tensor(self.box, dtype=x.dtype).tolist()
        return torch.where(g > 0, high - x, x - low)

    def _within(self, x: Tensor, g: Tensor, size: Tensor) -> Tensor:
        """Return x + sign(g)·size, corrected for rounding so that it stays in the ball and the
        box."""
        length: Tensor = size.norm(self.p, dim=-1, keepdim=True)
        fits = (self.radius / length.clamp_min(_TINY)).clamp(max=1)
        return self._boxed(x + torch.sign(g) * size * fits)

    def _greedy(self, x: Tensor, g: Tensor) -> Tensor:
        """For p = 1, move the coordinates of largest |g| to their walls until the radius is
        spent."""
        room = torch.full_like(x, self.radius)
        if self.box is not None:
            room = torch.minimum(room, self._walls(x, g))
        order = g.abs().argsort(dim=-1, descending=True, stable=True)
        filled = room.gather(-1, order)
        before = filled.cumsum(-1) - filled
        spent = torch.minimum(filled, (self.radius - before).clamp_min(0))
        return self._boxed(x + torch.sign(g) * torch.zeros_like(x).scatter(-1, order, spent))


def _stretch(a: Tensor, wall: Tensor, radius: float, most: float = math.inf) -> Tensor:
    """Return min(s|a_i|, wall_i) with the largest s ≤ `most` for which its l2 norm is at most the
    radius. Coordinates hit their walls as s grows; s² = (radius² − Σ_hit wall²)/Σ_free a²."""
    a, wall = a.abs(), wall.clamp_min(0)
    hit, order = torch.where(a > 0, wall / a, math.inf).sort(dim=-1)
    free = a.gather(-1, order).square()
    spent = torch.where(hit < math.inf, wall.gather(-1, order), 0).square().cumsum(-1)
    tail = free.flip(-1).cumsum(-1).flip(-1)
    nothing = torch.zeros_like(spent[..., :1])
    later = torch.cat([tail[..., 1:], nothing], dim=-1)  # Σ_free beyond each wall
    cost = spent + torch.where(later > 0, hit.square() * later, 0)
    cost = torch.where(hit < math.inf, cost, math.inf)
    count = (cost <= radius**2).sum(-1, keepdim=True)
    before = torch.cat([nothing, spent], dim=-1).gather(-1, count)
    rest = torch.cat([tail[..., :1], later], dim=-1).gather(-1, count)
    s = torch.where(rest > 0, ((radius**2 - before).clamp_min(0) / rest).sqrt(), math.inf)
    return torch.where(a > 0, torch.minimum(s.clamp(max=most) * a, wall), 0)


def _l1_nearest(move: Tensor, radius: float) -> Tensor:
    """Return sign(m)·max(|m| − τ, 0) with τ such that the l1 norm is `radius`, or m = `move` itself
    if it is shorter. Values are relative to the largest |m|, in float64, to avoid cancellation
    after long steps."""
    m = move.double().abs()
    peak = m.amax(-1, keepdim=True)
    u = (m - peak).clamp_min(-radius)  # values lower by more than the radius become 0
    top = u.sort(dim=-1, descending=True).values
    excess = top.cumsum(-1) - radius
    count = torch.arange(1, u.shape[-1] + 1, device=u.device, dtype=u.dtype)
    active = (top * count > excess).sum(-1, keepdim=True).clamp_min(1)
    level = excess.gather(-1, active - 1) / active
    size = (u - level).clamp_min(0)
    size = size * (radius / size.sum(-1, keepdim=True).clamp_min(_TINY)).clamp(max=1)
    nearest = torch.sign(move) * size.to(move)
    return torch.where(m.sum(-1, keepdim=True) <= radius, move, nearest)


def _l1_boxed(move: Tensor, wall: Tensor, radius: float) -> Tensor:
    """Return min((|m_i| − τ)₊, wall_i) with the smallest τ ≥ 0 for which the sum is at most the
    radius. The sum is linear between corners: coordinate i is positive for τ < |m_i|, and at its
    wall for τ < |m_i| − wall_i."""
    m, w = move.double().abs(), wall.double().clamp_min(0)
    u = m - m.amax(-1, keepdim=True)
    corner, order = torch.cat([u, u - w], dim=-1).sort(dim=-1, descending=True)
    slope = torch.cat([torch.ones_like(u), -torch.ones_like(u)], dim=-1).gather(-1, order)
    slope = slope.cumsum(-1)
    grown = (slope[..., :-1] * (corner[..., :-1] - corner[..., 1:])).cumsum(-1)
    total = torch.cat([torch.zeros_like(grown[..., :1]), grown], dim=-1)
    last = ((total <= radius).sum(-1, keepdim=True) - 1).clamp_min(0)
    at, used, steep = (v.gather(-1, last) for v in (corner, total, slope))
    level = at - torch.where(steep > 0, (radius - used) / steep.clamp_min(1), 0)
    size = torch.minimum((u - level).clamp_min(0), w)
    free = torch.minimum(m, w)
    return torch.where(free.sum(-1, keepdim=True) <= radius, free, size).to(move)


class InBall:
    """The base class of attacks with a norm, a radius and a box, which define a ball. An attack for
    a single norm has p as a class attribute, and box = None if it does not support a box.

    >>> from adversarium.attacks import FGSM
    >>> FGSM(p=2, radius=0.5).ball == Ball(2.0, 0.5)
    True
    """

    p: float
    radius: float
    box: tuple[float, float] | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", self.ball.p)  # 1 for 1.0, 2 for 2.0

    @property
    def ball(self) -> Ball:
        """Return the perturbation set."""
        return Ball(self.p, self.radius, self.box)
