"""Counting inequalities behind lower bounds: Sauer's lemma, C(μ), growth of VC dimensions."""

import math

import torch
from torch import Generator

from adversarium.rng import uniform
from adversarium.sockets import Numbers


def _log_h(x: float) -> float:
    """log h(x) with h(x) = (e/x)^x, which increases on (0, 1)."""
    return x * (1 - math.log(x)) if x > 0 else 0.0


def shattering_constant(mu: float) -> float:
    """C(μ): the ratio l/n with h(μ)h(l/n) = 2, h(x) = (e/x)^x, App. D of CGRO; 0 if h(μ) ≥ 2.

    A class that realises every labelling of n points up to μn errors has VC dimension ≥ C(μ)n.

    >>> round(shattering_constant(0.01), 4), shattering_constant(0.5)
    (0.2805, 0.0)
    """
    target = math.log(2) - _log_h(mu)
    if target <= 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_h(middle) < target else (low, middle)
    return high


def least_dimension(n: int, mistakes: int) -> int:
    """The smallest l with Σ_{i≤l} C(n, i) · Σ_{i≤μn} C(n, i) ≥ 2ⁿ, App. D of CGRO, in integers.

    It is the smallest VC dimension that Sauer's lemma allows for a class that realises every
    labelling of n points up to `mistakes` = μn errors.

    >>> [least_dimension(4, mistakes) for mistakes in (0, 1, 4)]
    [4, 1, 0]
    """
    served = _balls(n, mistakes)
    return next(l for l in range(n + 1) if _balls(n, l) * served >= 2**n)


def _balls(n: int, radius: int) -> int:
    """Return Σ_{i≤radius} C(n, i)."""
    return sum(math.comb(n, i) for i in range(radius + 1))


SHARES = (1e-4, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.15)  # values of μ
POINTS = (20, 50, 100, 200, 500)  # values of n


def sauer(rng: Generator, largest: int = 60) -> Numbers:
    """Σ_{i≤k} C(m, i) ≤ (em/k)^k, Lemma A.8 of CGRO: the largest ratio of left to right side.

    All pairs k + 1 < m ≤ `largest` with k ≥ 1 are tested.

    >>> from adversarium.rng import stream
    >>> sauer(stream(0, "example"), largest=10)["ratio"] < 1
    True
    """
    ratios = [
        sum(math.comb(m, i) for i in range(k + 1)) / (math.e * m / k) ** k
        for m in range(3, largest + 1)
        for k in range(1, m - 1)
    ]
    return {"ratio": max(ratios)}


def shattering(rng: Generator) -> Numbers:
    """C(μ)n over the smallest VC dimension that counting in integers allows, App. D of CGRO.

    - `bound`: the largest quotient; above 1 the bound C(μ)n would be refuted.

    >>> from adversarium.rng import stream
    >>> 0.5 < shattering(stream(0, "example"))["bound"] <= 1
    True
    """
    return {
        "bound": max(
            shattering_constant(mu) * n / least_dimension(n, math.floor(mu * n))
            for mu in SHARES
            for n in POINTS
        )
    }


def vc_orders(rng: Generator) -> Numbers:
    """W log(WL), Lemma A.7 of CGRM, compared with the cited lower bound W L log(W/L) at W = L².

    `power` is the power of L in the ratio of the lower bound to the published upper bound.

    >>> from adversarium.rng import stream
    >>> round(vc_orders(stream(0, "example"))["power"], 9)  # the lower bound grows faster
    1.0
    """
    return {"power": math.log(_vc_ratio(1e6) / _vc_ratio(1e3)) / math.log(1e3)}


def _vc_ratio(L: float) -> float:
    """W L log(W/L) divided by W log(WL), at W = L²."""
    return L * math.log(L) / math.log(L**3)


def law_of_a_sample(rng: Generator, D: int, n: int, mu: float = 0.2) -> Numbers:
    """TV(𝒟, law of S)/μ for n points of S_φ at the centres of their cells.

    The distribution 𝒟 has 2^{D−1} cells with small margins, of total mass μ, and as many with large
    margins. The result bounds the robust test error, divided by μ, of every f with robust training
    error 0 (Corollary 3.4 of CGRM), because f is correct on all cells that occur in S.

    >>> from adversarium.rng import stream
    >>> 0 < law_of_a_sample(stream(0, "example"), D=3, n=10_000)["distance/mu"] < 0.2
    True
    """
    cells = 2 ** (D - 1)
    law = torch.tensor([mu, 1 - mu]).double().repeat_interleave(cells) / cells
    cell = torch.searchsorted(law.cumsum(0), uniform((n,), rng)).clamp_max(2 * cells - 1)
    share = torch.bincount(cell, minlength=2 * cells) / n
    return {"distance/mu": float((share - law).abs().sum() / 2 / mu)}
