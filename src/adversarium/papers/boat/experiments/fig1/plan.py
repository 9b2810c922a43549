"""Figure 1 of BOAT: clean and robust test accuracy over ‖μ‖ and d.

Paper: n = 100, width 1000, β = 0.1, α/‖μ‖ = 0.1, 1,000 steps; the accuracy has a phase transition
near d ~ ‖μ‖⁴ (clean) and d ~ ‖μ‖² (robust).
Reading: PyTorch's default initialisation; all layers and biases are trained; the radius is
α = 0.1‖μ‖. The power is the slope of log d against log ‖μ‖ along each level set of the mean
accuracy (jackknife over seeds). The sizes are outside the theorem's regime. boat.design studies
what changes the slopes. The quick preset has a smaller map.
Cost: quick 9 s (2 cores); paper 75 s on one H200 for 1,800 training runs (ten of the twenty seeds).
"""

import itertools

from ...theory.figure_runs import (
    MAP,
    MUS,
    PLACES,
    SIZES,
    Radius,
    on_clusters,
)
from ...theory.regime import gates as gates

CLAIMED = {"clean": 4.0, "robust": 2.0}  # the powers of ‖μ‖ that the paper states

quick = dict(
    seeds=5, mus=(1.0, 2.0, 4.0, 8.0), sizes=(250, 500, 1000, 2000), m=32, steps=40,
    points=200,
)  # fmt: skip
paper = dict(seeds=20, m=1000, steps=1000, points=1000)


def plan(m, steps, points, mus=MUS, sizes=SIZES, ratio=0.1, reading: Radius = "R1"):
    for d, mu in itertools.product(sizes, mus):
        yield on_clusters(MAP, PLACES, d, mu, ratio, m, steps, points, reading=reading)
