"""The powers p of BOAT's Figure 1 (d ∝ ‖μ‖^p): what changes them, and a prediction without a fit.

Ours: the linearised network predicts every cell of the map without fitted constants. The powers of
its level sets rise with the level and differ from the paper's 4 and 2.
Reading: the map of boat.fig1; balanced labels; a quarter of the width at twice the radius (a blind
test); the other readings of the radius (R2 to R4) on half of the dimensions; and a design of five
changes (balanced labels, no biases, a fixed top layer, a quarter of the steps, half of n). The
design has the sixteen combinations with an even number of changes, so no change and no pair of
changes is confounded with another. An effect is the mean power with a change minus the mean power
without it.
Cost: quick 1 s in addition to boat.fig1 (2 cores); paper 4 min per ten seeds on a GPU.
"""

import itertools
from typing import Any

from adversarium.plans import Phase, Switch, where

from ...theory.figure_runs import MAP, MUS, PLACES, READINGS, SIZES, on_clusters
from ...theory.regime import gates as gates

BALANCED, NARROW = "balanced labels", "a quarter of the width, twice the radius"
DESIGN = "design"
OTHER_READINGS = READINGS[1:]  # readings of the attack's radius and step, one family each
CHANGES = (
    "balanced labels",
    "no biases",
    "a fixed top layer",
    "a quarter of the steps",
    "half of n",
)


def combinations() -> list[tuple[str, ...]]:
    """Return the combinations with an even number of changes: a half fraction of resolution V.

    >>> len(combinations()), combinations()[0]
    (16, ())
    """
    return [chosen for k in (0, 2, 4) for chosen in itertools.combinations(CHANGES, k)]


quick = dict(
    seeds=5, mus=(1.0, 2.0, 4.0, 8.0), sizes=(250, 500, 1000, 2000), m=64, steps=60,
    points=200, variant_dims=(), reading_dims=(), design=(),
)  # fmt: skip
paper = dict(seeds=20, m=1000, steps=1000, points=1000)


def plan(
    m, steps, points, mus=MUS, sizes=SIZES, ratio=0.1, variant_dims=(1000, 4000, 9000, 18000),
    reading_dims=SIZES[1::2], design=(1000, 3000, 8000, 18000),
):  # fmt: skip
    for d, mu in itertools.product(sizes, mus):
        yield on_clusters(MAP, PLACES, d, mu, ratio, m, steps, points)
    for d, mu in itertools.product(variant_dims, mus):
        yield on_clusters(BALANCED, PLACES, d, mu, ratio, m, steps, points, balanced=True)
        yield on_clusters(NARROW, PLACES, d, mu, 2 * ratio, m // 4, steps, points)
    for reading, d, mu in itertools.product(OTHER_READINGS, reading_dims, mus):
        yield on_clusters(reading, PLACES, d, mu, ratio, m, steps, points, reading=reading)
    for changed in combinations():
        parts: dict[str, Any] = {
            "balanced": "balanced labels" in changed,
            "biases": "no biases" not in changed,
            "top": "fixed" if "a fixed top layer" in changed else "trained",
            "n": 50 if "half of n" in changed else 100,
        }
        run_steps = max(1, steps // 4) if "a quarter of the steps" in changed else steps
        at = {**PLACES, "changed": ", ".join(changed) or "nothing"}
        for d, mu in itertools.product(design, mus):
            yield on_clusters(DESIGN, at, d, mu, ratio, m, run_steps, points, **parts)


figures = (
    Phase(
        name="balanced",
        title="Balanced labels: robust test error and its level 0.3",
        run=where(BALANCED),
        x="‖μ‖",
        y_along="d",
        switch=Switch(probe="robust_error", above=0.3, name="robust test error"),
        x_label="‖μ‖",
        y_label="d",
        caption="Both classes have equally many points and flips. Solid: fitted level set with its "
        "power and 99 % band.",
    ),
)
