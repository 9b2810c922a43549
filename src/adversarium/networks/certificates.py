"""Bounds of outputs over B_p(x, radius), rounded outwards.

All of it in float64, whatever the network's own precision. n roundings change a sum of terms t_i
by at most γ_n Σ|t_i|, γ_n = nu/(1 − nu), u = 2⁻⁵³ (Higham, Lemma 3.1), in whatever order they
are added. Every bound gives away twice that (the second half pays for the slack's own rounding),
so where it is positive, the exact number is.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from adversarium.networks.activations import Activation
from adversarium.networks.duals import dual

Spread = Callable[[Tensor], Tensor]

_TINY = 1e-300  # what underflow may hide


def gamma(n: int) -> float:
    """γ_n = nu/(1 − nu).

    >>> gamma(1) > 2**-53
    True
    """
    u = 2.0**-53
    return n * u / (1 - n * u)


def slack(n: int, terms: Tensor) -> Tensor:
    """2γ_{n+64} Σ|t|, given the sum of all |t|: 64 roundings for the terms themselves (an
    activation, a norm, a scale)."""
    return 2 * gamma(n + 64) * terms + _TINY


def reached(
    w: Tensor, x: Tensor, p: float, radius: float, b: Tensor | float = 0.0
) -> tuple[Tensor, Tensor, Tensor]:
    """z = ⟨w_s, x⟩ + b_s, (*S, n, m); by how much each may differ from it in the ball, rounding
    included; and the size of its terms."""
    shift = torch.as_tensor(b, dtype=w.dtype, device=w.device)
    z = x @ w.mT + shift
    reach = radius * w.norm(dual(p), dim=-1)[..., None, :]
    size = x.abs() @ w.mT.abs() + shift.abs() + reach
    return z, reach + slack(w.shape[-1], size), size


def patches_reached(W: Tensor, x: Tensor, p: float, radius: float) -> tuple[Tensor, Tensor, Tensor]:
    """The same of every filter at every patch, (*S, n, P, m)."""
    W, x = W.double(), x.double()
    z, reach, size = reached(W, x.flatten(-3, -2), p, radius)
    shape = (*x.shape[:-1], W.shape[-2])
    return z.view(shape), reach.view(shape), size.view(shape)


def unit_bounds(
    c: Tensor,
    activation: Activation,
    z: Tensor,
    reach: Tensor,
    size: Tensor,
    spread: Spread,
    d: int,
    base: Tensor | float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Bounds of base + Σ_s c_s φ(z_s) where z_s moves by at most `reach`; the better of two.

    Intervals take every unit at its own worst end. A linear relaxation (CROWN, Zhang et al. 2018)
    puts a chord above the convex φ and a tangent below it: Σ_s e_s z_s + const, and the ball moves
    the first part by at most spread(e) = radius·‖Σ_s e_s w_s‖_q (with the linear part of `base`).
    """
    low, high = z - reach, z + reach
    at_low, at_high, middle = activation(low), activation(high), (low + high) / 2
    tangent, wide = activation.slope(middle), high > low
    rise = (at_high - at_low) / torch.where(wide, high - low, 1.0)
    chord = torch.where(wide, rise, activation.slope(low))
    below, above = activation(middle) - tangent * middle, at_low - chord * low
    parts = (size, reach, low, high, at_low, at_high, below, above)
    terms = sum((part.abs() for part in parts), torch.full_like(z, activation.width))
    still = spread(torch.zeros_like(z))
    weighed = (c.abs() * terms).sum(-1) + torch.as_tensor(base).abs() + still
    give = slack(z.shape[-1] + d, weighed)

    def least(side: int) -> Tensor:
        """A lower bound of side·f."""
        up = side * c > 0
        e = side * c * torch.where(up, tangent, chord)
        const = (side * c * torch.where(up, below, above)).sum(-1)
        relaxed = (e * z).sum(-1) + const - spread(side * e)
        ends = (side * c * torch.where(up, at_low, at_high)).sum(-1) - still
        return side * base + torch.maximum(relaxed, ends) - give

    return least(1), -least(-1)


def spreading(w: Tensor, p: float, radius: float, linear: Tensor | float = 0.0) -> Spread:
    """radius·‖Σ_s e_s w_s + linear‖_q as a function of e: how far the ball moves Σ_s e_s z_s."""

    def spread(e: Tensor) -> Tensor:
        length: Tensor = (e @ w + linear).norm(dual(p), dim=-1)
        return radius * length

    return spread


def largest_singular(W: Tensor) -> Tensor:
    """An upper bound of the largest singular value: what is computed, plus its backward error."""
    W = W.double()
    error = 16 * max(W.shape[-2:]) * 2.0**-53 * torch.linalg.matrix_norm(W)
    bound: Tensor = torch.linalg.matrix_norm(W, ord=2) + error
    return bound
