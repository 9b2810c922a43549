"""Proven lower bounds of y f over entire balls, for the explicit classifiers that memorise.

They follow from bounds on the distances to the centres and on the clean classifier.
"""

import torch
from torch import Tensor

from adversarium.constructions import Balls
from adversarium.constructions.classifiers import Gate
from adversarium.shapes import Float

SLACK = 1e-9  # more than the rounding error of float64 numbers of order 1


def memorised_margins(
    balls: Balls,
    gate: Gate,
    x: Float[Tensor, "k D"],
    y: Float[Tensor, " k"],
    eps0: float,
) -> Float[Tensor, " k"]:
    """Return a lower bound of min_{‖ξ‖_p≤δ} y f(x + ξ) for the network f of Theorem 5.2 of CGRO.

    The clean classifier is f_clean = clip((x_D − ½)/ε0).

    >>> x, y = torch.tensor([[0.1, 0.55], [0.9, 0.45]]).double(), torch.tensor([1.0, -1.0]).double()
    >>> balls = Balls(x=x, y=y, delta=0.2, R=0.8)
    >>> bool((memorised_margins(balls, "exact", x, y, 0.05) > 0).all())
    True
    >>> bool((memorised_margins(balls, "exact", x, -y, 0.05) > 0).any())
    False
    """
    low, high = _indicators(balls, x)
    height = (x[:, -1:] + torch.tensor([-1.0, 1.0]).to(x) * balls.delta - 0.5) / eps0
    clean = (y[:, None] * height.clamp(-1, 1)).sort(1).values  # lower and upper bound of y f_clean
    agree = y[:, None] * balls.y
    if gate == "exact":  # clip is monotone and does not change the sign
        memorised = torch.where(agree > 0, low, -high).sum(1)
        return clean[:, 0] + 2 * memorised - SLACK
    ends = []
    for c in (clean[:, :1], clean[:, 1:]):  # linear in f_clean and in every indicator
        weight = agree - c
        ends.append(c[:, 0] + (weight * torch.where(weight > 0, low, high)).sum(1))
    least: Tensor = torch.minimum(*ends)
    return least - (high > 0).sum(1) * product_error(balls) - SLACK


def product_error(balls: Balls) -> float:
    """4B²4^{−(s+1)} with B = 2, the largest error of a product gate, Lemma D.3 of CGRO."""
    return float(16 * 4.0 ** -(balls.s + 1))


def separated_margins(
    balls: Balls, x: Float[Tensor, "k D"], y: Float[Tensor, " k"]
) -> Float[Tensor, " k"]:
    """min_{‖ξ‖_p≤δ} y f_S(x + ξ), eq. (C) of CGRO, for x among the memorised points.

    It is 1 if no ball of the other class meets the ball around x, else −1.
    """
    distances = torch.cdist(x, balls.x, p=balls.p)
    meets = (distances - balls.delta <= balls.delta + SLACK) & (y[:, None] * balls.y < 0)
    return 1.0 - 2 * meets.any(1).double()


def _indicators(balls: Balls, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return bounds on the soft indicator of every ball, over the ball around every x."""
    distances = torch.cdist(x, balls.x, p=balls.p, compute_mode="donot_use_mm_for_euclid_dist")
    near, wide = (distances - balls.delta).clamp_min(0), distances + balls.delta
    a, b = balls.delta + balls.eps0, balls.R - balls.delta - balls.eps0
    if balls.p == 2:  # the networks for squares exceed x² by at most D·4^{−(s+1)} in total
        error = x.shape[1] * 4.0 ** -(balls.s + 1)
        a, b, near, wide = a**2, b**2, near.square(), wide.square() + error
    return _soft(wide + SLACK, a, b), _soft(near - SLACK, a, b)


def _soft(distances: Tensor, a: float, b: float) -> Tensor:
    """Return 1 for distances ≤ a, 0 for distances ≥ b, and linear values in between."""
    return ((b - distances) / (b - a)).clamp(0, 1)
