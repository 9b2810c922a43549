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


# μ → C(μ), computed by hand
SHATTERING = {
    1e-4: 0.3266,
    1e-3: 0.3205,
    0.01: 0.2805,
    0.02: 0.2488,
    0.05: 0.1828,
    0.1: 0.1146,
    0.15: 0.0709,
}


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
    """h(μ)h(C(μ)) = 2, App. D of CGRO, compared with values computed by hand.

    - `table`: 1 if C(μ) agrees to four digits for every μ of the table, else 0.
    - `error`: the largest difference.

    >>> from adversarium.rng import stream
    >>> shattering(stream(0, "example"))["table"], SHATTERING[0.01]
    (1.0, 0.2805)
    """
    error = max(abs(shattering_constant(mu) - value) for mu, value in SHATTERING.items())
    return {"table": float(error < 6e-5), "error": error}


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
