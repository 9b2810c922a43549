"""Bounds on outputs over B_p(x, radius), rounded outwards.

All computations are in float64, whatever the precision of the network. By n roundings, a sum of
terms t_i changes by at most γ_n Σ|t_i|, γ_n = nu/(1 − nu), u = 2⁻⁵³ (Higham, Lemma 3.1), in any
order of addition. Every bound is moved outwards by twice this amount (which covers the rounding of
the amount itself), so if a lower bound is positive, the exact value is positive, too.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from adversarium.networks.activations import Activation
from adversarium.networks.duals import dual
from adversarium.networks.smooth import Erf, Tanh

Spread = Callable[[Tensor], Tensor]

_TINY = 1e-300  # the largest effect of underflow


def gamma(n: int) -> float:
    """γ_n = nu/(1 − nu).

    >>> gamma(1) > 2**-53
    True
    """
    u = 2.0**-53
    return n * u / (1 - n * u)


def slack(n: int, terms: Tensor) -> Tensor:
    """Return 2γ_{n+64} Σ|t|, given the sum of all |t|.

    The 64 additional roundings cover the terms themselves (an activation, a norm, a scale).
    """
    return 2 * gamma(n + 64) * terms + _TINY


def reached(
    w: Tensor, x: Tensor, p: float, radius: float, b: Tensor | float = 0.0
) -> tuple[Tensor, Tensor, Tensor]:
    """Return z = ⟨w_s, x⟩ + b_s, (*S, n, m), its largest change in the ball including rounding, and
    its size, the sum of its terms' absolute values."""
    shift = torch.as_tensor(b, dtype=w.dtype, device=w.device)
    z = x @ w.mT + shift
    reach = radius * w.norm(dual(p), dim=-1)[..., None, :]
    size = x.abs() @ w.mT.abs() + shift.abs() + reach
    return z, reach + slack(w.shape[-1], size), size


