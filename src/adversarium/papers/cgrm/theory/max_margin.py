"""Test statements of CGRM about linear classifiers: the max-margin direction, attacks and
angles."""

import math

import torch
from torch import Generator, Tensor

from adversarium.attacks import FGSM
from adversarium.data import MarginBatch, MarginMixture
from adversarium.rng import normal
from adversarium.shapes import Float
from adversarium.sockets import Along, Numbers
from adversarium.solvers import max_margin

from .bounds import few_points_error, not_exact, tilted_log_error


def max_margin_directions(
    rng: Generator,
    d: int,
    alpha: float,
    counts: tuple[int, ...] = (20, 50, 100, 200, 300, 360, 400, 440, 460, 480),
) -> Numbers:
    """tan θ = max(M, 0)/α and ‖u − w*‖ ≤ ‖mean y ξ‖/α, our correction of Theorem 4.1 of CGRM.

    u is the max-margin direction of N' large-margin points, θ its angle to w* and M the margin of
    the points yξ. For each N': `error` is ‖u − w*‖ and `bound` its bound; `tangent_error` and
    `margin_error` are the errors of tan θ and of the margin √(α² + M²); `predicted` is ‖u − w*‖
    predicted for N' ≪ d; `not_exact` is 1 if u ≠ w*; `wendel` is Wendel's probability that u ≠ w*.

    >>> from adversarium.rng import stream
    >>> numbers = max_margin_directions(stream(0, "example"), d=4, alpha=5.0, counts=(2, 20))
    >>> numbers["not_exact"].values, [round(p, 3) for p in numbers["wendel"].values]
    ((1.0, 0.0), [1.0, 0.0])
    """
    rows = [_direction(rng, d, alpha, n) for n in counts]
    return {name: Along("N", counts, tuple(row[name] for row in rows)) for name in rows[0]}


def _direction(rng: Generator, d: int, alpha: float, n: int) -> dict[str, float]:
    """Return the numbers for one N' = n, from y_i x_i = (α, ζ_i) with ζ_i = y_i ξ_i ~ N(0, I)."""
    zeta = normal((n, d - 1), rng)
    Z = torch.cat([torch.full((n, 1), alpha).double(), zeta], dim=1)
    u, margin = max_margin(Z)
    M = max_margin(zeta)[1]
    error = float((u - torch.eye(d, 1)[:, 0].double()).norm())
    tangent = float(u[1:].norm() / u[0])
    return {
        "error": error,
        "bound": float(zeta.mean(0).norm()) / alpha,
        "tangent_error": abs(tangent - max(M, 0.0) / alpha),
        "margin_error": abs(margin - math.hypot(alpha, max(M, 0.0))),
        "predicted": few_points_error(d, n, alpha),
        "not_exact": float(error > 1e-6),
        "wendel": not_exact(d, n),
    }


def not_exact_share(rng: Generator, d: int, draws: int) -> Numbers:
    """P[u ≠ w*] = P[Bin(N' − 1, ½) ≤ d − 2], our correction of Theorem 4.1 of CGRM, at N' =
    2(d − 1) and at N' = 2(d − 1) + √d.

    `share` is the share of draws with u ≠ w*, which means that all y_i ξ_i lie in a half-space;
    `wendel` is the right side, Wendel's probability.

    >>> from adversarium.rng import stream
    >>> found = not_exact_share(stream(0, "example"), d=3, draws=5)
    >>> found["share"].at, found["wendel"].values[0]  # half of the sets have u ≠ w*
    ((4, 6), 0.5)
    """
    counts = tuple(2 * (d - 1) + round(shift * math.sqrt(d)) for shift in (0, 1))
    shares = [
        sum(max_margin(normal((n, d - 1), rng))[1] > 1e-9 for _ in range(draws)) / draws
        for n in counts
    ]
    return {
        "share": Along("N", counts, tuple(shares)),
        "wendel": Along("N", counts, tuple(not_exact(d, n) for n in counts)),
    }


def cauchy(rng: Generator, d: int, alpha: float, n: int = 60, beta: float = 0.5) -> Numbers:
    """min_i min_{‖δ_i‖≤δ} y_i⟨w, x_i + δ_i⟩ = min_i y_i⟨w, x_i⟩ − δ, proof of Theorem B.1 of CGRM.

    `error` is the largest error over w = u and random unit vectors w, with the inner minimum found
    by FGSM. The identity implies that both sides have the same maximiser w.

    >>> from adversarium.rng import stream
    >>> cauchy(stream(0, "example"), d=3, alpha=5.0, n=4)["error"] < 1e-9
    True
    """
    batch = MarginMixture(d=d, alpha=alpha, beta=min(beta, alpha)).sample(n, rng)
    u, margin = max_margin(batch.y[:, None] * batch.x)
    return {
        "error": max(
            _cauchy_error(rng, batch, w / w.norm(), share * margin)
            for w in (u, *normal((20, d), rng))
            for share in (0.1, 0.5, 0.9)
        )
    }


def _cauchy_error(
    rng: Generator, batch: MarginBatch, w: Float[Tensor, " d"], radius: float
) -> float:
    """Return |min_i y_i⟨w, x_i'⟩ − (min_i y_i⟨w, x_i⟩ − δ)|, where x' = FGSM(x) in the l2 ball of
    radius δ."""
    attack = FGSM(p=2, radius=radius)
    moved = attack(lambda z: -batch.y * (z @ w), batch, 0, rng)
    attacked = float((batch.y * (moved @ w)).min())
    clean = float(((batch.y[:, None] * batch.x) @ w).min())
    return abs(attacked - (clean - radius))


def tilted_errors(
    rng: Generator,
    draws: int = 200_000,
    alpha: float = 5.0,
    beta: float = 0.5,
    angles: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
) -> Numbers:
    """Φ(−β cot θ)/Φ(−α cot θ), the ratio that Assumption 6.1 of CGRM bounds: the clean error on
    small margins divided by that on large ones, for a linear classifier at angle θ to w*.

    `log10_ratio` is its decimal logarithm for every angle. `standard_errors` is the largest
    distance between frequencies on fresh noise and Φ(−c cot θ), in standard errors.

    >>> from adversarium.rng import stream
    >>> numbers = tilted_errors(stream(0, "example"), draws=100, angles=(0.5, 1.0))
    >>> [round(ratio) for ratio in numbers["log10_ratio"].values]
    [19, 3]
    """
    noise = normal((draws,), rng)
    ratios, largest_gap = [], 0.0
    for angle in angles:
        logs = {c: tilted_log_error(c, angle) for c in (alpha, beta)}
        for c, log in logs.items():
            frequency = float((c * math.cos(angle) + math.sin(angle) * noise <= 0).double().mean())
            if math.exp(log) * draws > 20:
                largest_gap = max(
                    largest_gap, abs(frequency - math.exp(log)) / math.sqrt(math.exp(log) / draws)
                )
        ratios.append((logs[beta] - logs[alpha]) / math.log(10))
    return {
        "log10_ratio": Along("angle", angles, tuple(ratios)),
        "largest_log10_ratio": max(ratios),
        "standard_errors": largest_gap,
    }
