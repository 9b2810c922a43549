"""Measure the bias and fluctuation of kernel density estimates with a kernel on the δ-ball (App. F
of CGRO)."""

import math

import torch
from torch import Generator, Tensor

from adversarium.rng import normal
from adversarium.shapes import Float
from adversarium.sockets import Numbers

from .powers import power
from .smooth import ball


def density_powers(rng: Generator, D: int, draws: int, repeats: int) -> Numbers:
    """|E p_S − p| = O(δ²) and |p_S − E p_S| = O(N^{−1/2}δ^{−D/2}), proof of Theorem F.1 of CGRO.

    `bias` is the power of δ in the bias. `in_N` is the power of N, and `in_delta` the power of δ
    plus D/2, in the root mean square of the L1 fluctuation; by Chebyshev, this root mean square
    divided by √Δ bounds the fluctuation with probability 1 − Δ. The kernel is a product of
    parabolas, p is Gaussian, and D is 1 or 2.

    >>> from adversarium.rng import stream
    >>> powers = density_powers(stream(0, "example"), D=1, draws=16, repeats=1)
    >>> round(powers["bias"], 1)
    2.0
    """
    line = torch.linspace(-2, 2, 201 if D == 1 else 25).double()
    at = torch.cartesian_prod(*[line] * D).view(-1, D)
    radii = (0.05, 0.1, 0.2, 0.4)
    biases = [float((_smoothed(at, delta) - _gaussian(at)).abs().mean()) for delta in radii]
    # small enough that the square of the mean hardly matters in the variance
    small = (0.02, 0.04, 0.08, 0.16) if D == 1 else (0.1, 0.2, 0.4, 0.8)
    in_delta = [_fluctuation(rng, at, draws, delta, repeats) for delta in small]
    counts = [draws // 8, draws // 4, draws // 2, draws]
    in_N = [_fluctuation(rng, at, N, 0.2, repeats) for N in counts]
    return {
        "bias": power(radii, biases),
        "in_delta": power(small, in_delta) + D / 2,
        "in_N": power(counts, in_N),
    }


def unbounded_loss(rng: Generator, delta: float) -> Numbers:
    """∫ E_S p_S L dX = ∞ and ∫ p_D L dX < ∞, proof of Theorem F.1 of CGRO, for p_D ∝ e^{−x²/2} and
    L = e^{x²/2}/(1 + x²).

    `smoothed` is the first integral up to |x| = 60/δ, with a uniform kernel on [−δ, δ]; `mean` is
    the second.

    >>> from adversarium.rng import stream
    >>> numbers = unbounded_loss(stream(0, "example"), delta=0.1)
    >>> numbers["smoothed"] > 1e10, round(numbers["mean"], 2)
    (True, 1.25)
    """
    x = torch.linspace(0, 60 / delta, 60_001, dtype=torch.float64)
    z = torch.linspace(-1, 1, 41, dtype=torch.float64) * delta
    mass = 1 / (1 + x.square()) / (2 * math.pi) ** 0.5  # p L
    ratio = torch.exp(x[:, None] * z - z.square() / 2).mean(-1)  # E_S p_S / p, at the grid's z
    smoothed, mean = (2 * float(torch.trapezoid(f, x)) for f in (mass * ratio, mass))
    return {"smoothed": smoothed, "mean": mean}


def _gaussian(x: Float[Tensor, "*n D"]) -> Float[Tensor, "*n"]:
    """Return p(x) = (2π)^{−D/2} e^{−‖x‖²/2}."""
    norm: float = (2 * math.pi) ** (x.shape[-1] / 2)
    return torch.exp(-x.square().sum(-1) / 2) / norm


def _smoothed(at: Float[Tensor, "n D"], delta: float) -> Float[Tensor, " n"]:
    """Return E p_S = p * K_δ at every point, by a sum over a grid of the ball."""
    nodes = ball(at.shape[-1], 41)
    weight = (1 - nodes.square()).prod(-1)
    weight = weight / weight.sum()
    return (_gaussian(at[:, None] + delta * nodes) * weight).sum(-1)


def _fluctuation(
    rng: Generator, at: Float[Tensor, "n D"], N: int, delta: float, repeats: int
) -> float:
    """Return √E (mean_at |p_S − E p_S|)², estimated from `repeats` samples S of N points."""
    total, expected = 0.0, _smoothed(at, delta)
    for _ in range(repeats):
        z = (at[:, None] - normal((N, at.shape[-1]), rng)) / delta
        kernel = (0.75 * (1 - z.square()).clamp_min(0) / delta).prod(-1).mean(-1)
        total += float((kernel - expected).abs().mean()) ** 2 / repeats
    return math.sqrt(total)
