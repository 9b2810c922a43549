"""Theorem 3.1 of BOAT: no robust training error, from the first step of gradient descent on.

Paper: in the theorem's regime the robust training error is 0 at t = 1 and stays 0. In units of
N(0, I) noise the regime is C_eff ≥ 2, e.g. (n, d, ‖μ‖, α/‖μ‖) = (20, 8000, 13, .13).
Cost: quick 5 s (2 cores).
"""

import math

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.experiments.checks import at_most, each, every, in_regime, last
from adversarium.experiments.spec import Curves, Run
from adversarium.networks import TwoLayer
from adversarium.probes import C_eff, CertifiedError, Error, Worst, risk, robust_train_error

#  n, d, ‖μ‖, α/‖μ‖
quick = dict(sizes=((20, 8_000, 13.0, 0.13),), steps=100, seeds=10)
paper = dict(sizes=((20, 8_000, 13.0, 0.13), (20, 32_000, 18.4, 0.13)), steps=1000, seeds=20)


def plan(sizes, steps, m=64, beta=0.1):
    for n, d, mu, ratio in sizes:
        radius, eta = ratio * mu, n / d
        proof = CertifiedError()
        yield Run(
            label=f"n={n}, d={d}, ‖μ‖={mu:g}, α={radius:.3g}",
            data=Clusters(d=d, mu=mu, beta=beta),
            network=TwoLayer(m=m, omega=eta / math.sqrt(m * d)),
            # no perturbation at t = 0, where f = 0 and all are equally good
            attack=PGD(p=2, radius=radius, steps=20, step=radius / 5, after=1),
            n=n,
            steps=steps,
            eta=eta,
            probes=(risk, robust_train_error, proof),
            final=(Error(n=1000, name="test_error"), C_eff),
            folds=(Worst(robust_train_error, after=1), Worst(proof, after=1)),
        )


checks = {
    "boat.thm3.1.train_error": each(
        lambda size: every(
            at_most(
                last("worst(robust_train_error)", size),
                0.0,
                proof=last("worst(certified_error)", size),
            ),
            in_regime(last("C_eff", size), 2.0),
        )
    ),
}

_names = {
    "robust_train_error": "robust training error (PGD-20)",
    "certified_error": "not proven robust (intervals)",
    "risk": "robust training loss",
}

figures = (
    Curves(
        name="training",
        title="Robust training error and loss",
        y=tuple(_names),
        names=_names,
        log_x=True,
        x_label="step t",
        y_label="error, loss",
        caption="Mean over seeds, band: smallest to largest seed. The bracket (attack below, proof "
        "above) closes at 0 from t = 1 on.",
    ),
)
