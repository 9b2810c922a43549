"""The l2 attack on a two-layer network in Gram coordinates: δ_i = Wᵀe_i, and the e_i move."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD
from adversarium.networks.activations import ReLU
from adversarium.networks.perceptron import Perceptron
from adversarium.networks.two_layer import TwoLayer
from adversarium.shapes import Float
from adversarium.sockets import Attack

_MARGIN_LOSSES = ("logit_difference", "minus_true_logit", "cross_entropy", "exponential")


def _unit(c: Tensor, Kc: Tensor) -> Tensor:
    """1/‖Wᵀc‖ per example, 0 where the direction vanishes."""
    square = torch.linalg.vecdot(c, Kc)[..., None]
    return torch.where(square > 0, square, math.inf).rsqrt()


Network = TwoLayer | Perceptron


@dataclass(frozen=True)
class Top:
    """What stands above the first layer: the weights a of the units, their biases b, the offset c.
    Those of a TwoLayer never move."""

    a: Float[Tensor, "S 1 m"]
    b: Float[Tensor, "S 1 m"]
    c: Float[Tensor, "S 1"]

    def at(self, part: slice) -> "Top":
        """The same of some of the replicas."""
        return Top(self.a[part], self.b[part], self.c[part])


def outputs_of(network: Network, h: Tensor, top: Top) -> Tensor:
    """f from the pre-activations."""
    if isinstance(network, TwoLayer):
        return network.top(h)
    f: Tensor = (network.activation(h) * top.a).sum(-1) + top.c
    return f


Product = Callable[[Tensor], Tensor]  # slopes of the units ↦ K c


def _plainly(K: Tensor, a: Tensor, side: Tensor) -> Product:
    """K c = side·(slope ⊙ a) K."""
    return lambda slope: (slope * (side * a)) @ K


def in_pieces(K: Tensor, a: Tensor, side: Tensor) -> Product:
    """The same for slopes that are 0 or 1, which are exact in 16 bits: diag(a)K is cut into two
    pieces of half precision, and both products run on tensor cores with sums in single precision.

    The relative error is that of 21 bits of diag(a)K, about 10⁻⁶."""
    whole = a.mT * K
    power = torch.frexp(whole.abs().amax((-1, -2), keepdim=True)).exponent
    scaled = torch.ldexp(whole, 14 - power)
    high = scaled.half()
    low = (scaled - high).half()
    back = torch.ldexp(side, power - 14)

    def product(slope: Tensor) -> Tensor:
        bits = slope.half()
        return back * (_half_product(bits, high) + _half_product(bits, low))

    return product


def _half_product(bits: Tensor, piece: Tensor) -> Tensor:
    """A product of halves with sums in single precision; on a CPU by its algebra alone."""
    if bits.is_cuda:
        summed: Tensor = torch.bmm(bits, piece, out_dtype=torch.float32)
        return summed
    return bits.float() @ piece.float()


def _pieces_serve(network: Network, K: Tensor) -> bool:
    """Where two pieces are as good as single precision, and quicker."""
    return K.is_cuda and K.dtype == torch.float32 and isinstance(network.activation, ReLU)


def climbed(
    network: Network, K: Tensor, H: Tensor, top: Top, y: Tensor, by: PGD, radius: Tensor,
    stride: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """E and K E after an attack of the points with these pre-activations: δ_i = Wᵀe_i, §1.6 of
    BOAT's Algorithm 1."""
    E, KE = torch.zeros_like(H), torch.zeros_like(H)
    sign = -y[..., None] * top.a
    times = in_pieces if _pieces_serve(network, K) else _plainly
    product = times(K, top.a, -y[..., None])
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
    """Why an attack leaves the weights' span, or nothing."""
    if type(attack) is not PGD or attack.p != 2 or attack.box is not None:
        return "gram needs PGD in l2 without a box: other perturbations leave the weights' span"
    if not attack.normalised or attack.start != "zero" or attack.restarts != 1:
        return "gram needs normalised steps from a zero start: a random start leaves the span"
    if attack.loss not in _MARGIN_LOSSES:
        return "gram needs an attack on the margin"
    return ""


def check_budget(E: Tensor, KE: Tensor, attack: PGD) -> None:
    """‖Wᵀe‖² = e·Ke stays within the radius."""
    size = torch.linalg.vecdot(E, KE).clamp_min(0).sqrt()
    slack = 1e-3 if E.dtype == torch.float32 else 1e-9
    if not bool((size <= attack.radius * (1 + slack)).all()):
        raise RuntimeError(f"PGD left its ball: {float(size.max())} > {attack.radius}")
