"""Lower bounds of y f over whole balls for the explicit classifiers that memorise: proofs, by
intervals of the distances and of the clean classifier."""

import torch
from torch import Tensor

from adversarium.constructions import Balls
from adversarium.constructions.classifiers import Gate
from adversarium.shapes import Float

SLACK = 1e-9  # rounding: the numbers are of order 1, in float64


def memorised_margins(
    balls: Balls,
    gate: Gate,
    x: Float[Tensor, "k D"],
    y: Float[Tensor, " k"],
    eps0: float,
) -> Float[Tensor, " k"]:
    """min_{‖ξ‖_p≤δ} y f(x + ξ) from below, f the network of Theorem 5.2 of CGRO over
    f_clean = clip((x_D − ½)/ε0).

    >>> x, y = torch.tensor([[0.1, 0.55], [0.9, 0.45]]).double(), torch.tensor([1.0, -1.0]).double()
    >>> balls = Balls(x=x, y=y, delta=0.2, R=0.8)
    >>> bool((memorised_margins(balls, "exact", x, y, 0.05) > 0).all())
    True
    >>> bool((memorised_margins(balls, "exact", x, -y, 0.05) > 0).any())
    False
    """
    low, high = _indicators(balls, x)
    height = (x[:, -1:] + torch.tensor([-1.0, 1.0]).to(x) * balls.delta - 0.5) / eps0
    clean = (y[:, None] * height.clamp(-1, 1)).sort(1).values  # y f_clean, from below and above
    agree = y[:, None] * balls.y
    if gate == "exact":  # clip is monotone and keeps the sign
        gained = torch.where(agree > 0, low, -high).sum(1)
        return clean[:, 0] + 2 * gained - SLACK
    ends = []
    for c in (clean[:, :1], clean[:, 1:]):  # linear in f_clean and in every indicator
        weight = agree - c
        ends.append(c[:, 0] + (weight * torch.where(weight > 0, low, high)).sum(1))
    least: Tensor = torch.minimum(*ends)
    return least - (high > 0).sum(1) * product_error(balls) - SLACK


def product_error(balls: Balls) -> float:
    """4B²4^{−(s+1)} with B = 2: how far a product gate is off, Lemma D.3 of CGRO."""
    return float(16 * 4.0 ** -(balls.s + 1))


def separated_margins(
    balls: Balls, x: Float[Tensor, "k D"], y: Float[Tensor, " k"]
) -> Float[Tensor, " k"]:
    """min_{‖ξ‖_p≤δ} y f_S(x + ξ), eq. (C) of CGRO, for x among the memorised points: 1 where no
    ball of the other class meets the point's own, else −1."""
    far = torch.cdist(x, balls.x, p=balls.p)
    meets = (far - balls.delta <= balls.delta + SLACK) & (y[:, None] * balls.y < 0)
    return 1.0 - 2 * meets.any(1).double()


def _indicators(balls: Balls, x: Tensor) -> tuple[Tensor, Tensor]:
    """The soft indicators of all balls over the ball about every x: least and largest."""
    far = torch.cdist(x, balls.x, p=balls.p, compute_mode="donot_use_mm_for_euclid_dist")
    near, wide = (far - balls.delta).clamp_min(0), far + balls.delta
    a, b = balls.delta + balls.eps0, balls.R - balls.delta - balls.eps0
    if balls.p == 2:  # the squares of the network lie above x² by at most D 4^{−(s+1)}
        off = x.shape[1] * 4.0 ** -(balls.s + 1)
        a, b, near, wide = a**2, b**2, near.square(), wide.square() + off
    return _soft(wide + SLACK, a, b), _soft(near - SLACK, a, b)


def _soft(far: Tensor, a: float, b: float) -> Tensor:
    """1 up to a, 0 from b on."""
    return ((b - far) / (b - a)).clamp(0, 1)
