"""l2 balls under a linear part and threshold units (§4 of CGRM): which units can be switched inside
a ball, the least margin there, and steps towards every sleeping unit."""

from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.shapes import Bool, Float, Int
from adversarium.trials.cells import Classifier

_AT_ONCE = 20_000  # steps that are looked at together


@dataclass(frozen=True)
class Memory:
    """f(x) = ⟨w_0, x⟩ + Σ_i a_i relu(⟨w_i, x⟩ − b) with ‖w_0‖ = 1, w_i ⊥ w_0 and a_i = ±1."""

    w_0: Float[Tensor, " d"]
    w: Float[Tensor, "m d"]
    a: Float[Tensor, " m"]
    b: float

    @property
    def weights(self) -> dict[str, Tensor]:
        """As the mixed network keeps them."""
        return {"w_0": self.w_0, "w": self.w, "a": self.a}


@dataclass(frozen=True)
class Worst:
    """min_{‖ξ‖₂≤δ} y f(x + ξ), a number a point: `found` by steps into the ball, so at least the
    minimum; `least` by the exact check, at most the minimum, and equal to it where no foreign unit
    is reachable. `affine`: no unit switches inside the ball."""

    found: Float[Tensor, " n"]
    least: Float[Tensor, " n"]
    reachable: Bool[Tensor, " n"]
    affine: Bool[Tensor, " n"]


def worst_margins(
    f: Classifier | None,
    memory: Memory,
    x: Float[Tensor, "n d"],
    y: Float[Tensor, " n"],
    delta: float,
    own: Int[Tensor, " n"],
) -> Worst:
    """The least margins in l2 balls, Theorem 4.2 of CGRM. `own` is the unit that memorised a point
    (−1: none), with a = y; every other unit is foreign. A unit is reachable where
    ⟨w_j, x⟩ + δ‖w_j‖ > b. Without `f` no steps are taken, and `found` is `least`."""
    over = x @ memory.w.mT - memory.b  # ⟨w_j, x⟩ − b
    length: Tensor = memory.w.norm(dim=1)
    mine = own[:, None] == torch.arange(len(length))
    awake = (over + delta * length).relu().where(~mine, 0.0)  # the most that a foreign unit gives
    against = awake * (y[:, None] != memory.a)
    linear = y * (x @ memory.w_0)
    has = own >= 0
    at = own.clamp_min(0)
    up = over.gather(1, at[:, None])[:, 0] if len(length) else torch.zeros_like(linear)
    long = length[at] if len(length) else torch.ones_like(linear)
    up = up.where(has, -1.0)
    away, across = _to_the_minimum(up, long, delta)
    alone = linear - across + (up - long * away).relu()
    least = alone - against.sum(1)
    reachable = (awake > 0).any(1)
    affine = ~reachable & (~has | (up > delta * long) | (up < -delta * long))
    if f is None:
        return Worst(least, least, reachable, affine)
    inward = memory.w[at] * (away / long)[:, None] if len(length) else torch.zeros_like(x)
    step = -inward - (y * across)[:, None] * memory.w_0
    found = torch.minimum(y * f(x), y * f(x + step))
    found = torch.minimum(found, _directed(f, memory, x, y, delta, own, against > 0))
    return Worst(found, least, reachable, affine)


def _to_the_minimum(
    up: Float[Tensor, " n"], length: Float[Tensor, " n"], delta: float
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """(s, t) with s² + t² ≤ δ² at which −t + relu(up − ‖w‖s) is least: s away from the own unit, t
    across the linear part. Down the slope while the unit stays on; else to where it falls asleep
    and then across; a sleeping unit changes nothing."""
    steep = delta * length / (1 + length.square()).sqrt()
    away = torch.minimum(steep, (up / length).clamp_min(0)).where(up > 0, 0.0)
    across = (delta**2 - away.square()).clamp_min(0).sqrt()
    return away, across


def _directed(
    f: Classifier,
    memory: Memory,
    x: Float[Tensor, "n d"],
    y: Float[Tensor, " n"],
    delta: float,
    own: Int[Tensor, " n"],
    reachable: Bool[Tensor, "n m"],
) -> Float[Tensor, " n"]:
    """The least y f after a step of length δ along w_j − y w_0 towards every unit j that can be
    woken against the label, the same less the own unit, and towards all of them at once."""
    found = torch.full_like(y, torch.inf)
    point, unit = reachable.nonzero(as_tuple=True)
    back = (y[:, None] * memory.w_0)[point]
    to = memory.w[unit] - back
    mine = memory.w[own[point].clamp_min(0)] * (own[point] >= 0).double()[:, None]
    crowd = reachable.double() @ memory.w - y[:, None] * memory.w_0
    every = torch.arange(len(x))
    for which, direction in ((point, to), (point, to - mine), (every, crowd)):
        for start in range(0, len(which), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            ahead = direction[some] / direction[some].norm(dim=1, keepdim=True)
            at = which[some]
            value = y[at] * f(x[at] + delta * ahead)
            found = found.scatter_reduce(0, at, value, "amin")
    return found
