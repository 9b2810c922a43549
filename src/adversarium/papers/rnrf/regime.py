"""RNRF's hypotheses for a run: its own data, network, attack and training rule."""

from adversarium.bounds import Gate, two_feature_assumptions
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.plans import Run


def gates(run: Run) -> tuple[Gate, ...]:
    """The inequalities of Assumptions 2.3 and B.3 of RNRF, and what the proofs need; none for a run
    of other parts."""
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
