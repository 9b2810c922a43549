"""CGRO's time T₁ at which noise is memorised, and what λ and 1 − γ decide (Lemmas C.7, C.10).

Paper: noise is memorised by T₁ = Θ(N/(ησ0σ³d^{3/2})).
Reading: d = 200, N = 10 unless swept; "many points" has N = d and 1 − γ = 1/√d, beyond N_c; sweeps
change one thing at a time, seeds fixed; robust errors under the transfer attack. All is judged on
the seeds with some u_r(0) > 0: without one, an event of probability 2^−m, no unit ever learns the
signal. σ is swept up to 0.16, where v*(0) = 0.38: noise that starts near 1 is half memorised before
the first step.
Cost: quick 15 s (2 cores).
"""

from adversarium.papers.cgro import dynamics_readings as read
from adversarium.papers.cgro.dynamics_checks import (
    memorised_beyond,
    power_of_N,
    switch_in_gap,
    unlearnt_noise,
)
from adversarium.papers.cgro.dynamics_figures import figures
from adversarium.papers.cgro.patches import many_points, many_steps, patches
from adversarium.papers.cgro.regime import gates
from adversarium.papers.cgro.sweeps import LATE, at_most_powers, late_runs
from adversarium.plans import Read, parts
from adversarium.probes import (
    Error,
    largest_signal,
    least_memorised,
    median_memorised,
    most_memorised,
    robust_train_error,
    true_feature,
)

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

MANY = (25, 50, 100)  # d
GAPS = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0134)

quick = dict(
    seeds=5, steps=10_000, swept=("N", "λ"), most=3, gaps=(0.5, 0.3, 0.1, 0.0134), many=(25, 50)
)
paper = dict(seeds=40)

_START: dict = dict(probes=(largest_signal,), record=(0,))


def plan(steps=20_000, swept=tuple(LATE), most=5, gaps=GAPS, many=MANY):
    if unknown := [name for name in swept if name not in LATE]:
        raise ValueError(f"swept are some of {', '.join(LATE)}, got {', '.join(unknown)}.")
    robust = Error(n=2000, attacks="training", name="robust_test_error")
    memorised = (true_feature, least_memorised, median_memorised, most_memorised)
    final = (*memorised, robust_train_error, robust, Error(n=2000, name="clean_test_error"))
    without = {"λ": Read("risk.lam")}
    yield patches("control", without, steps=steps // 2, lam=0.0, final=final, **_START)
    for gap in gaps:
        place = {"1 − γ": Read("attack.gap")}
        yield patches("gap", place, steps=steps, gap=gap, final=final, **_START)
    for d in many:
        yield many_points(
            "many points", "d", d, d, many_steps(d), final=(least_memorised,), **_START
        )
    yield from late_runs(swept, most, **_START)


checks = {
    "cgro.thm4.1.control-lam0": unlearnt_noise(),
    "cgro.thm4.1.phase-gamma": switch_in_gap(),
    "cgro.lemC.7": parts(
        {
            "every point is memorised by O(T₁), N < N_c": at_most_powers("T₁", read.T1_ALL, LATE),
            "every point is memorised, N = d": memorised_beyond(),
        }
    ),
    "cgro.lemC.10": power_of_N(),
    "cgro.lemC.10.corrected": power_of_N(allowed=1.0),
}
