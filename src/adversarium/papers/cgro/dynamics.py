"""The three stages of CGRO's training, lemma by lemma (4.2 to 4.4, C.3 to C.12).

Paper: the signal is learnt until α³U = O(log) at T₀ = Θ̃(1/(ηα³σ0)); then noise is memorised at
T₁ = Θ̃(N/(ησ0σ³d^{3/2})); then the loss falls like 1/t.
Reading: set E of thm4.1 (d = 200, N = 10) unless said otherwise; sweeps change one thing at a time,
seeds fixed; robust errors under the transfer attack. All is judged on the seeds with some
u_r(0) > 0: without one, an event of probability 2^−m, no unit ever learns the signal. σ is swept up
to 0.16, where v*(0) = 0.38: noise that starts near 1 is half memorised before the first step.
Cost: quick 110 s (2 cores); paper 4 minutes on 16 cores.
"""

import math

from adversarium.papers.cgro import dynamics_readings as read
from adversarium.papers.cgro.dynamics_checks import (
    RESIDUAL,
    E,
    bounded_residual,
    first_time,
    no_growth_in_d,
    power_of_N,
    switch_in_gap,
    unlearnt_noise,
)
from adversarium.papers.cgro.dynamics_figures import figures
from adversarium.papers.cgro.patches import given_a_start, patches
from adversarium.papers.cgro.regime import gates
from adversarium.papers.cgro.sweeps import EARLY, LATE, early_runs, late_runs, powers
from adversarium.plans import Read, at_most, every, last, level, ordering, unless_refuted
from adversarium.probes import (
    Decay,
    Error,
    FirstTime,
    NoiseResidual,
    SignalGrowth,
    Worst,
    fresh_noise,
    gradient_over_risk,
    largest_correlation,
    largest_signal,
    least_memorised,
    median_memorised,
    most_memorised,
    risk,
    robust_train_error,
    true_feature,
)

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(seeds=10)
paper = dict(patience=3, seeds=100)  # a seed whose largest u_r(0) is small is slow

GAPS = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0134)
_START: dict = dict(probes=(largest_signal,), record=(0,))


def plan(steps=20_000, sweeps=True, gaps=GAPS, patience=1):
    robust = Error(n=2000, attacks="training", name="robust_test_error")
    memorised = (true_feature, least_memorised, median_memorised, most_memorised)
    yield patches(
        "set E",
        steps=steps,
        probes=(largest_signal, *memorised, risk, gradient_over_risk),
        final=(Error(n=10_000, name="clean_test_error"), robust, fresh_noise),
        folds=(
            FirstTime(largest_signal, 1.0),
            FirstTime(true_feature, 1.0),
            FirstTime(most_memorised, 0.1),
            FirstTime(most_memorised, 0.9),
            FirstTime(median_memorised, 1.0),
            FirstTime(least_memorised, 1.0),
            SignalGrowth(),
            NoiseResidual(),
            Decay(),
            Worst(largest_correlation, after=3),
        ),
    )
    final = (*memorised, robust_train_error, robust, Error(n=2000, name="clean_test_error"))
    without = {"λ": Read("risk.lam")}
    yield patches("control", without, steps=steps // 2, lam=0.0, final=final, **_START)
    for gap in gaps:
        place = {"1 − γ": Read("attack.gap")}
        yield patches("gap", place, steps=steps, gap=gap, final=final, **_START)
    if sweeps:
        yield from early_runs(patience, **_START)
        yield from late_runs(**_START)
        yield from _residual_runs()


def _residual_runs():
    place = {"d": Read("data.d")}
    for d in (100, 300, 900, 1800):
        shape = dict(d=d, P=4, N=8, m=6, eta=0.1, steps=math.ceil(6_000 * (d / 200) ** 0.53))
        yield patches("residual", place, folds=(NoiseResidual(),), **shape, **_START)


_on_E = {
    "cgro.lem4.2": at_most(last("growth_violation", E), 1e-9),
    "cgro.lem4.3": every(
        at_most(last("attack_violation", E), 1e-9), at_most(last("level", E), 1.0)
    ),
    "cgro.lemC.8": at_most(read.steepness_lacking.on(E), 0.0),
    "cgro.lemC.9": every(
        at_most(last("decay_product", E), 1.0), level(read.decay_slope.on(E), high=-0.9)
    ),
    "cgro.lemC.11": at_most(last("worst(largest_correlation)", E), 1.0),
    "cgro.thmC.12.clean": level(last("clean_test_error", E), 0, 0),
    "cgro.thmC.12.robust": every(
        at_most(last("transfer_deficit", E), 0.0), at_most(last("noise_asymmetry", E), 3.0)
    ),
    "cgro.stages": every(
        ordering(first_time(most_memorised, 0.1), than=first_time(true_feature, 1.0)),
        ordering(first_time(most_memorised, 0.9), than=read.twenty_T0.on(E)),
        level(read.late_change.on(E), -0.05, 0.05),
    ),
}

checks = {
    **{claim: given_a_start(E, check) for claim, check in _on_E.items()},
    "cgro.thm4.1.control-lam0": unlearnt_noise(),
    "cgro.thm4.1.phase-gamma": switch_in_gap(),
    "cgro.lemC.3": powers("T₀", read.signal_time, EARLY),
    "cgro.lemC.7": powers("T₁", read.T1, LATE),
    "cgro.lemC.5": given_a_start(
        RESIDUAL,
        unless_refuted(
            no_growth_in_d(read.over_terms),
            "with unit constants the residual outgrows both terms at sizes that run",
        ),
    ),
    "cgro.lem4.4": given_a_start(RESIDUAL, no_growth_in_d(read.shortfall)),
    "cgro.lemC.5.corrected": bounded_residual("residual_share"),
    "cgro.lem4.4.corrected": bounded_residual("lower_share"),
    "cgro.lemC.10": power_of_N(0.0, (math.inf, 0.15)),
    "cgro.lemC.10.corrected": power_of_N(1.0, 0.15),
}
