"""The l2 attack on a two-layer network in Gram coordinates: it updates the e_i of δ_i = Wᵀe_i."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from adversarium.attacks.gradient import PGD
from adversarium.networks.activations import LeakyReLU, ReLU
from adversarium.networks.perceptron import Perceptron
from adversarium.networks.two_layer import TwoLayer
from adversarium.shapes import Float
from adversarium.sockets import Attack
from adversarium.training.engines.gram_kernels import climb, serves

WIDE = 512  # number of units from which `by_flips` is faster, measured on two cores
MOST = 50  # above a share 1/MOST of flips, recompute the product (chosen, not measured)

_MARGIN_LOSSES = ("logit_difference", "minus_true_logit", "cross_entropy", "exponential")


def _unit(c: Tensor, Kc: Tensor) -> Tensor:
    """Return 1/‖Wᵀc‖ per example, or 0 if the direction vanishes."""
    square = torch.linalg.vecdot(c, Kc)[..., None]
    return torch.where(square > 0, square, math.inf).rsqrt()


Network = TwoLayer | Perceptron


@dataclass(frozen=True)
class Top:
    """The weights a of the units, their biases b, and the offset c.

    For a TwoLayer they stay constant.
    """

    a: Float[Tensor, "S 1 m"]
    b: Float[Tensor, "S 1 m"]
    c: Float[Tensor, "S 1"]

    def at(self, part: slice) -> "Top":
        """Return the same object for a slice of the replicas."""
        return Top(self.a[part], self.b[part], self.c[part])


def outputs_of(network: Network, h: Tensor, top: Top) -> Tensor:
    """Return f, computed from the pre-activations."""
    if isinstance(network, TwoLayer):
        return network.top(h)
    f: Tensor = (network.activation(h) * top.a).sum(-1) + top.c
    return f


Product = Callable[[Tensor], Tensor]  # slopes of the units ↦ K c


def _plainly(K: Tensor, a: Tensor, side: Tensor) -> Product:
    """Return the product K c = side·(slope ⊙ a) K as a function of the slopes."""
    return lambda slope: (slope * (side * a)) @ K


def by_flips(K: Tensor, a: Tensor, side: Tensor) -> Product:
    """Return the product of `_plainly` for piecewise constant slopes, updated from step to step.

    Few units change their slope in a step; each of them adds a multiple of its row of diag(a)K.
    """
    S, m = K.shape[:2]
    rows = (a.mT * K).reshape(S * m, m)
    before = Kc = rows.new_empty(0)

    def product(slope: Tensor) -> Tensor:
        nonlocal before, Kc
        flips = (slope != before).nonzero() if before.numel() else None
        if flips is None or len(flips) > slope.numel() // MOST:
            Kc = (slope * (side * a)) @ K
        else:
            replica, point, unit = flips.unbind(-1)
            place = replica * slope.shape[1] + point
            firsts = torch.searchsorted(place, torch.arange(Kc[..., 0].numel()).to(place))
            turns = (slope - before)[replica, point, unit]
            sums = embedding_bag(
                replica * m + unit, rows, firsts, mode="sum", per_sample_weights=turns
            )
            Kc = Kc + side * sums.view_as(Kc)
        before = slope.clone()
        return Kc

    return product


def _product(network: Network, K: Tensor) -> Callable[[Tensor, Tensor, Tensor], Product]:
    """Return the function that makes the fastest product K c."""
    leaps = isinstance(network.activation, ReLU | LeakyReLU)
    return by_flips if leaps and K.shape[-1] >= WIDE else _plainly


def climbed(
    network: Network, K: Tensor, H: Tensor, top: Top, y: Tensor, by: PGD, radius: Tensor,
    stride: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return E and K E after an attack on the points with these pre-activations: δ_i = Wᵀe_i, §1.6
    of BOAT's Algorithm 1."""
    if serves(K) and isinstance(network.activation, ReLU) and not by.best:
        return climb(K, H, top.a, y, radius, stride, by.steps)
    E, KE = torch.zeros_like(H), torch.zeros_like(H)
    sign = -y[..., None] * top.a
    product = _product(network, K)(K, top.a, -y[..., None])
    best, best_margin = (E.clone(), KE.clone()), y * outputs_of(network, H, top)
    for _ in range(by.steps):
        slope = network.activation.slope(H + KE)
        Kc = product(slope)
        c = slope.mul_(sign)
        step = stride * _unit(c, Kc)
        E.addcmul_(step, c)
        KE.addcmul_(step, Kc)
        inside = (radius * _unit(E, KE)).clamp_(max=1)
        E.mul_(inside)
        KE.mul_(inside)
        if by.best:
            margin = y * outputs_of(network, H + KE, top)
            better = (margin < best_margin)[..., None]
            best = torch.where(better, E, best[0]), torch.where(better, KE, best[1])
            best_margin = torch.minimum(margin, best_margin)
    return best if by.best else (E, KE)


def leaves_span(attack: Attack) -> str:
    """Return why an attack leaves the span of the weights, or an empty string."""
    if type(attack) is not PGD or attack.p != 2 or attack.box is not None:
        return "gram needs PGD in l2 without a box, which stays in the span of the weights"
    if not attack.normalised or attack.start != "zero" or attack.restarts != 1:
        return "gram needs PGD with normalised=True, start='zero' and restarts=1"
    if attack.loss not in _MARGIN_LOSSES:
        return (
            f"gram needs PGD with one of the losses {', '.join(_MARGIN_LOSSES)}, got {attack.loss}"
        )
    return ""


def check_budget(E: Tensor, KE: Tensor, attack: PGD) -> None:
    """Raise unless ‖Wᵀe‖, with ‖Wᵀe‖² = e·Ke, stays within the radius."""
    size = torch.linalg.vecdot(E, KE).clamp_min(0).sqrt()
    slack = 1e-3 if E.dtype == torch.float32 else 1e-9
    if not bool((size <= attack.radius * (1 + slack)).all()):
        raise RuntimeError(f"PGD left its ball: {float(size.max())} > {attack.radius}")
