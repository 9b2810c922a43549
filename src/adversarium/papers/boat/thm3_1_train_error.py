"""Theorem 3.1 of BOAT: no robust training error, from the first step of gradient descent on.

Paper: in the theorem's regime the robust training error is 0 at t = 1 and stays 0. In units of
N(0, I) noise the regime is C_eff ≥ 2, e.g. (n, d, ‖μ‖, α/‖μ‖) = (20, 8000, 13, .13).
Cost: quick 5 s (2 cores).
"""

import math

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import TwoLayer
from adversarium.papers.boat.regime import C_eff, gates
from adversarium.plans import Curves, Read, Run, at_most, each, every, gated, last
from adversarium.probes import CertifiedError, Error, Worst, risk, robust_train_error

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

#  n, d, ‖μ‖, α/‖μ‖
quick = dict(sizes=((20, 8_000, 13.0, 0.13),), steps=100, seeds=10)
paper = dict(sizes=((20, 8_000, 13.0, 0.13), (20, 32_000, 18.4, 0.13)), steps=1000, seeds=20)

PLACE = {
    "n": Read("n"),
    "d": Read("data.d"),
    "‖μ‖": Read("data.mu"),
    "α": Read("attack.radius"),
}


def plan(sizes, steps, m=64, beta=0.1):
    for n, d, mu, ratio in sizes:
        radius, eta = ratio * mu, n / d
        proof = CertifiedError()
        yield Run(
            at=PLACE,
            data=Clusters(d=d, mu=mu, beta=beta),
            network=TwoLayer(m=m, omega=eta / math.sqrt(m * d)),
            # no perturbation at t = 0, where f = 0 and all are equally good
            attack=PGD(p=2, radius=radius, steps=20, step=radius / 5, after=1),
            n=n,
            steps=steps,
            eta=eta,
            probes=(risk, robust_train_error, proof),
            final=(Error(n=1000, name="test_error"),),
            folds=(Worst(robust_train_error, after=1), Worst(proof, after=1)),
        )


def _always_robust(size):
    """No robust training error at any step, by attack and by proof, inside the regime."""
    attacked, proven = (
        last(f"worst({e})", size) for e in ("robust_train_error", "certified_error")
    )
    return every(at_most(attacked, 0.0, proof=proven), gated("C_eff", C_eff, 2.0, size))


checks = {"boat.thm3.1.train_error": each("", _always_robust)}

figures = (
    Curves(
        name="training",
        title="Robust training error and loss",
        y=("robust_train_error", "certified_error", "risk"),
        names={
            "robust_train_error": "robust training error (PGD-20)",
            "certified_error": "not proven robust (intervals)",
            "risk": "robust training loss",
        },
        log_x=True,
        x_label="step t",
        y_label="error, loss",
        caption="Mean over seeds, band: smallest to largest seed. The bracket (attack below, proof "
        "above) closes at 0 from t = 1 on.",
    ),
)
