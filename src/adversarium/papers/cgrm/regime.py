"""CGRM's hypotheses for a run: its own data, attack, threshold and number of points."""

import math
from collections.abc import Sequence

from adversarium.attacks import FGSM
from adversarium.bounds import Gate, threshold_window
from adversarium.data import MarginMixture
from adversarium.networks import MixedLearner
from adversarium.plans import Run
from adversarium.plans.run import Task


def gates(run: Task) -> Sequence[Gate]:
    """β ≪ α, §4 of CGRM, read as a factor of at least 2 (ours); and what Theorems 4.1 and 4.2 of
    CGRM need and do not print: δ below the margin, N' ≫ d/α² large-margin points, b in its window.
    The linear toy alone has hypotheses: none for runs of other parts."""
    if not isinstance(run, Run):
        return ()
    data, network, attack = run.data, run.network, run.attack
    if not isinstance(data, MarginMixture) or not isinstance(network, MixedLearner):
        return ()
    large = (1 - data.mu) * run.n  # N'
    asked = [
        Gate("α/β", data.alpha / data.beta, low=2.0),
        Gate("N'α²/d", large * data.alpha**2 / data.d, low=1.0, printed=False),
    ]
    delta = attack.radius if isinstance(attack, FGSM) else 0.0
    if delta:
        asked.append(Gate("α/δ", data.alpha / delta, low=1.0, printed=False))
    if network.m:
        low, high = threshold_window(data.d, run.n, data.mu, delta)
        room = high / network.b if network.b > 0 else math.inf
        asked += [
            Gate("b over the lower end of its window", network.b / low, low=1.0, printed=False),
            Gate("the upper end of b's window over b", room, low=1.0, printed=False),
        ]
    return tuple(asked)
