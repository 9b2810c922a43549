"""Figure 1 of BOAT: clean and robust test accuracy over ‖μ‖ and d.

Paper: n = 100, width 1000, β = 0.1, α/‖μ‖ = 0.1, 1,000 steps; the accuracy changes phase near
d ~ ‖μ‖⁴ (clean) and d ~ ‖μ‖² (robust).
Reading: PyTorch's default initialisation, all layers and biases trained, radius α = 0.1‖μ‖; the
slope of log d in log ‖μ‖ along each level of the mean accuracy (jackknife over seeds). Outside the
theorem's regime. What moves the slopes: boat.design. Quick: a smaller map.
Cost: quick 9 s (2 cores); paper, 1,800 trainings (ten of the twenty seeds), 75 s on one H200.
"""

import itertools
import math

from adversarium.papers.boat.fig1_checks import CLAIMED, checks, is_predicted, predicted
from adversarium.papers.boat.figure_runs import (
    LEVELS,
    MAP,
    MUS,
    PLACES,
    SIZES,
    Radius,
    accuracy,
    clean_ceiling,
    on_clusters,
    robust_ceiling,
)
from adversarium.papers.boat.regime import gates
from adversarium.plans import Contours, where

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(
    seeds=5, mus=(1.0, 2.0, 4.0, 8.0), sizes=(250, 500, 1000, 2000), m=32, steps=40,
    points=200,
)  # fmt: skip
paper = dict(seeds=20, m=1000, steps=1000, points=1000)


def plan(m, steps, points, mus=MUS, sizes=SIZES, ratio=0.1, reading: Radius = "R1"):
    for d, mu in itertools.product(sizes, mus):
        yield on_clusters(MAP, PLACES, d, mu, ratio, m, steps, points, reading=reading)


def _predicted(i: int):
    """The clean (0) or robust (1) accuracy of the linearised network, where it is one of these."""
    return lambda run: predicted(run)[i] if is_predicted(run) else math.nan


figures = tuple(
    Contours(
        name=name,
        title=f"Figure 1: {name} test accuracy and its level sets",
        run=where(MAP),
        x="‖μ‖",
        y_along="d",
        number=accuracy(name),
        levels=LEVELS[name],
        predicted=_predicted(i),
        bound=bound,
        printed=CLAIMED[name],
        x_label="‖μ‖",
        y_label="d",
        caption="Mean over seeds. Solid: level sets with the power of ‖μ‖ in d and its 99 % "
        "interval (jackknife over seeds); dashed: the linearised network's prediction, without a "
        "fit (ours); dotted: no classifier has this accuracy to the left; dash-dotted: the printed "
        "power, which has no constant.",
    )
    for i, (name, bound) in enumerate((("clean", clean_ceiling), ("robust", robust_ceiling)))
)
