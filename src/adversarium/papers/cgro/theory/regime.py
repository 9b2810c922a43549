"""Evaluate CGRO's hypotheses for a run from its data, network, attack and recipe."""

import math
from collections.abc import Sequence

from adversarium.attacks import GTA
from adversarium.data import HyperplaneCells, PatchData
from adversarium.networks import CubicCNN, lenet5, resnet9
from adversarium.plans import Run
from adversarium.plans.gates import Gate
from adversarium.plans.image_runs import size_gates
from adversarium.plans.run import Task

from .bounds import critical_n


def critical_count(run: Run) -> float:
    """Return N_c = σ²d v*/(2α²(1 − γ)³) of a run, our estimate: below it, noise is memorised before
    the attacked signal is learnt."""
    data, network = run.data, run.network
    sizes = dict(d=data.d, P=data.P, m=network.m)
    return critical_n(
        **sizes, alpha=data.alpha, sigma=data.sigma, sigma0=network.sigma0, gap=run.attack.gap
    )


def gates(run: Task) -> Sequence[Gate]:
    """Return the hypotheses of §3 of CGRO for a run of Theorem 4.1, and those of Assumption 5.1 of
    CGRO for a run on cells; other runs have none."""
    if not isinstance(run, Run):
        return ()
    if isinstance(run.data, HyperplaneCells):
        return (Gate("distance of the classes/2δ", run.data.R / (2 * run.attack.radius), low=1.0),)
    patch_run = isinstance(run.data, PatchData) and isinstance(run.network, CubicCNN)
    return _theorem_gates(run) if patch_run and isinstance(run.attack, GTA) else ()


PRINTED = {"mnist": lenet5, "cifar10": resnet9}  # the networks of Figure 2


def image_gates(run: Task) -> Sequence[Gate]:
    """Return how a run on images compares with Figures 1 to 3."""
    return size_gates(run, PRINTED, "Figure 2")


def _theorem_gates(run: Run) -> Sequence[Gate]:
    """α = d^0.249 polylog(d), σ = d^−0.509, P = polylog(d), λ ∈ [1/poly(d), 1), §3 of CGRO, and m =
    polylog(d), σ0² = polylog(d)/d, 1 − γ = 1/(√d polylog(d)), η = O(1), Parameterization 3.1 of
    CGRO; and N < N_c, which the proof needs (our finding).

    Reading: polylog(d) is a factor of at most (ln d)² (for α, σ and σ0², also at least (ln d)⁻²);
    poly(d) is d; O(1) is 1.
    """
    data, network, d = run.data, run.network, run.data.d
    polylog = max(1.0, math.log(d) ** 2)
    lam = 1.0 if run.risk is None else run.risk.lam
    gap = run.attack.gap
    return (
        Gate("α/d^0.249", data.alpha / d**0.249, 1 / polylog, polylog),
        Gate("σ/d^−0.509", data.sigma / d**-0.509, 1 / polylog, polylog),
        Gate("σ0√d", network.sigma0 * math.sqrt(d), 1 / math.sqrt(polylog), math.sqrt(polylog)),
        Gate("√d(1 − γ)", math.sqrt(d) * gap, 1 / polylog, 1.0 + 1e-9),  # γ is rounded
        Gate("P", data.P, high=polylog),
        Gate("m", network.m, high=polylog),
        Gate("η", run.eta, high=1.0),
        Gate("λ", lam, 1 / d, math.nextafter(1.0, 0.0)),
        Gate("N/N_c", run.n / critical_count(run) if gap else 0.0, high=1.0, printed=False),
    )
