"""The distance that weights must move to fit robustly: the smallest R of CONV's ball B(R) (§7).

All radii are computed in the kernel limit, for finite sets and for entire caps.
"""

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

from .certified_descent import points
from .features import Sections
from .kernels import gram, kappa


def needed_radius(K: np.ndarray, y: Tensor, eps: float, most: float) -> tuple[float, float]:
    """Return bounds on the smallest R with L_* ≤ ε, by bisection with certified optima.

    >>> low, high = needed_radius(np.eye(2), torch.tensor([1.0, -1.0]).double(), 0.1, 2.0)
    >>> low <= high <= 1.05 * low
    True
    """
    low, high = 0.0, most
    while high - low > 0.02 * high:
        R = (low + high) / 2
        optimum = robust_optimum(torch.from_numpy(K), y, R, pseudo_huber, close=0.02 * eps)
        if optimum.high <= eps:
            high = R
        elif optimum.low > eps:
            low = R
        else:  # the certified bounds are too far apart to continue
            break
    return low, high


def radii_needed(rng: Generator, activation: Any, d: int, n: int, eps: float) -> Numbers:
    """Compare the smallest R with L_* ≤ ε in the kernel limit with norms of an explicit g (§7).

    The data are n caps of radius 0.3 in R^d, or arcs of the circle if d = 2. g is the function of
    minimum norm whose loss is at most ε/2 on every set.

    - `low`, `high`: certified bounds on the smallest R.
    - `|g|`, `|g|_RF`: the RKHS norm of g, and a lower bound on its random-feature norm.
    - `high/|g|_RF`, `2 high/|g|_RF`: `high` divided by |g|_RF and by |g|_RF/2.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = radii_needed(stream(0, "example"), SmoothedReLU(b=2.0), d=3, n=4, eps=0.2)
    >>> numbers["low"] <= numbers["high"] < numbers["|g|"]
    True
    """
    batch = points("circle") if d == 2 else SpherePoints(d=d, radius=0.3, K=9).sample(n, rng)
    x, count = batch.options.flatten(0, 1), batch.options.shape[1]
    K = gram(activation, x)
    y = batch.y.repeat_interleave(count).numpy()
    e = math.sqrt((1 + eps / 2) ** 2 - 1)
    solution = shortest(K, y - e, y + e)
    rf_norm = Sections(activation, x, torch.from_numpy(solution.beta)).random_feature_norm(rng)
    low, high = needed_radius(K, batch.y, eps, solution.norm)
    return {
        "low": low,
        "high": high,
        "|g|": solution.norm,
        "|g|_RF": rf_norm,
        "high/|g|_RF": high / rf_norm,
        "2 high/|g|_RF": 2 * high / rf_norm,
    }


def _coordinate_quadrature(q: int) -> tuple[np.ndarray, np.ndarray]:
    """Return quadrature nodes and weights for one coordinate of a uniform point of S^{q−1}."""
    from scipy import special

    if q <= 1:
        return (np.zeros(1), np.ones(1)) if q == 0 else (np.array([-1.0, 1.0]), np.full(2, 0.5))
    if q == 2:
        nodes, weights = special.roots_chebyt(40)
    else:
        nodes, weights = special.roots_gegenbauer(40, q / 2 - 1)
    return nodes, weights / weights.sum()


def _averaged_kernel(activation: Any, q: int, x: Tensor, z: Tensor) -> np.ndarray:
    """Return the mean of K(x, Qz) over the rotations Q of the last q coordinates.

    Points of R^d are given by their first d − q coordinates.
    """
    remainders = [(1 - p.square().sum(-1)).clamp_min(0).sqrt() for p in (x, z)]
    inner, across = (x @ z.T).numpy(), np.outer(*(r.numpy() for r in remainders))
    mean = np.zeros_like(inner)
    for u, weight in zip(*_coordinate_quadrature(q), strict=True):
        r = np.clip(inner + u * across, -1.0, 1.0)
        mean += weight * r * kappa(activation, r)
    return mean


def _points_in_caps(centres: Tensor, angle: float, full: bool, many: int, rng: Generator) -> Tensor:
    """Draw points of caps of S^{d−1} whose centres lie on a subsphere S^{k−1}.

    Some points lie inside the caps, others on the rim; their coordinates in the space of the
    subsphere have shape (n, many, k). Unless `full`, all points lie on the subsphere itself.
    """
    n, k = centres.shape
    direction = normal((n, many, k), rng)
    direction = direction - (direction @ centres[..., None]) * centres[:, None]
    direction = torch.nn.functional.normalize(direction, dim=-1)
    turn = angle * uniform((n, many, 1), rng) ** 0.3
    turn[:, : many // 2] = angle
    share = uniform((n, many, 1), rng) if full else torch.ones(n, many, 1).double()
    share[:, : many // 4] = 1.0
    return turn.cos() * centres[:, None] + turn.sin() * share * direction


def latent_radius(
    rng: Generator, activation: Any, k: int, d: int, n: int = 4, radius: float = 0.3,
    eps: float = 0.2,
) -> Numbers:  # fmt: skip
    """Return the smallest norm of a g with loss at most ε on entire caps of S^{d−1} (§7 of CONV).

    The n centres lie on a subsphere S^{k−1}. g is found by cutting planes; by symmetry it can be
    taken invariant under rotations of the other coordinates.

    - `R`: the norm of g. `proven`: a lower bound on the smallest norm, from the dual problem.
    - `violation`: the largest violation of a constraint found. `planes`: the number of constraints.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = latent_radius(stream(0, "example"), SmoothedReLU(b=2.0), k=2, d=5)
    >>> numbers["proven"] <= numbers["R"] * (1 + 1e-9), numbers["violation"] <= 0.01
    (True, True)
    """
    batch = SpherePoints(d=k, radius=radius, K=2).sample(n, rng)
    centres, labels = batch.x, batch.y
    q, e, angle = d - k, math.sqrt((1 + eps) ** 2 - 1), half_angle(radius)
    x, y = centres, labels
    for _ in range(60):
        solution = shortest(_averaged_kernel(activation, q, x, x), (y - e).numpy(), (y + e).numpy())
        candidates = _points_in_caps(centres, angle, q > 0, 1500, rng)
        g = _averaged_kernel(activation, q, candidates.flatten(0, 1), x) @ solution.beta
        violations = (torch.from_numpy(g).view(n, -1) - labels[:, None]).abs() - e
        largest = violations.topk(3, dim=1)
        if float(largest.values.max()) <= 0.01 or not math.isfinite(solution.norm):
            break
        new = candidates.gather(1, largest.indices[..., None].expand(-1, -1, k))
        violated = largest.values > 0.002
        x = torch.cat([x, new[violated]])
        y = torch.cat([y, labels[:, None].expand_as(violated)[violated]])
    return {
        "R": solution.norm,
        "proven": solution.lower_bound,
        "violation": float(largest.values.max()),
        "planes": float(len(x)),
    }
