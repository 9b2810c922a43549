"""Theorem 4.1 of CGRO: part of the signal is learnt, the noise is memorised.

Paper: U = Θ(α⁻³), V_i = Θ(1), clean test error o(1), robust train error o(1), robust test error
≥ 1/2 − o(1), robust errors under the geometry-based transfer attack.
Cost: quick 20 s (2 cores).
"""

import math

from adversarium.attacks import APGD
from adversarium.papers.cgro.patches import given_a_start, patches
from adversarium.papers.cgro.regime import gates
from adversarium.papers.cgro.thm4_1_figures import figures
from adversarium.plans import Read, each, every, exponent, last, level, where
from adversarium.probes import (
    Error,
    FirstTime,
    largest_signal,
    least_memorised,
    median_memorised,
    memorised,
    most_memorised,
    predicted_level,
    predicted_times,
    risk,
    robust_train_error,
    signals,
    true_feature,
)

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

POINTS = 2000

quick = dict(sets=("E",), scaling=(100, 200, 400, 800), seeds=10)
paper = dict(sets=("E", "C", "A", "D", "η = 1"), scaling=(100, 200, 400, 800), seeds=10)

#        d     P  n   m   eta    steps
SETS = {
    "E": (200, 3, 10, 8, 0.05, 20_000),
    "C": (200, 3, 10, 8, 0.02, 60_000),
    "A": (500, 4, 20, 10, 0.005, 400_000),
    "D": (1000, 4, 40, 16, 0.2, 40_000),
}
BESIDE = {"η = 1": (1000, 4, 50, 10, 1.0, 4_000)}  # no set of the theorem's: N > √d

_times = (  # T0, and T1 of the first, the median and the last sample
    FirstTime(largest_signal, 1.0),
    FirstTime(most_memorised, 1.0),
    FirstTime(median_memorised, 1.0),
    FirstTime(least_memorised, 1.0),
)


def plan(sets, scaling, lam=0.5, P=3, n=5, m=8, polylog=None):
    known = SETS | BESIDE
    if unknown := [name for name in sets if name not in known]:
        raise ValueError(f"sets are some of {', '.join(known)}, got {', '.join(unknown)}.")
    if polylog is not None and not polylog > 0:
        raise ValueError(
            f"polylog, which divides 1/√d in 1 − γ, needs a number > 0, got {polylog}."
        )
    for name in sets:
        family, at = ("theorem", {"set": name}) if name in SETS else ("beside", {"η": Read("eta")})
        yield _patch_run(family, at, *known[name], lam, polylog)
    at = {"d": Read("data.d")}
    for d in scaling:
        steps = round(2_000 * n * math.sqrt(d / 200))  # about five times T1 of Lemma C.7
        yield _patch_run("scaling", at, d, P, n, m, 0.1, steps, lam, polylog, curves=False)


def _patch_run(family, at, d, P, n, m, eta, steps, lam, polylog, curves=True):
    """A run of the theorem; the polylog of 1 − γ is ln d."""
    gap = 1 / (math.sqrt(d) * (math.log(d) if polylog is None else polylog))
    errors = (
        Error(n=POINTS, name="clean_test_error"),
        Error(n=POINTS, attacks="training", name="robust_test_error"),
    )
    strong = APGD(p=2, radius=(1 - gap) * d**0.249, steps=20, restarts=1)
    return patches(
        family,
        at,
        **dict(d=d, P=P, N=n, m=m, eta=eta, steps=steps, lam=lam, gap=gap),
        probes=(
            true_feature,
            least_memorised,
            median_memorised,
            most_memorised,
            risk,
            robust_train_error,
            *((*errors, signals, memorised, predicted_level) if curves else (largest_signal,)),
        ),
        final=(
            *((predicted_times,) if curves else errors),
            Error(on="train", attacks=(strong,), name="l2_train_error"),
        ),
        folds=_times if curves else (),
    )


def _conclusions(run):
    """The theorem's conclusions for one set."""
    conclusions = every(
        level(last("robust_test_error", run, POINTS), 0.45, 0.55),
        level(last("robust_train_error", run), 0, 0),
        level(last("clean_test_error", run, POINTS), 0, 0.01),
        level(last("true_feature", run), 5, 30),
        level(last("least_memorised", run), 1, 15),
        level(last("most_memorised", run), 1, 15),
    )
    return given_a_start(run, conclusions)


def _no_power(symbol, name):
    """A number that is no power of d."""
    runs = where("scaling")
    return given_a_start(runs, exponent(f"power of d in {symbol}", name, "d", runs, 0.0, 0.15))


checks = {
    "cgro.thm4.1": every(
        each("theorem", _conclusions),
        _no_power("α³U", "true_feature"),
        _no_power("median V_i", "median_memorised"),
    ),
}
