"""Counting inequalities behind the lower bounds: Sauer's lemma, C(μ), orders of VC dimensions."""

import math

import torch
from torch import Generator

from adversarium.bounds import shattering_constant
from adversarium.rng import uniform
from adversarium.sockets import Numbers

# μ → C(μ), worked out by hand once
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
    """Σ_{i≤k} C(m, i) ≤ (em/k)^k, Lemma A.8 of CGRO: the largest of left over right for all
    k + 1 < m ≤ `largest`.

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
    """h(μ)h(C(μ)) = 2, App. D of CGRO: is C(μ) the one worked out by hand, to four digits, for
    every μ of the table? And the largest difference.

    >>> from adversarium.rng import stream
    >>> shattering(stream(0, "example"))["table"], SHATTERING[0.01]
    (1.0, 0.2805)
    """
    worst = max(abs(shattering_constant(mu) - value) for mu, value in SHATTERING.items())
    return {"table": float(worst < 6e-5), "error": worst}


def vc_orders(rng: Generator) -> Numbers:
    """W log(WL), Lemma A.7 of CGRM: the power of L in the cited lower bound W L log(W/L) over the
    printed upper bound, at W = L².

    >>> from adversarium.rng import stream
    >>> round(vc_orders(stream(0, "example"))["power"], 9)  # the lower bound outgrows the upper one
    1.0
    """
    return {"power": math.log(_vc_ratio(1e6) / _vc_ratio(1e3)) / math.log(1e3)}


def _vc_ratio(L: float) -> float:
    """W L log(W/L) over W log(WL) at W = L²."""
    return L * math.log(L) / math.log(L**3)


def law_of_a_sample(rng: Generator, D: int, n: int, mu: float = 0.2) -> Numbers:
    """TV(D, law of S)/μ for n points of S_φ without smear, 2^{D−1} cells of one label with small
    margins of mass μ and large ones. It bounds robust test error/μ of every f with robust training
    error 0, Corollary 3.4 of CGRM: a point of S at which f is wrong counts in both.

    >>> from adversarium.rng import stream
    >>> 0 < law_of_a_sample(stream(0, "example"), D=3, n=10_000)["distance/mu"] < 0.2
    True
    """
    cells = 2 ** (D - 1)
    law = torch.tensor([mu, 1 - mu]).double().repeat_interleave(cells) / cells
    drawn = torch.searchsorted(law.cumsum(0), uniform((n,), rng)).clamp_max(2 * cells - 1)
    share = torch.bincount(drawn, minlength=2 * cells) / n
    return {"distance/mu": float((share - law).abs().sum() / 2 / mu)}
