"""Figure 3 of BOAT: robust test accuracy over d and α/‖μ‖, ‖μ‖ = 5.

Paper: the accuracy falls as α/‖μ‖ grows, and the α/‖μ‖ that still permits a given accuracy shrinks
as d grows.
Reading: one network is trained and attacked at every ratio. The ratios at which the accuracy
crosses 0.6, 0.7 and 0.8, by interpolation (jackknife over seeds), are compared between d and 2d. We
add a baseline: the same network after standard training, under the same attack. The sizes are
outside the theorem's regime. The quick preset has width 32, 40 steps and a smaller map.
Cost: quick 9 s (2 cores); paper 90 s on a GPU.
"""

import itertools
import math

from adversarium.plans import Contours, Read, where

from ..theory.figure_runs import (
    MAP,
    STANDARD,
    Radius,
    accuracy,
    on_clusters,
    robust_accuracy,
    robust_ceiling,
    standard,
)
from ..theory.regime import gates
from ..theory.tradeoffs import gained, tradeoff
from .fig1.checks import is_predicted, predicted

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

SIZES = tuple(range(500, 6001, 500))
RATIOS = tuple(round(0.05 * i, 2) for i in range(1, 10))
DOUBLED = {  # accuracy → the pairs d, 2d whose accuracies both fall below it within the map
    0.6: ((2000, 4000), (3000, 6000)),
    0.7: ((1000, 2000), (2000, 4000), (3000, 6000)),
    0.8: ((500, 1000), (1000, 2000), (2000, 4000), (3000, 6000)),
}

quick = dict(
    seeds=5, m=32, steps=40, points=200, sizes=(500, 1000, 2000),
    ratios=(0.05, 0.15, 0.25, 0.35, 0.45),
)  # fmt: skip
paper = dict(seeds=40, m=1000, steps=1000, points=1000)


def plan(m, steps, points, sizes=SIZES, ratios=RATIOS, mu=5.0, reading: Radius = "R1"):
    for d, ratio in itertools.product(sizes, ratios):
        at = {"d": Read("data.d"), "α/‖μ‖": ratio}
        run = on_clusters(MAP, at, d, mu, ratio, m, steps, points, reading=reading)
        yield run
        yield standard(run)


_BOTH_FAMILIES = where(MAP), where(STANDARD), robust_accuracy, "robust_error"
GAINS = {
    "the map's mean": slice(None),
    "at the least α/‖μ‖": slice(0, 1),
    "at the largest α/‖μ‖": slice(-1, None),
}
checks = {
    "boat.fig3.tradeoff": tradeoff(
        where(MAP),
        robust_accuracy,
        "robust_error",
        DOUBLED,
        {
            f"gained, {label} (ours)": gained(label, cell, *_BOTH_FAMILIES)
            for label, cell in GAINS.items()
        },
    )
}


def _map(name, title, family, prediction=None):
    return Contours(
        name=name,
        title=title,
        run=where(family),
        x="d",
        y_along="α/‖μ‖",
        number=accuracy("robust"),
        levels=(0.5, 0.6, 0.7, 0.8),
        predicted=prediction,
        bound=robust_ceiling,
        power=False,
        x_label="d",
        y_label="α/‖μ‖",
        caption="Mean over seeds. Solid: level sets; "
        + ("dashed: the linearised network's prediction, without a fit (ours); " * bool(prediction))
        + "dotted, if the bound is that low: above it no classifier has this accuracy.",
    )


figures = (
    _map(
        "map",
        "Figure 3: robust test accuracy and its level sets, ‖μ‖ = 5",
        MAP,
        lambda run: predicted(run)[1] if is_predicted(run) else math.nan,
    ),
    _map("standard", "The same network after standard training (ours)", STANDARD),
)
