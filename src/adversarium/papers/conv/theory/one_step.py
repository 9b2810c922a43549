"""One step of adversarial training, compared with arbitrary weights: eq. (16) of CONV."""

import math
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from adversarium.attacks.finite import chosen
from adversarium.data import SphereBatch, SpherePoints
from adversarium.networks import SmoothedReLU, TwoLayer
from adversarium.networks.two_layer import signs
from adversarium.rng import integers, normal, uniform
from adversarium.shapes import Float
from adversarium.sockets import Numbers
from adversarium.training.objectives import pseudo_huber

from .descents import robust_loss


class _Sides(NamedTuple):
    """Differences between the sides of eq. (16) of CONV after one step, divided by ‖W − W_ref‖².

    `excess` is left minus right side, `slack` the smallest of the three `slacks`, and `mismatch`
    the difference |sum of the slacks − (right − left)|.
    """

    excess: float
    slack: float
    mismatch: float


def one_step(rng: Generator, m: int, b: float, draws: int = 40) -> Numbers:
    """‖W' − W_ref‖² ≤ (1 + cα/√m)‖W − W_ref‖² + 2α(L_*(W_ref) − L_A(W)) + α²‖∇L_A(W)‖².

    Eq. (16) of CONV. Each draw makes one step of random size from a random W; the attack picks a
    random point of every perturbation set, and W_ref has a random distance from W.

    - `largest_excess`: the largest left minus right side, divided by ‖W − W_ref‖².
    - `smallest_slack`: the smallest of the three `slacks` of the proof, in the same unit.
    - `slack_mismatch`: the largest |sum of the slacks − (right − left)|, in the same unit.

    >>> from adversarium.rng import stream
    >>> numbers = one_step(stream(0, "example"), m=4, b=2.0, draws=2)
    >>> numbers["largest_excess"] < 0 < numbers["smallest_slack"]
    True
    """
    network = TwoLayer(m=m, omega=1.0, activation=SmoothedReLU(b=b))
    sides = [_sides(rng, network) for _ in range(draws)]
    return {
        "largest_excess": max(s.excess for s in sides),
        "smallest_slack": min(s.slack for s in sides),
        "slack_mismatch": max(s.mismatch for s in sides),
    }


def _sides(rng: Generator, network: TwoLayer) -> _Sides:
    """Return both sides of eq. (16) of CONV after one random step."""
    m = network.m
    batch = SpherePoints(d=3, radius=0.3, K=5).sample(4, rng)
    scale, alpha = 3 * float(uniform((), rng)), 5 * float(uniform((), rng))
    W = network.init(rng, (3,), 1) + scale * normal((m, 3), rng) / math.sqrt(m)
    W_ref = W + 10 ** (2 * float(uniform((), rng)) - 1) * normal((m, 3), rng)
    x = chosen(batch.options, integers(5, (4,), rng))

    def loss(W: Tensor) -> Tensor:
        return pseudo_huber(network.f(W, x), batch.y).mean()

    g = torch.func.grad(loss)(W)
    squared = (W - W_ref).square().sum()
    growth = 1 + network.activation.C2 * alpha / math.sqrt(m)
    gap = robust_loss(network, W_ref, batch) - loss(W)
    right = growth * squared + 2 * alpha * gap + (alpha * g).square().sum()
    left = (W - alpha * g - W_ref).square().sum()
    parts = slacks(network, W, W_ref, x, batch, alpha) / squared
    return _Sides(
        excess=float((left - right) / squared),
        slack=float(parts.min()),
        mismatch=abs(float(parts.sum() - (right - left) / squared)),
    )


def slacks(
    network: TwoLayer,
    W: Float[Tensor, "m d"],
    W_ref: Float[Tensor, "m d"],
    x: Float[Tensor, "n d"],
    batch: SphereBatch,
    alpha: float,
) -> Float[Tensor, " 3"]:
    """Return right minus left side of eq. (16) of CONV as slacks of curvature, attack and loss.

    The proof in App. B of CONV shows that each of them is non-negative.
    """
    m, y = network.m, batch.y
    squared = (W - W_ref).square().sum()
    growth = 1 + network.activation.C2 * alpha / math.sqrt(m)
    f, f_ref = network.f(W, x), network.f(W_ref, x)
    slope = (f - y) / (1 + (f - y).square()).sqrt()
    gate = signs(m, W) * network.activation.slope(x @ W.mT) / math.sqrt(m)
    linear = (gate * (x @ (W_ref - W).mT)).sum(-1)  # ⟨∇f(W, x), W_ref − W⟩
    curvature = (growth - 1) * squared + 2 * alpha * (slope * (f_ref - f - linear)).mean()
    reference = pseudo_huber(f_ref, y).mean()  # L_A(W_ref)
    attack = 2 * alpha * (robust_loss(network, W_ref, batch) - reference)
    convex = pseudo_huber(f_ref, y) - pseudo_huber(f, y) - slope * (f_ref - f)
    return torch.stack([curvature, attack, 2 * alpha * convex.mean()])
