"""Robust learning or robust memorisation: the boundary that CGRO's Theorem 4.1 does not mention.

Paper: N = poly(d).
Ours: noise is memorised before the attacked signal is learnt only if N < N_c = σ²d v*/(qα²(1 −
γ)³), with v* = σ0σ√d √(2 log((P − 1)m)) and q = 2.
Reading: a run memorises if memory_share, V/(V + α³(1 − γ)³U), is above ½ at the end. d = 200,
P = 3, m = 8, η = 0.1, λ = ½ unless varied. Runs last about eight times the predicted time of
memorising or of learning, if shorter, and at most 80,000 steps.
Cost: quick 20 s (2 cores); paper minutes on a GPU.
"""

import itertools
import math

from adversarium.measure.errors import Error
from adversarium.plans import Hypothesis, Parts, Read

from ..theory.bounds import critical_n
from ..theory.diagrams import DIAGRAMS, ladder_table, phase, switch
from ..theory.features import median_memorised, true_feature
from ..theory.ladders import boundary_power, ladder_power, switches_near, unbroken_above
from ..theory.memorisation import conclusion, memory_share
from ..theory.patches import patches
from ..theory.regime import gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick", "switch"]

_LADDER = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)  # values of N/N_c

quick = dict(gap=(0.15, 0.12, 0.09), ratios=(0.25, 0.5, 1.0, 2.0, 4.0), seeds=5)
paper = dict(
    d=(200, 400),
    gap=(0.065, 0.05, 0.04, 0.03),
    diagrams=("N, 1 − γ", "λ, 1 − γ", "N, d", "σ, α", "exponents"),
    seeds=10,
)

LADDER = {"d": Read("data.d"), "1 − γ": Read("attack.gap"), "N": Read("n")}


def plan(
    d=(200,), gap=(0.12, 0.09, 0.065), N=None, lam=0.5, alpha=None, sigma=None, P=3, m=8, eta=0.1,
    ratios=_LADDER, diagrams=(), longest=80_000,
):  # fmt: skip
    knobs = dict(lam=lam, alpha=alpha, sigma=sigma, P=P, m=m, eta=eta, longest=longest)
    for size, one_gap in itertools.product(d, gap):
        N_c = _critical(d=size, gap=one_gap, alpha=alpha, sigma=sigma, P=P, m=m)
        ladder = (N,) if N is not None else dict.fromkeys(max(1, round(r * N_c)) for r in ratios)
        for count in ladder:
            yield _cell("ladder", LADDER, d=size, gap=one_gap, N=count, **knobs)
    for name in diagrams:
        diagram = DIAGRAMS[name]
        for settings in diagram.cells():
            yield _cell(diagram.family, diagram.at, **settings, longest=longest)


def _critical(d, gap, alpha, sigma, P, m):
    """Return N_c, with the paper's exponents for parameters that are not set."""
    alpha = d**0.249 if alpha is None else alpha
    sigma = d**-0.509 if sigma is None else sigma
    if not gap > 0 or not alpha > 0 or not sigma > 0:
        raise ValueError(
            f"phases needs 1 − γ, alpha and sigma > 0, got {gap}, {alpha} and {sigma}."
        )
    return critical_n(d, P, m, alpha, sigma, d**-0.5, gap)


def _cell(family, at, *, d=200, gap=0.05, N=10, lam=0.5, alpha=None, sigma=None, P=3, m=8, eta=0.1,
          longest=80_000):  # fmt: skip
    """Return one run, long enough for memorising or learning: 2,500 steps times a power of two."""
    N_c = _critical(d, gap, alpha, sigma, P, m)
    if not lam > 0 or N < 1:
        raise ValueError(f"phases needs lam > 0 and N >= 1, got lam={lam} and N={N}.")
    strength = d**0.249 if alpha is None else alpha
    signal_time = 2 / (3 * eta * lam * strength**2 * gap**3 * 2)
    memory_time = signal_time * N / N_c
    needed = 8 * min(signal_time, memory_time)
    steps = min(longest, 2_500 * 2 ** max(0, math.ceil(math.log2(needed / 2_500))))
    return patches(
        family,
        at,
        **dict(d=d, gap=gap, N=N, lam=lam, alpha=alpha, sigma=sigma, P=P, m=m, eta=eta),
        steps=steps,
        final=(
            memory_share,
            true_feature,
            median_memorised,
            Error(n=500, attacks="training", name="robust_test_error"),
            conclusion,
        ),
        record=(0,),
    )


checks = {
    "cgro.thm4.1.N-critical": Parts(
        {
            "place: N at the switch over N_c within a factor 2": switches_near("ladder", 0.5, 2.0),
            "place: at 4 N_c GTA breaks nobody": unbroken_above("ladder", 0.01),
            "power of 1 − γ in N at the switch (−3 in N_c), reported": Hypothesis(
                "exponent",
                ladder_power("ladder", 200),
                ladder_power("ladder", 400),
                boundary_power(DIAGRAMS["N, 1 − γ"].family),
            ),
        }
    )
}

figures = (*(phase(diagram) for diagram in DIAGRAMS.values()), ladder_table)
