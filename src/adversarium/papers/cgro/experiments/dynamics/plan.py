"""CGRO's time T₁ at which noise is memorised, and the effect of λ and 1 − γ (Lemmas C.7, C.10).

Paper: noise is memorised by T₁ = Θ(N/(ησ0σ³d^{3/2})).
Reading: d = 200, N = 10 unless varied; "many points" has N = d > N_c and 1 − γ = 1/√d. Sweeps vary
one quantity at a time with fixed seeds; robust errors are under the transfer attack. Only the seeds
with some u_r(0) > 0 are judged; otherwise, with probability 2^−m, no unit ever learns the signal. σ
goes up to 0.16, where v*(0) = 0.38; noise that starts near 1 would be half memorised before the
first step.
Cost: quick 15 s (2 cores).
"""

from adversarium.measure.errors import Error, robust_train_error
from adversarium.plans import Read

from ...theory.features import (
    largest_signal,
    least_memorised,
    median_memorised,
    most_memorised,
    true_feature,
)
from ...theory.patches import many_points, many_steps, patches
from ...theory.regime import gates as gates
from ...theory.sweeps import LATE, late_runs

MANY = (25, 50, 100)  # values of d
GAPS = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0134)

quick = dict(
    seeds=5, steps=10_000, swept=("N", "λ"), most=3, gaps=(0.5, 0.3, 0.1, 0.0134), many=(25, 50)
)
paper = dict(seeds=40)

_START: dict = dict(probes=(largest_signal,), record=(0,))


def plan(steps=20_000, swept=tuple(LATE), most=5, gaps=GAPS, many=MANY):
    if unknown := [name for name in swept if name not in LATE]:
        raise ValueError(f"swept needs some of {', '.join(LATE)}, got {', '.join(unknown)}.")
    robust = Error(n=2000, attacks="training", name="robust_test_error")
    memorised = (true_feature, least_memorised, median_memorised, most_memorised)
    final = (*memorised, robust_train_error, robust, Error(n=2000, name="clean_test_error"))
    lam_at = {"λ": Read("risk.lam")}
    yield patches("control", lam_at, steps=steps // 2, lam=0.0, final=final, **_START)
    for gap in gaps:
        coordinates = {"1 − γ": Read("attack.gap")}
        yield patches("gap", coordinates, steps=steps, gap=gap, final=final, **_START)
    for d in many:
        yield many_points(
            "many points", "d", d, d, many_steps(d), final=(least_memorised,), **_START
        )
    yield from late_runs(swept, most, **_START)
