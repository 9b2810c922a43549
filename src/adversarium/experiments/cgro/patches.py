"""CGRO's run at the paper's exponents: what its experiments on training have in common."""

import math

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.experiments.spec import Run
from adversarium.networks import CubicCNN
from adversarium.training import Risk

NOT_GIVEN = object()


def patches(
    label, *, d=200, P=3, N=10, m=8, eta=0.05, steps=20_000, lam=0.5, alpha=None, sigma=None,
    sigma0=None, gap=None, attack=NOT_GIVEN, network=None, **more,
):  # fmt: skip
    """A run with α = d^0.249, σ = d^−0.509, σ0 = d^−1/2 and 1 − γ = 1/(√d ln d), §3 of CGRO (all
    other polylogs are 1), with any of them, or a part, set instead. Set E by default."""
    default = lambda value, else_: else_ if value is None else value
    gta = GTA(gamma=1 - default(gap, 1 / (math.sqrt(d) * math.log(d))))
    return Run(
        label=label,
        data=PatchData(d=d, P=P, alpha=default(alpha, d**0.249), sigma=default(sigma, d**-0.509)),
        network=default(network, CubicCNN(m=m, sigma0=default(sigma0, d**-0.5))),
        attack=gta if attack is NOT_GIVEN else attack,
        risk=Risk(lam=lam),
        n=N,
        steps=steps,
        eta=eta,
        **more,
    )
