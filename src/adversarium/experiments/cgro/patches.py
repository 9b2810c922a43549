"""CGRO's run at the paper's exponents: what its experiments on training have in common."""

import math

import numpy as np

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.experiments.checks import given
from adversarium.experiments.evidence import Quantity
from adversarium.experiments.spec import Run
from adversarium.networks import CubicCNN
from adversarium.training import Risk

NOT_GIVEN = object()


def given_a_start(runs, check):
    """The check on the seeds in which every one of the runs (by the beginning of their labels)
    starts with some u_r > 0: without one, an event of probability 2^−m, no unit ever learns the
    signal."""

    def event(rows):
        happened = np.ones(len(next(iter(rows.values())).seeds))
        for label in rows:
            if label.startswith(runs):
                happened *= largest_start(rows[label]) > 0
        return happened

    return given(Quantity("some u_r(0) > 0", event, points=1), check)


def largest_start(rows):
    """α max_r u_r(0), one a seed, of a run that recorded `largest_signal` or `signals`."""
    names = [n for n in rows.values if n == "largest_signal" or n.startswith("signals[")]
    return np.max([rows.curve(name)[1][:, 0] for name in names], axis=0)


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
