"""Figure 1 of BOAT: clean and robust test accuracy over ‖μ‖ and d.

Paper: n = 100, width 1000, β = 0.1, α/‖μ‖ = 0.1, 1,000 steps; the accuracy changes phase near
d ~ ‖μ‖⁴ (clean) and d ~ ‖μ‖² (robust).
Reading: PyTorch's default initialisation, all layers and biases trained, radius α = 0.1‖μ‖; the
slope of log d in log ‖μ‖ along each level of the mean accuracy (jackknife over seeds). Outside the
theorem's regime. What moves the slopes: boat.design. Quick: a smaller map.
Cost: quick 13 s (2 cores); paper 2 min on a GPU.
"""

import itertools

from adversarium.papers.boat.fig1_checks import CLAIMED, checks, predicted
from adversarium.papers.boat.figure_runs import MAP, MUS, PLACES, SIZES, on_clusters
from adversarium.papers.boat.regime import gates
from adversarium.plans import Phase, Switch, where

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(
    seeds=5, mus=(1.0, 2.0, 4.0, 8.0), sizes=(250, 500, 1000, 2000), m=64, steps=60,
    points=200,
)  # fmt: skip
paper = dict(seeds=10, m=1000, steps=1000, points=1000)


def plan(m, steps, points, mus=MUS, sizes=SIZES, ratio=0.1):
    for d, mu in itertools.product(sizes, mus):
        yield on_clusters(MAP, PLACES, d, mu, ratio, m, steps, points)


def _beyond(probe, level):
    """By how much the predicted error of a run exceeds a level."""

    def excess(run):
        clean, robust = predicted(run)
        beta = run.data.beta
        error = (1 - beta - clean) / (1 - 2 * beta) if probe == "clean_error_c" else 1 - robust
        return error - level

    return excess


figures = tuple(
    Phase(
        name=f"{name}-{share}",
        title=f"Figure 1: {told} and its level {level:g}",
        run=where(MAP),
        x="‖μ‖",
        y_along="d",
        switch=Switch(
            probe=probe,
            above=level,
            name=told,
            predicted=_beyond(probe, level),
            printed=CLAIMED[name],
        ),
        x_label="‖μ‖",
        y_label="d",
        caption="Mean over seeds. Solid: fitted level set with its power and 99 % band; dashed: "
        "the linearised network's prediction, without a fit (ours); dotted: the printed power.",
    )
    for name, probe, told in (
        ("clean", "clean_error_c", "clean error against the true label"),
        ("robust", "robust_error", "robust test error"),
    )
    for share, level in (("02", 0.2), ("03", 0.3))
)
