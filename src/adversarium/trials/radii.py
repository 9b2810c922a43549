"""How far weights must move to fit robustly: the least R of CONV's ball B(R), in the kernel limit,
for finite sets and for whole caps (§7)."""

import math
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.data import SpherePoints
from adversarium.data.sphere import half_angle
from adversarium.rng import normal, uniform
from adversarium.sockets import Numbers
from adversarium.solvers import robust_optimum, shortest
from adversarium.training.objectives import pseudo_huber
from adversarium.trials.courses import points
from adversarium.trials.features import Sections
from adversarium.trials.kernels import gram, kappa


def needed_radius(K: np.ndarray, y: Tensor, eps: float, most: float) -> tuple[float, float]:
    """Between which R the least one with L_* ≤ ε lies, by bisection of the certified bracket.

    >>> low, high = needed_radius(np.eye(2), torch.tensor([1.0, -1.0]).double(), 0.1, 2.0)
    >>> low <= high <= 1.05 * low
    True
    """
    low, high = 0.0, most
    while high - low > 0.02 * high:
        R = (low + high) / 2
        told = robust_optimum(torch.from_numpy(K), y, R, pseudo_huber, close=0.02 * eps)
        if told.high <= eps:
            high = R
        elif told.low > eps:
            low = R
        else:  # the bracket is as wide as what is left
            break
    return low, high


def radii_needed(rng: Generator, activation: Any, d: int, n: int, eps: float) -> Numbers:
    """§7 of CONV: the least R with L_* ≤ ε in the kernel limit (both ends), against |g|_RF (from
    below) and |g| of the shortest g whose loss is ε/2 on every set; n caps of radius 0.3 in R^d,
    or the circle's arcs.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = radii_needed(stream(0, "example"), SmoothedReLU(b=2.0), d=3, n=4, eps=0.2)
    >>> told["low"] <= told["high"] < told["|g|"]
    True
    """
    batch = points("circle") if d == 2 else SpherePoints(d=d, radius=0.3, K=9).sample(n, rng)
    x, count = batch.options.flatten(0, 1), batch.options.shape[1]
    K = gram(activation, x)
    y = batch.y.repeat_interleave(count).numpy()
    e = math.sqrt((1 + eps / 2) ** 2 - 1)
    told = shortest(K, y - e, y + e)
    size = Sections(activation, x, torch.from_numpy(told.beta)).random_feature_norm(rng)
    low, high = needed_radius(K, batch.y, eps, told.norm)
    return {
        "low": low,
        "high": high,
        "|g|": told.norm,
        "|g|_RF": size,
        "high/|g|_RF": high / size,
        "2 high/|g|_RF": 2 * high / size,
    }


def _along(q: int) -> tuple[np.ndarray, np.ndarray]:
    """A coordinate of a uniform point of S^{q−1}: nodes and weights."""
    from scipy import special

    if q <= 1:
        return (np.zeros(1), np.ones(1)) if q == 0 else (np.array([-1.0, 1.0]), np.full(2, 0.5))
    if q == 2:
        nodes, weights = special.roots_chebyt(40)
    else:
        nodes, weights = special.roots_gegenbauer(40, q / 2 - 1)
    return nodes, weights / weights.sum()


def _turned(activation: Any, q: int, x: Tensor, z: Tensor) -> np.ndarray:
    """K(x, Qz) of points of R^d told by their first coordinates, the mean over the rotations Q of
    the other q."""
    rest = [(1 - p.square().sum(-1)).clamp_min(0).sqrt() for p in (x, z)]
    straight, across = (x @ z.T).numpy(), np.outer(*(r.numpy() for r in rest))
    made = np.zeros_like(straight)
    for u, weight in zip(*_along(q), strict=True):
        r = np.clip(straight + u * across, -1.0, 1.0)
        made += weight * r * kappa(activation, r)
    return made


def _in_caps(centres: Tensor, angle: float, full: bool, many: int, rng: Generator) -> Tensor:
    """Points of caps of S^{d−1} about centres of a subsphere S^{k−1}, by their coordinates in its
    space, (n, many, k): inside and on the rim; without `full` on the subsphere itself."""
    n, k = centres.shape
    way = normal((n, many, k), rng)
    way = way - (way @ centres[..., None]) * centres[:, None]
    way = torch.nn.functional.normalize(way, dim=-1)
    turn = angle * uniform((n, many, 1), rng) ** 0.3
    turn[:, : many // 2] = angle
    share = uniform((n, many, 1), rng) if full else torch.ones(n, many, 1).double()
    share[:, : many // 4] = 1.0
    return turn.cos() * centres[:, None] + turn.sin() * share * way


def latent_radius(
    rng: Generator, activation: Any, k: int, d: int, n: int = 4, radius: float = 0.3,
    eps: float = 0.2,
) -> Numbers:  # fmt: skip
    """§7 of CONV: n centres on a subsphere S^{k−1} with whole caps of S^{d−1} about them. The norm
    of the shortest g with loss at most ε on all of them, by cutting planes (g may be taken to be
    invariant under rotations of the other coordinates); what is proven below it; the largest
    violation that is found.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = latent_radius(stream(0, "example"), SmoothedReLU(b=2.0), k=2, d=5)
    >>> told["proven"] <= told["R"] * (1 + 1e-9), told["violation"] <= 0.01
    (True, True)
    """
    batch = SpherePoints(d=k, radius=radius, K=2).sample(n, rng)
    centres, labels = batch.x, batch.y
    q, e, angle = d - k, math.sqrt((1 + eps) ** 2 - 1), half_angle(radius)
    x, y = centres, labels
    for _ in range(60):
        told = shortest(_turned(activation, q, x, x), (y - e).numpy(), (y + e).numpy())
        tried = _in_caps(centres, angle, q > 0, 1500, rng)
        g = _turned(activation, q, tried.flatten(0, 1), x) @ told.beta
        off = (torch.from_numpy(g).view(n, -1) - labels[:, None]).abs() - e
        worst = off.topk(3, dim=1)
        if float(worst.values.max()) <= 0.01 or not math.isfinite(told.norm):
            break
        new = tried.gather(1, worst.indices[..., None].expand(-1, -1, k))
        kept = worst.values > 0.002
        x = torch.cat([x, new[kept]])
        y = torch.cat([y, labels[:, None].expand_as(kept)[kept]])
    return {
        "R": told.norm,
        "proven": told.least,
        "violation": float(worst.values.max()),
        "planes": float(len(x)),
    }
