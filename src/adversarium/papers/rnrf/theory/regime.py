"""RNRF's hypotheses evaluated for a run, and two data settings in which they hold together."""

import math
from collections.abc import Sequence

import numpy as np

from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN, resnet18, wide_resnet
from adversarium.plans import Check, Evidence, InRegime, Need, Run, Where, quantity
from adversarium.plans.evidence import NO_ROWS
from adversarium.plans.gates import Gate
from adversarium.plans.image_runs import size_gates
from adversarium.plans.run import Task

from .bounds import two_feature_assumptions

MUCH = 2.0  # the factor that stands for ≫
EPS = 1.2  # radius of Figure 3, also used with `consistent`
SMALL_EPS = 1.04  # radius used with `small`


def consistent(**fields) -> TwoFeaturePatches:
    """Return data with α/β = 3, Σ_NR β³/Σ_R α³ = 63/27 and, at ε = 1.2, α/ε = 2.5.

    They satisfy Assumptions 2.3 and B.3 of RNRF and admit a robust classifier (α > 2ε). Classes
    alternate.
    """
    return TwoFeaturePatches(P=64, alpha=3.0, balanced=True, **fields)


def small(**fields) -> TwoFeaturePatches:
    """Return data with fewer patches: α/β = 2.1, Σ_NR β³/Σ_R α³ = 19/9.26, α/ε = 2.02
    (ε = 1.04)."""
    return TwoFeaturePatches(P=20, alpha=2.1, balanced=True, **fields)


def factors(run: Run) -> dict[str, float]:
    """Return the factors by which a run satisfies Assumptions 2.3 and B.3 of RNRF.

    They concern α ≫ β and Σ_R α³ ≪ Σ_NR β³ and, with an attack, α ≫ ε > β; ≫ stands for a factor of
    2.
    """
    data, attack = run.data, run.attack
    density = (data.P - data.n_robust) * data.beta**3 / (data.n_robust * data.alpha**3)
    found = {"α/β": data.alpha / data.beta / MUCH, "density": density / MUCH}
    if attack is not None:
        found |= {"α/ε": data.alpha / attack.radius / MUCH, "ε/β": attack.radius / data.beta}
    return found


def hypotheses(*runs: Where) -> Check:
    """Check Assumption 2.3 of RNRF and α ≫ ε > β in all of the given runs.

    If one of these hypotheses is violated, the claim is not judged.
    """

    def least(rows: Evidence) -> np.ndarray:
        selected = [run for selection in runs for run in rows.where(selection)]
        factor = min((min(factors(run.run).values()) for run in selected), default=math.inf)
        return np.full(len(rows.seeds), factor)

    needs = (Need(selection, NO_ROWS) for selection in runs)
    return InRegime(quantity("least factor of α ≫ β, density, α ≫ ε > β", least, *needs), 1.0)


def long_enough(runs: Where) -> Check:
    """Check that the runs have d² steps, which a statement about all polynomial times requires."""

    def least(rows: Evidence) -> np.ndarray:
        share = min(run.run.steps / run.run.data.d**2 for run in rows.where(runs))
        return np.full(len(rows.seeds), share)

    return InRegime(quantity(f"least T/d² ({runs.description})", least, Need(runs, NO_ROWS)), 1.0)


def gates(run: Task) -> tuple[Gate, ...]:
    """Return the inequalities of Assumptions 2.3 and B.3 of RNRF and those that the proofs need.

    The result is empty for a run with other data or another network.
    """
    if not isinstance(run, Run):
        return ()
    data, network, attack = run.data, run.network, run.attack
    if not isinstance(data, TwoFeaturePatches) or not isinstance(network, SmoothedCNN):
        return ()
    return two_feature_assumptions(
        k=data.k,
        d=data.d,
        P=data.P,
        n_robust=data.n_robust,
        alpha=data.alpha,
        beta=data.beta,
        sigma_n=data.sigma_n,
        n=run.n,
        eta=run.eta,
        m=network.m,
        q=network.q,
        rho=network.rho,
        sigma0=network.sigma0,
        # a user-defined attack may have neither field
        eps=getattr(attack, "radius", None),
        step=getattr(attack, "step_size", None),
    )


PRINTED = {"mnist": resnet18, "cifar10": wide_resnet}  # the networks of App. A.1


def image_gates(run: Task) -> Sequence[Gate]:
    """Return how a run on images compares with App. A.1 of RNRF."""
    return size_gates(run, PRINTED, "App. A.1")
