"""RNRF's problem: its features, assumptions and activation, and limits on every classifier."""

import math
from dataclasses import replace

import torch
from torch import Generator, Tensor

from adversarium.attacks import FeatureCollision, midpoint
from adversarium.data import TwoFeatureBatch, TwoFeaturePatches
from adversarium.networks import SmoothedCNN, smoothed_relu
from adversarium.networks.smoothed_cnn import smoothed_slope
from adversarium.rng import coins, integers, uniform
from adversarium.shapes import Float, Int
from adversarium.sockets import Numbers

from .feature_networks import accuracy, attacked


def feature_axes(rng: Generator, k: int, d: int) -> Numbers:
    """⟨f, f'⟩ = 1[f = f'] and ‖f‖_∞ = 1, Definition 2.1 of RNRF: the largest error.

    >>> from adversarium.rng import stream
    >>> feature_axes(stream(0, "example"), k=2, d=4)
    {'error': 0.0}
    """
    data = TwoFeaturePatches(k=k, d=d)
    F = torch.cat([data.U, data.V])
    gram = (F @ F.mT - torch.eye(2 * k, dtype=F.dtype)).abs().max()
    return {"error": float(torch.maximum(gram, (F.abs().amax(-1) - 1).abs().max()))}


def feature_assumptions(
    rng: Generator, data: TwoFeaturePatches, eps: float, tau: int = 3
) -> Numbers:
    """Test whether α_p ≫ β_p' and Σ_R α^τ ≪ Σ_NR β^τ can hold together, Assumption 2.3 of RNRF.

    - `alpha/beta`, `density`: both ratios for the given data. `alpha/eps`: α/ε.
    - `both_possible`: 1 if a search finds a configuration with both ratios ≥ c and P < c^{τ+1},
      else 0. `both_with_more`: 1 if it always finds one with about twice as many patches, else 0.
    - `least_P`: the smallest P at which α/β, α/ε and the density are all ≥ 2, with ε > β.
    - `distance/2eps`, `collide`: the separation of §2.5 of RNRF, that is the smallest ‖X − X'‖_∞/2ε
      of points with different labels, and the share of pairs for which it is at most 1.

    >>> from adversarium.rng import stream
    >>> rows = feature_assumptions(stream(0, "example"), TwoFeaturePatches(d=4, P=3), eps=1.2)
    >>> rows["alpha/beta"], rows["density"], rows["both_possible"]
    (2.0, 0.25, 0.0)
    """
    batch = data.sample(100, rng)
    robust, other = batch.strength[batch.is_robust], batch.strength[~batch.is_robust]
    powers = batch.strength**tau
    density = (powers * ~batch.is_robust).sum(-1) / (powers * batch.is_robust).sum(-1)
    distance = (batch.x[:, None] - batch.x[None]).abs().flatten(2).amax(-1)
    distances = distance[batch.y[:, None] != batch.y[None]]
    return {
        "alpha/beta": float(robust.min() / other.max()),
        "density": float(density.min()),
        "both_possible": float(any(_both(rng, c, tau) for c in (2.0, 3.0, 5.0))),
        "both_with_more": float(all(_both(rng, c, tau, 2.0) for c in (2.0, 3.0, 5.0))),
        "alpha/eps": float(robust.min()) / eps,
        "least_P": float(_least_patches(2.0, tau)),
        "distance/2eps": float(distances.min()) / (2 * eps),
        "collide": float((distances <= 2 * eps).double().mean()),
    }


def _least_patches(c: float, tau: int) -> int:
    """Return the smallest P at which Assumptions 2.3 and B.3 of RNRF hold with a factor c, β = 1.

    With one robust patch, α = 1.01cβ and ε = 1.005β, the ratios α/β, α/ε and Σ_NR β^τ/Σ_R α^τ must
    all be at least c.
    """
    alpha, eps = 1.01 * c, 1.005
    P = next(P for P in range(2, 10_000) if c * alpha**tau <= P - 1)
    assert alpha / eps >= c and eps > 1
    return P


def separation(rng: Generator, data: TwoFeaturePatches, eps: float, n: int = 100) -> Numbers:
    """‖X − X'‖_∞ ≫ ε for different labels, §2.5 of RNRF.

    - `apart`: the number of n independent pairs whose ε-balls are disjoint (distance > 2ε).
    - `least`: the smallest ‖X − X'‖_∞/ε.

    >>> from adversarium.rng import stream
    >>> data = TwoFeaturePatches(k=2, d=4, P=2, alpha=2.0, beta=1.0, sigma_n=0.0)
    >>> separation(stream(0, "example"), data, eps=0.25, n=10)["apart"]  # all 10 pairs
    10.0
    """
    one, two = data.sample(n, rng), data.sample(n, rng)
    other = (one.y + 1 + integers(data.k - 1, (n,), rng)) % data.k
    x = _noiseless(data, two, other) + two.noise
    distance = (one.x - x).abs().flatten(1).amax(-1)
    return {"apart": float((distance > 2 * eps).sum()), "least": float(distance.min()) / eps}


