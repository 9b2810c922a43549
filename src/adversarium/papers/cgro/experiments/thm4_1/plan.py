"""Theorem 4.1 of CGRO: part of the signal is learnt, the noise is memorised.

Paper: for N = poly(d) and η = O(1), U = Θ(α⁻³), V_i = Θ(1), clean test error o(1), robust training
error o(1) on the points of the transfer attack, robust test error ≥ 1/2 − o(1) over the ball.
Reading: "many points" has N = d and 1 − γ = 1/√d, within the paper's hypotheses but larger than
N_c, the bound of cgro.phases; the corrected theorem is judged for N < N_c. Any attack can show a
robust test error of at least ½: we use the transfer attack if N < N_c, else a step of length δ on
two patches.
Cost: quick 30 s (2 cores).
"""

import math

from adversarium.attacks import APGD, PatchTransplant
from adversarium.measure.errors import Error, risk, robust_train_error
from adversarium.measure.folds import FirstTime
from adversarium.plans import Read

from ...theory.features import (
    largest_signal,
    least_memorised,
    median_memorised,
    memorised,
    most_memorised,
    true_feature,
)
from ...theory.memorisation import predicted_level, predicted_times, signals
from ...theory.patches import many_steps, patches
from ...theory.regime import gates as gates

POINTS = 2000
TWO_PATCHES = "two_patch_test_error"
OTHER = "many points, other η and λ"


def length(d, N):
    """Return about five times T₁ of Lemma C.7 of CGRO at η = 0.1."""
    return round(2_000 * N * math.sqrt(d / 200))


quick = dict(
    sets=("E",), scaling=(50, 100, 200), counts=(5, 10, 20), many=(25, 50), others=(), seeds=5
)
paper = dict(
    sets=("E", "C", "A", "D", "η = 1"),
    counts=(5, 10, 20, 40, 80),
    many=(25, 50, 100, 200),
    seeds=10,
)

MANY_SIZES = (25, 50, 100)  # values of d = N
OTHERS = ((0.1, 0.5), (0.6, 0.5), (0.3, 0.2), (0.3, 0.8))  # (η, λ) at N = d = 50

#        d     P  n   m   eta    steps
SETS = {
    "E": (200, 3, 10, 8, 0.05, 20_000),
    "C": (200, 3, 10, 8, 0.02, 60_000),
    "A": (500, 4, 20, 10, 0.005, 400_000),
    "D": (1000, 4, 40, 16, 0.2, 40_000),
}
OUTSIDE_THEOREM = {"η = 1": (1000, 4, 50, 10, 1.0, 4_000)}  # not a setting of the theorem: N > √d

_times = (  # T₀, and T₁ of the first, the median and the last sample
    FirstTime(largest_signal, 1.0),
    FirstTime(most_memorised, 1.0),
    FirstTime(median_memorised, 1.0),
    FirstTime(least_memorised, 1.0),
)


def plan(
    sets, scaling=(100, 200, 400, 800), counts=(5, 10, 20, 40), many=MANY_SIZES, lam=0.5, P=3, n=5,
    m=8, polylog=None, others=OTHERS,
):  # fmt: skip
    known = SETS | OUTSIDE_THEOREM
    if unknown := [name for name in sets if name not in known]:
        raise ValueError(f"sets are some of {', '.join(known)}, got {', '.join(unknown)}.")
    if polylog is not None and not polylog > 0:
        raise ValueError(
            f"polylog, the divisor of 1/√d in 1 − γ, needs a number > 0, got {polylog}."
        )
    for name in sets:
        family, at = ("theorem", {"set": name}) if name in SETS else ("beside", {"η": Read("eta")})
        yield _patch_run(family, at, *known[name], lam, polylog)
    for d in scaling:
        at, steps = {"d": Read("data.d")}, length(d, n)
        yield _patch_run("scaling", at, d, P, n, m, 0.1, steps, lam, polylog, curves=False)
    for N in counts:
        at, steps = {"N": Read("n")}, length(200, N) // 2
        yield _patch_run("counts", at, 200, P, N, m, 0.2, steps, lam, polylog, curves=False)
    for d in many:
        at, steps = {"d": Read("data.d"), "N": Read("n")}, many_steps(d)
        yield _patch_run("many points", at, d, P, d, m, 0.3, steps, lam, 1.0, curves=False)
    for eta, share in others:
        at, steps = {"η": Read("eta"), "λ": Read("risk.lam")}, many_steps(50, 0.15 / (eta * share))
        yield _patch_run(OTHER, at, 50, P, 50, m, eta, steps, share, 1.0, curves=False)


def _patch_run(family, at, d, P, n, m, eta, steps, lam, polylog, curves=True):
    """Return a run of the theorem; the polylog of 1 − γ is ln d unless given."""
    gap = 1 / (math.sqrt(d) * (math.log(d) if polylog is None else polylog))
    errors = (
        Error(n=POINTS, name="clean_test_error"),
        Error(n=POINTS, attacks="training", name="robust_test_error"),
    )
    radius = (1 - gap) * d**0.249
    strong = APGD(p=2, radius=radius, steps=20, restarts=1)
    two_patches = Error(n=POINTS, attacks=(PatchTransplant(radius=radius),), name=TWO_PATCHES)
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
            *((two_patches,) if family in ("many points", OTHER) else ()),
            Error(on="train", attacks=(strong,), name="l2_train_error"),
        ),
        folds=_times if curves else (),
    )
