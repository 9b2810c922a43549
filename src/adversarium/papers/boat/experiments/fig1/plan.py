"""Figure 1 of BOAT: clean and robust test accuracy over ‖μ‖ and d.

Paper: n = 100, width 1000, β = 0.1, α/‖μ‖ = 0.1, 1,000 steps; the accuracy has a phase transition
near d ~ ‖μ‖⁴ (clean) and d ~ ‖μ‖² (robust).
Reading: PyTorch's default initialisation; all layers and biases are trained; the radius is
α = 0.1‖μ‖. The power is the slope of log d against log ‖μ‖ along each level set of the mean
accuracy (jackknife over seeds), read off a second map: 37 values of ‖μ‖ in place of ten, six d. On
the first map the same estimator is off by up to 0.3, because it interpolates between integer ‖μ‖.
The sizes are outside the theorem's regime. boat.design studies what changes the slopes. The quick
preset has smaller maps.
Cost: quick 11 s (2 cores); paper 75 s on one H200 for 1,800 training runs (ten of the twenty seeds)
and 110 s for the second (4,440 runs).
"""

import itertools

from ...theory.figure_runs import (
    FINE,
    FINE_MUS,
    FINE_SIZES,
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
    points=200, fine_mus=(1.0, 2.0, 3.0, 4.0, 6.0, 8.0), fine_sizes=(250, 500, 1000),
)  # fmt: skip
paper = dict(seeds=20, m=1000, steps=1000, points=1000)


def plan(
    m, steps, points, mus=MUS, sizes=SIZES, fine_mus=FINE_MUS, fine_sizes=FINE_SIZES, ratio=0.1,
    reading: Radius = "R1",
):  # fmt: skip
    for family, ds, lengths in ((MAP, sizes, mus), (FINE, fine_sizes, fine_mus)):
        for d, mu in itertools.product(ds, lengths):
            yield on_clusters(family, PLACES, d, mu, ratio, m, steps, points, reading=reading)
