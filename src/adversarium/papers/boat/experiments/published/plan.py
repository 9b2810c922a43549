"""BOAT's lemmas at the sizes of its experiments, which are outside its assumptions.

Paper: 100 % robust training accuracy at n = 100, d = 1000, ‖μ‖ = 5, α/‖μ‖ = 0.1 (§5); in the
theorem's regime, no robust training error for t ≥ 1, active pairs that stay active, margins that
never fall, and a bounded loss ratio.
Reading: at these sizes the assumptions hold only with C = 0.014, so no result contradicts a lemma.
Small symmetric initialisation, η = n/d, m = 64. Where the width matters (training errors over 60
steps, active pairs after one step), m = 1000 as in the paper; for lemmas about smooth activations,
the smoothed leaky ReLU. The quick preset has only m = 64.
Cost: quick 12 s (2 cores).
"""

import math

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.measure.bracket import CertifiedError
from adversarium.measure.errors import Error, risk, robust_train_error
from adversarium.measure.folds import Worst
from adversarium.networks import TwoLayer
from adversarium.plans import Curves, Read, Run

from ...theory.cluster_constants import ClusterConstants, loss_ratio
from ...theory.families import ACTIVATIONS, SHARP, SMOOTH
from ...theory.regime import gates as gates

WIDE, FIRST, SMOOTHED = "wide", "wide, one step", "smoothed leaky ReLU"


# (n, d, ‖μ‖, α/‖μ‖)
PUBLISHED = ((100, 1_000, 5.0, 0.1),)
quick = dict(sizes=PUBLISHED, steps=40, seeds=5)
paper = dict(sizes=PUBLISHED, steps=2000, seeds=20, wide=(1000,), smooth=60)

PLACE = {
    "n": Read("n"),
    "d": Read("data.d"),
    "‖μ‖": Read("data.mu"),
    "α": Read("attack.radius"),
}


def plan(sizes, steps, m=64, beta=0.1, wide=(), smooth=0):
    for n, d, mu, ratio in sizes:
        size = (n, d, mu, ratio, beta)
        proof = CertifiedError()
        curves = (risk, robust_train_error, proof)
        worst = (Worst(robust_train_error, after=1), Worst(proof, after=1))
        yield _run(
            "", size, m, steps, probes=(*curves, loss_ratio),
            final=(Error(n=1000, name="test_error"),), folds=(ClusterConstants(), *worst),
        )  # fmt: skip
        for width in wide:
            yield _run(
                WIDE, size, width, 60, probes=(risk, robust_train_error), final=(proof,),
                folds=worst[:1],
            )  # fmt: skip
            yield _run(FIRST, size, width, 1, folds=(ClusterConstants(),))
        if smooth:
            yield _run(SMOOTHED, size, m, smooth, SMOOTH, folds=(ClusterConstants(),))


def _run(family, size, m, steps, phi=SHARP, **recorded):
    n, d, mu, ratio, beta = size
    radius, eta = ratio * mu, n / d
    return Run(
        family=family,
        at=PLACE,
        data=Clusters(d=d, mu=mu, beta=beta),
        network=TwoLayer(m=m, omega=eta / math.sqrt(m * d), activation=ACTIVATIONS[phi]),
        # no perturbation at t = 0, where f = 0 and all perturbations are equally good
        attack=PGD(p=2, radius=radius, steps=20, step=radius / 5, after=1),
        n=n,
        steps=steps,
        eta=eta,
        **recorded,
    )


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
        caption="Mean and range (band) over seeds. The first step learns the mean "
        "direction and misfits the flipped points; later steps fit them.",
    ),
)