def _both(rng: Generator, c: float, tau: int, more: float = 1.0) -> bool:
    """Search 20,000 draws for α/β ≥ c with Σ_NR β^τ ≥ c Σ_R α^τ, Assumption 2.3 of RNRF.

    The number of patches P is below c^{τ+1}, or up to `more` times as large.
    """
    top = c ** (tau + 1) if more == 1 else more * c ** (tau + 1) + more
    # Both are easiest to satisfy with one robust patch and a ratio near c: draw these more often.
    P = 2 + integers(math.ceil(top) - 2, (20_000,), rng)
    R = 1 + (uniform((20_000,), rng) * (P - 1)).long().where(coins((20_000,), rng) > 0, 0)
    ratio = c * 10 ** (2 * uniform((20_000,), rng).pow(4))
    density = (P - R) / (R * ratio**tau)
    return bool(((ratio >= c) & (density >= c) & (top > P)).any())


def activation_slope(rng: Generator, q: int = 3, rho: float = 0.8) -> Numbers:
    """s'(z) = (clip(z, 0, ϱ)/ϱ)^{q−1}, continuous, and z s'(z) ≤ q s(z), §2.3 of RNRF.

    The largest error on a grid that contains 0 and ϱ; the slope is compared with autograd.

    >>> from adversarium.rng import stream
    >>> activation_slope(stream(0, "example"))["error"] < 1e-12
    True
    """
    z = torch.cat([torch.linspace(-1, 3, 4001), torch.tensor([0.0, rho])]).double()
    z.requires_grad_(True)
    s = smoothed_relu(z, q, rho)
    (slope,) = torch.autograd.grad(s.sum(), z)
    formula = smoothed_slope(z, q, rho)
    jump = (smoothed_slope(z + 1e-9, q, rho) - smoothed_slope(z - 1e-9, q, rho)).abs().max()
    excess = (z * formula - q * s).max()
    errors = torch.stack([(slope - formula).abs().max(), jump - 1e-8, excess])
    return {"error": float(errors.max().detach())}


def impossibility(
    rng: Generator, data: TwoFeaturePatches, eps: float, n: int = 200, nets: int = 50
) -> Numbers:
    """If all strengths are ≤ 2ε, robust accuracy is ≤ 1/k (ours, against Prop. 3.2 of RNRF).

    - `midpoints`: 1 if draws of two classes with equal noise always share a point of both balls,
      else 0.
    - `matching`: 1 if the colliding pairs of a balanced sample have a perfect matching, else 0.
    - `list`: 1 if an explicit list of points misclassifies a class of every patch-additive network
      tried, else 0.

    >>> from adversarium.rng import stream
    >>> impossibility(stream(0, "example"), TwoFeaturePatches(d=4, P=3), eps=1.2, n=5, nets=2)
    {'midpoints': 1.0, 'matching': 1.0, 'list': 1.0}
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    one, two = data.sample(n, rng), data.sample(n, rng)
    zero = _noiseless(data, one, torch.zeros(n).long())
    other = _noiseless(data, two, torch.ones(n).long())
    a, b = zero + one.noise, other + one.noise
    middle = midpoint(a, b)
    both = torch.maximum((middle - a).abs().amax((1, 2)), (middle - b).abs().amax((1, 2)))
    z = other + two.noise
    hit = (a[:, None] - z[None]).abs().amax((2, 3)) <= 2 * eps
    matched = maximum_bipartite_matching(csr_matrix(hit.numpy()))
    return {
        "midpoints": float((both <= eps + 1e-12).all()),
        "matching": float((matched >= 0).all()),
        "list": float(all(_list_breaks(rng, data, eps) for _ in range(nets))),
    }


def _noiseless(
    data: TwoFeaturePatches, batch: TwoFeatureBatch, y: Int[Tensor, " n"]
) -> Float[Tensor, "n P d"]:
    """Return α_p u_y and β_p v_y, Definition 2.1 of RNRF, of a draw with other labels."""
    feature = torch.where(batch.is_robust, y[:, None], data.k + y[:, None])
    clean = torch.zeros_like(batch.x)
    return clean.scatter_add_(-1, feature[..., None], batch.strength[..., None])


def _list_breaks(rng: Generator, data: TwoFeaturePatches, eps: float) -> bool:
    """Return whether a random patch-additive network errs on a reachable point of a class.

    The attack moves robust patches to (α − ε)u_y and the others to 0, (α − ε)u_y or (α − ε)u_j.
    """
    network = SmoothedCNN(m=8, sigma0=1.0)
    W = network.init(rng, data.shape, data.k) * (1 + 3 * float(uniform((), rng)))
    if float(coins((), rng)) > 0:  # half of the networks are diagonal u-networks
        W = torch.zeros_like(W)
        W[:, :, : data.k] = torch.eye(2).double()[:, None] * uniform((2, 8, 1), rng) * 5
    silent = replace(data, sigma_n=0.0, balanced=True).sample(2, rng)
    attack = FeatureCollision(radius=eps, alpha=data.alpha, k=2)
    return accuracy(network, W, silent, attacked(network, W, silent, attack, rng)) < 1
