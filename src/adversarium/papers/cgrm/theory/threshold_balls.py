"""Bound margins over l2 balls for a linear part plus threshold units (§4 of CGRM).

An exact check bounds the smallest margin in a ball, from the units that can become active or
inactive there. The attack steps towards every inactive unit.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.constructions.cells import Classifier
from adversarium.shapes import Bool, Float, Int

_CHUNK = 20_000  # steps that are evaluated together


@dataclass(frozen=True)
class Memory:
    """f(x) = ⟨w_0, x⟩ + Σ_i a_i relu(⟨w_i, x⟩ − b) with ‖w_0‖ = 1, w_i ⊥ w_0 and a_i = ±1."""

    w_0: Float[Tensor, " d"]
    w: Float[Tensor, "m d"]
    a: Float[Tensor, " m"]
    b: float

    @property
    def weights(self) -> dict[str, Tensor]:
        """The weights as the mixed network stores them."""
        return {"w_0": self.w_0, "w": self.w, "a": self.a}


@dataclass(frozen=True)
class Worst:
    """min_{‖ξ‖₂≤δ} y f(x + ξ), one number per point.

    `found` comes from steps into the ball and is at least the minimum. `least` comes from the exact
    check, is at most the minimum, and equals it if no unit of another point is reachable. `affine`:
    no unit switches inside the ball. `reachable`: a unit of another point can be active there.
    """

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
    """Return the smallest margins in l2 balls, Theorem 4.2 of CGRM.

    `own` is the index of the unit that memorised a point, with a = y, or −1 if there is none; every
    other unit is foreign. A unit is reachable if ⟨w_j, x⟩ + δ‖w_j‖ > b. Without `f`, no attack runs
    and `found` is `least`.
    """
    over = x @ memory.w.mT - memory.b  # ⟨w_j, x⟩ − b
    length: Tensor = memory.w.norm(dim=1)
    mine = own[:, None] == torch.arange(len(length))
    # the largest output of a foreign unit in the ball
    largest_output = (over + delta * length).relu().where(~mine, 0.0)
    against = largest_output * (y[:, None] != memory.a)
    linear = y * (x @ memory.w_0)
    has_own = own >= 0
    at = own.clamp_min(0)
    up = over.gather(1, at[:, None])[:, 0] if len(length) else torch.zeros_like(linear)
    own_length = length[at] if len(length) else torch.ones_like(linear)
    up = up.where(has_own, -1.0)
    s, t = _to_the_minimum(up, own_length, delta)
    without_foreign = linear - t + (up - own_length * s).relu()
    least = without_foreign - against.sum(1)
    reachable = (largest_output > 0).any(1)
    affine = ~reachable & (~has_own | (up > delta * own_length) | (up < -delta * own_length))
    if f is None:
        return Worst(least, least, reachable, affine)
    along_own = memory.w[at] * (s / own_length)[:, None] if len(length) else torch.zeros_like(x)
    step = -along_own - (y * t)[:, None] * memory.w_0
    found = torch.minimum(y * f(x), y * f(x + step))
    found = torch.minimum(found, _directed(f, memory, x, y, delta, own, against > 0))
    return Worst(found, least, reachable, affine)


def _to_the_minimum(
    up: Float[Tensor, " n"], length: Float[Tensor, " n"], delta: float
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """Return (s, t) with s² + t² ≤ δ² that minimises −t + relu(up − ‖w‖s), where s is the distance
    away from the point's own unit and t the distance against the linear part.

    If the unit stays active, the step follows the slope. Otherwise it goes to the point where the
    unit becomes inactive and spends the rest of the radius against the linear part. An inactive
    unit has no effect.
    """
    along_slope = delta * length / (1 + length.square()).sqrt()
    s = torch.minimum(along_slope, (up / length).clamp_min(0)).where(up > 0, 0.0)
    t = (delta**2 - s.square()).clamp_min(0).sqrt()
    return s, t


def _directed(
    f: Classifier,
    memory: Memory,
    x: Float[Tensor, "n d"],
    y: Float[Tensor, " n"],
    delta: float,
    own: Int[Tensor, " n"],
    reachable: Bool[Tensor, "n m"],
) -> Float[Tensor, " n"]:
    """Return the smallest y f after steps of length δ that activate other points' units against the
    label.

    The directions are w_j − y w_0 for every unit j that can become active against the label, the
    same direction minus the point's own w_i, and the sum over all such units.
    """
    found = torch.full_like(y, torch.inf)
    point, unit = reachable.nonzero(as_tuple=True)
    label_direction = (y[:, None] * memory.w_0)[point]
    towards = memory.w[unit] - label_direction
    own_unit = memory.w[own[point].clamp_min(0)] * (own[point] >= 0).double()[:, None]
    all_units = reachable.double() @ memory.w - y[:, None] * memory.w_0
    all_points = torch.arange(len(x))
    for which, direction in (
        (point, towards),
        (point, towards - own_unit),
        (all_points, all_units),
    ):
        for start in range(0, len(which), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            unit_step = direction[chunk] / direction[chunk].norm(dim=1, keepdim=True)
            at = which[chunk]
            value = y[at] * f(x[at] + delta * unit_step)
            found = found.scatter_reduce(0, at, value, "amin")
    return found


def certified_margins(
    memory: Memory,
    x: Float[Tensor, "n d"],
    y: Float[Tensor, " n"],
    delta: float,
    own: Int[Tensor, " n"],
) -> Float[Tensor, " n"]:
    """Return a lower bound of min_{‖ξ‖₂≤δ} y f(x + ξ) that allows many foreign units to be active:
    the minimum over the number k of them.

    With k active foreign units against the label, y f is at least y⟨w_0, x⟩ + ⟨w_i, x⟩ − b minus
    the k largest ⟨w_j, x⟩ − b, minus δ‖y w_0 + w_i − Σ w_j‖; and ‖Σ w_j‖² ≤ kλ, with λ the largest
    eigenvalue of the Gram matrix of the foreign units.
    """
    over = x @ memory.w.mT - memory.b
    bounds = torch.empty_like(y)
    for i in range(len(x)):
        against = memory.a != y[i]
        w, gain = memory.w[against], over[i, against].sort(descending=True).values
        largest = float(torch.linalg.eigvalsh(w @ w.mT)[-1]) if len(w) else 0.0
        k = torch.arange(len(w) + 1).double()
        square, start, cross = torch.ones_like(k), y[i] * (x[i] @ memory.w_0), torch.zeros(len(w))
        if own[i] >= 0:
            mine = memory.w[own[i]]
            square, start = square + mine.square().sum(), start + over[i, own[i]]
            cross = (-(w @ mine)).sort(descending=True).values
        zero = torch.zeros(1).double()
        crosses = torch.cat([zero, cross.double().cumsum(0)])
        gains = torch.cat([zero, gain.cumsum(0)])
        length = (square + k * largest + 2 * crosses).clamp_min(0).sqrt()
        bounds[i] = start - (delta * length + gains).max()
    return bounds
