"""Theorem 4.1 of CGRO: part of the signal is learnt, the noise is memorised.

Paper: for N = poly(d) and η = O(1), U = Θ(α⁻³), V_i = Θ(1), clean test error o(1), robust train
error o(1), robust test error ≥ 1/2 − o(1), robust errors under the geometry-based transfer attack.
Reading: "many points" has N = d and 1 − γ = 1/√d (and N = d² with 1 − γ = 1/(√d ln d) at the paper
preset), inside the printed hypotheses and beyond N_c; the corrected theorem is judged below N_c.
Cost: quick 60 s (2 cores).
"""

import math

from adversarium.attacks import APGD
from adversarium.papers.cgro.patches import given_a_start, patches
from adversarium.papers.cgro.regime import gates
from adversarium.papers.cgro.thm4_1_figures import figures
from adversarium.plans import Read, each, every, last, level, no_decay, no_growth, parts, where
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

quick = dict(sets=("E",), seeds=5)
paper = dict(
    sets=("E", "C", "A", "D", "η = 1"),
    counts=(5, 10, 20, 40, 80),
    many=((50, 50, 1.0), (100, 100, 1.0), (200, 200, 1.0), (50, 2500, None)),
    seeds=10,
)

MANY = ((50, 50, 1.0), (100, 100, 1.0))  # d, N, polylog (none: ln d)

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


def plan(
    sets, scaling=(100, 200, 400, 800), counts=(5, 10, 20, 40), many=MANY, lam=0.5, P=3, n=5, m=8,
    polylog=None,
):  # fmt: skip
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
    for d in scaling:
        at, steps = {"d": Read("data.d")}, _length(d, n)
        yield _patch_run("scaling", at, d, P, n, m, 0.1, steps, lam, polylog, curves=False)
    for N in counts:
        at, steps = {"N": Read("n")}, _length(200, N) // 2
        yield _patch_run("counts", at, 200, P, N, m, 0.2, steps, lam, polylog, curves=False)
    for d, N, log in many:
        at = {"d": Read("data.d"), "N": Read("n")}
        steps = round(12_000 * (d / 200) ** 0.5) if log else 20_000
        yield _patch_run("many points", at, d, P, N, m, 0.3, steps, lam, log, curves=False)


def _length(d, N):
    """About five times T₁ of Lemma C.7 of CGRO at η = 0.1."""
    return round(2_000 * N * math.sqrt(d / 200))


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
    """What the theorem says of the errors of one run, robust ones under the transfer attack."""
    conclusions = every(
        level(last("robust_test_error", run, POINTS), 0.45),
        level(last("robust_train_error", run), 0, 0, always=True),
        level(last("clean_test_error", run, POINTS), 0, 0.01),
    )
    return given_a_start(run, conclusions)


def _constants(letter, family, length):
    """Along N or d: α³U/log t and the median V_i do not grow, α³U and the least V_i do not fall."""
    runs = where(family)

    def log_t(size):
        return math.log(length(size))

    told = f"power of {letter} in {{}}"
    checks = (
        no_growth(told.format("true_feature/log t"), "true_feature", letter, runs, per=log_t),
        no_growth(told.format("median_memorised"), "median_memorised", letter, runs),
        no_decay(told.format("true_feature"), "true_feature", letter, runs),
        no_decay(told.format("least_memorised"), "least_memorised", letter, runs),
    )
    return [given_a_start(runs, check) for check in checks]


_thetas = [
    *_constants("d", "scaling", lambda d: _length(d, 5)),
    *_constants("N", "counts", lambda N: _length(200, N) // 2),
]

checks = {
    "cgro.thm4.1": each("many points", _conclusions),
    "cgro.thm4.1.corrected": parts(
        {
            "errors": each(where(("theorem", "scaling", "counts")), _conclusions),
            "α³U = Θ(log t), V_i = Ω(1) for every i and O(1) for most": every(*_thetas),
        }
    ),
}
