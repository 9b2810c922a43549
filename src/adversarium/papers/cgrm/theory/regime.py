"""Evaluate CGRM's hypotheses for a run from its data, attack, threshold b and number of points."""

import math
from collections.abc import Sequence

from adversarium.attacks import FGSM
from adversarium.data import MarginMixture
from adversarium.networks import MixedLearner, wide_resnet
from adversarium.plans import Run
from adversarium.plans.gates import Gate
from adversarium.plans.image_runs import size_gates
from adversarium.plans.run import Task

from .bounds import threshold_window


def gates(run: Task) -> Sequence[Gate]:
    """Return β ≪ α, §4 of CGRM, read as α/β ≥ 2 (our choice), and the conditions that Theorems 4.1
    and 4.2 of CGRM need but do not state.

    They are δ below the margin, N' ≫ d/α² large-margin points, and b in its window. Only runs of
    the mixed network on the margin mixture have hypotheses.
    """
    if not isinstance(run, Run):
        return ()
    data, network, attack = run.data, run.network, run.attack
    if not isinstance(data, MarginMixture) or not isinstance(network, MixedLearner):
        return ()
    large = (1 - data.mu) * run.n  # N', the expected number of large-margin points
    found = [
        Gate("α/β", data.alpha / data.beta, low=2.0),
        Gate("N'α²/d", large * data.alpha**2 / data.d, low=1.0, printed=False),
    ]
    delta = attack.radius if isinstance(attack, FGSM) else 0.0
    if delta:
        found.append(Gate("α/δ", data.alpha / delta, low=1.0, printed=False))
    if network.m:
        low, high = threshold_window(data.d, run.n, data.mu, delta)
        upper_factor = high / network.b if network.b > 0 else math.inf
        found += [
            Gate("b over the lower end of its window", network.b / low, low=1.0, printed=False),
            Gate("the upper end of b's window over b", upper_factor, low=1.0, printed=False),
        ]
    return tuple(found)


def image_gates(run: Task) -> Sequence[Gate]:
    """Return how a run on images compares with Table 1, whose numbers belong to a wide residual
    network."""
    return size_gates(run, {"cifar10": wide_resnet}, "Table 1")