def patches_reached(W: Tensor, x: Tensor, p: float, radius: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return the values of `reached` for every filter at every patch, (*S, n, P, m)."""
    W, x = W.double(), x.double()
    z, reach, size = reached(W, x.flatten(-3, -2), p, radius)
    shape = (*x.shape[:-1], W.shape[-2])
    return z.view(shape), reach.view(shape), size.view(shape)


def refuse_curved(activation: Activation) -> None:
    """Raise if the activation is not convex, because then its chords do not lie above it."""
    if isinstance(activation, Erf | Tanh):
        name = type(activation).__name__
        raise ValueError(f"a certificate needs a convex activation, got {name}.")


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
    """Return bounds on base + Σ_s c_s φ(z_s) if each z_s moves by at most `reach`.

    The result is the better of two bounds. Interval arithmetic takes the worst end of every unit.
    A linear relaxation (CROWN, Zhang et al. 2018) puts a chord above the convex φ and a tangent
    below it: Σ_s e_s z_s + const. The ball changes the first term by at most
    spread(e) = radius·‖Σ_s e_s w_s‖_q (with the linear part of `base`).
    """
    low, high = z - reach, z + reach
    at_low, at_high = activation(low), activation(high)
    tangent, below, chord, above = _lines(activation, low, high)
    parts = (size, reach, low, high, at_low, at_high, below, above)
    terms = sum((part.abs() for part in parts), activation.offset(low) + activation.offset(high))
    still = spread(torch.zeros_like(z))
    weighed = (c.abs() * terms).sum(-1) + torch.as_tensor(base).abs() + still
    give = slack(z.shape[-1] + d, weighed)

    def least(side: int) -> Tensor:
        """Return a lower bound on side·f."""
        up = side * c > 0
        e = side * c * torch.where(up, tangent, chord)
        const = (side * c * torch.where(up, below, above)).sum(-1)
        relaxed = (e * z).sum(-1) + const - spread(side * e)
        ends = (side * c * torch.where(up, at_low, at_high)).sum(-1) - still
        return side * base + torch.maximum(relaxed, ends) - give

    return least(1), -least(-1)


def _lines(
    activation: Activation, low: Tensor, high: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the slopes and the values at 0 of a tangent below the convex φ on [low, high] and of
    the chord above it."""
    at_low, at_high, middle = activation(low), activation(high), (low + high) / 2
    tangent, wide = activation.slope(middle), high > low
    rise = (at_high - at_low) / torch.where(wide, high - low, 1.0)
    chord = torch.where(wide, rise, activation.slope(low))
    return tangent, activation(middle) - tangent * middle, chord, at_low - chord * low


def spreading(w: Tensor, p: float, radius: float, linear: Tensor | float = 0.0) -> Spread:
    """Return the function e ↦ radius·‖Σ_s e_s w_s + linear‖_q.

    It is the largest change of Σ_s e_s z_s in the ball.
    """

    def spread(e: Tensor) -> Tensor:
        length: Tensor = (e @ w + linear).norm(dual(p), dim=-1)
        return radius * length

    return spread


def largest_singular(W: Tensor) -> Tensor:
    """Return an upper bound on the largest singular value: its estimate plus the backward error."""
    W = W.double()
    error = 16 * max(W.shape[-2:]) * 2.0**-53 * torch.linalg.matrix_norm(W)
    bound: Tensor = torch.linalg.matrix_norm(W, ord=2) + error
    return bound


def increment_bounds(
    c: Tensor, activation: Activation, W: Tensor, V: Tensor, x: Tensor, radius: float
) -> tuple[Tensor, Tensor]:
    """Return bounds on Σ_s c_s [φ(⟨v_s, x'⟩) − φ(⟨w_s, x'⟩)] over B_2(x, radius), (*S, n) each.

    Each unit uses the better of two linear bounds, and the worst point of the ball is taken for
    their sum. The first bound uses tangents and chords of φ(⟨v, ·⟩) and φ(⟨w, ·⟩) separately. The
    second uses that the difference is λ⟨v − w, x'⟩ with λ between the least and the largest slope
    of φ in the ball: if c⟨v − w, ·⟩ keeps its sign, it takes the worse of these two slopes,
    otherwise the worst value of the unit.
    """
    W, V, x = W.double(), V.double(), x.double()
    step = V - W
    (z, reach, size), (z_v, reach_v, size_v) = (reached(w, x, 2, radius) for w in (W, V))
    moved, away, moved_size = reached(step, x, 2, radius)
    lines = _lines(activation, z - reach, z + reach)
    lines_v = _lines(activation, z_v - reach_v, z_v + reach_v)
    least = activation.slope(torch.minimum(z - reach, z_v - reach_v))
    most = activation.slope(torch.maximum(z + reach, z_v + reach_v))
    squares = [(a * b).sum(-1)[..., None, :] for a, b in ((V, V), (V, W), (W, W))]
    heights = sum(line.abs() for line in (lines[1], lines[3], lines_v[1], lines_v[3]))
    ends = (z - reach, z + reach, z_v - reach_v, z_v + reach_v)
    total = 4 * (size + size_v + moved_size + away) + heights
    total = total + 4 * sum(activation.offset(end) for end in ends)
    give = slack(2 * z.shape[-1] + W.shape[-1], (c.abs() * total).sum(-1))

    def low(side: int) -> Tensor:
        up, at, far = side * c > 0, side * c * moved, c.abs() * away
        # tangents and chords
        e_v = side * c * torch.where(up, lines_v[0], lines_v[2])
        e_w = -side * c * torch.where(up, lines[2], lines[0])
        height = side * c * (torch.where(up, lines_v[1], lines_v[3])
                             - torch.where(up, lines[3], lines[1]))  # fmt: skip
        length = e_v.square() * squares[0] + 2 * e_v * e_w * squares[1] + e_w.square() * squares[2]
        apart = e_v * z_v + e_w * z + height - radius * length.clamp_min(0).sqrt()
        # the mean slope
        rises, falls = at >= far, at <= -far
        e = side * c * torch.where(rises, least, torch.where(falls, most, 0.0))
        alone = torch.where(rises | falls, 0.0, most * (at - far))
        joined = e * moved - e.abs() * away + alone
        # the better of the two bounds, unit by unit
        first = apart > joined
        e_v, e_w = torch.where(first, e_v, e), torch.where(first, e_w, -e)
        still = torch.where(first, height, alone)
        linear = (e_v * z_v + e_w * z).sum(-1) - radius * (e_v @ V + e_w @ W).norm(dim=-1)
        bound: Tensor = linear + still.sum(-1) - give
        return bound

    return low(1), -low(-1)
