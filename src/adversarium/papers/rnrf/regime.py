"""RNRF's hypotheses for a run: its own data, network, attack and training rule; and two places
where those about the data and the radius hold together."""

import numpy as np

from adversarium.bounds import Gate, two_feature_assumptions
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.plans import Check, Evidence, Need, Run, Where, in_regime, quantity
from adversarium.plans.evidence import NO_ROWS
from adversarium.plans.run import Task

MUCH = 2.0  # how ≫ is read: a factor
EPS = 1.2  # of Figure 3, and with `consistent`
SMALL_EPS = 1.04  # with `small`


def consistent(**fields) -> TwoFeaturePatches:
    """α/β = 3, Σ_NR β³/Σ_R α³ = 63/27, α/ε = 2.5 at ε = 1.2: Assumptions 2.3 and B.3 of RNRF with
    room for a robust classifier (α > 2ε); classes in turn."""
    return TwoFeaturePatches(P=64, alpha=3.0, balanced=True, **fields)


def small(**fields) -> TwoFeaturePatches:
    """The same with fewer patches, at ε = 1.04: α/β = 2.1, Σ_NR β³/Σ_R α³ = 19/9.26, α/ε = 2.02."""
    return TwoFeaturePatches(P=20, alpha=2.1, balanced=True, **fields)


def factors(run: Run) -> dict[str, float]:
    """By what factor a run has more than α ≫ β and Σ_R α³ ≪ Σ_NR β³ of Assumption 2.3 of RNRF ask
    for and, with an attack, α ≫ ε > β of Assumption B.3; ≫ is a factor of 2."""
    data, attack = run.data, run.attack
    dense = (data.P - data.n_robust) * data.beta**3 / (data.n_robust * data.alpha**3)
    told = {"α/β": data.alpha / data.beta / MUCH, "density": dense / MUCH}
    if attack is not None:
        told |= {"α/ε": data.alpha / attack.radius / MUCH, "ε/β": attack.radius / data.beta}
    return told


def hypotheses(*runs: Where) -> Check:
    """Assumption 2.3 of RNRF and α ≫ ε > β in all of these runs: outside nothing is judged."""

    def least(rows: Evidence) -> np.ndarray:
        meant = [run for place in runs for run in rows.where(place)]
        factor = min(min(factors(run.run).values()) for run in meant)
        return np.full(len(rows.seeds), factor)

    needs = (Need(place, NO_ROWS) for place in runs)
    return in_regime(quantity("least factor of α ≫ β, density, α ≫ ε > β", least, *needs), 1.0)


def long_enough(meant: Where) -> Check:
    """A statement about all polynomial times is judged where the runs have d² steps."""

    def least(rows: Evidence) -> np.ndarray:
        share = min(run.run.steps / run.run.data.d**2 for run in rows.where(meant))
        return np.full(len(rows.seeds), share)

    return in_regime(quantity(f"least T/d² ({meant.told})", least, Need(meant, NO_ROWS)), 1.0)


def gates(run: Task) -> tuple[Gate, ...]:
    """The inequalities of Assumptions 2.3 and B.3 of RNRF, and what the proofs need; none for a run
    of other parts."""
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
        # an attack that somebody else chose may have neither
        eps=getattr(attack, "radius", None),
        step=getattr(attack, "step_size", None),
    )
