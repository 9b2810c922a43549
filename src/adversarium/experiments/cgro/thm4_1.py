"""Theorem 4.1 of CGRO: part of the signal is learnt, the noise is memorised.

Paper: U = Θ(α⁻³), V_i = Θ(1), clean test error o(1), robust train error o(1), robust test error
≥ 1/2 − o(1), robust errors under the geometry-based transfer attack.
Cost: quick 20 s (2 cores).
"""

import math

from adversarium.attacks import APGD
from adversarium.experiments import checks as rules
from adversarium.experiments.cgro.patches import given_a_start, patches
from adversarium.experiments.spec import Course, Curves
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

_POINTS = 2000

quick = dict(sets=("E",), scaling=(100, 200, 400, 800), seeds=10)
paper = dict(sets=("E", "C", "A", "D", "η = 1"), scaling=(100, 200, 400, 800), seeds=10)

#        d     P  n   m   eta    steps
SETS = {
    "E": (200, 3, 10, 8, 0.05, 20_000),
    "C": (200, 3, 10, 8, 0.02, 60_000),
    "A": (500, 4, 20, 10, 0.005, 400_000),
    "D": (1000, 4, 40, 16, 0.2, 40_000),
    "η = 1": (1000, 4, 50, 10, 1.0, 4_000),
}


_times = (  # T0, and T1 of the first, the median and the last sample
    FirstTime(largest_signal, 1.0),
    FirstTime(most_memorised, 1.0),
    FirstTime(median_memorised, 1.0),
    FirstTime(least_memorised, 1.0),
)


def patch_run(label, d, P, n, m, eta, steps, lam=0.5, polylog=None, curves=True):
    """A run of the theorem; the polylog of 1 − γ is ln d."""
    gap = 1 / (math.sqrt(d) * (math.log(d) if polylog is None else polylog))
    errors = (
        Error(n=_POINTS, name="clean_test_error"),
        Error(n=_POINTS, attacks="training", name="robust_test_error"),
    )
    strong = APGD(p=2, radius=(1 - gap) * d**0.249, steps=20, restarts=1)
    return patches(
        label,
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


def plan(sets, scaling, lam=0.5, P=3, n=5, m=8, polylog=None):
    if unknown := [name for name in sets if name not in SETS]:
        raise ValueError(f"sets are some of {', '.join(SETS)}, got {', '.join(unknown)}.")
    if polylog is not None and not polylog > 0:
        raise ValueError(
            f"polylog, which divides 1/√d in 1 − γ, needs a number > 0, got {polylog}."
        )
    for name in sets:
        label = name if "=" in name else f"set {name}"  # η = 1 is beside the theorem's sets
        yield patch_run(label, *SETS[name], lam, polylog)
    for d in scaling:
        steps = round(2_000 * n * math.sqrt(d / 200))  # about five times T1 of Lemma C.7
        yield patch_run(f"d={d}", d, P, n, m, 0.1, steps, lam, polylog, curves=False)


def _theorem(label):
    """The conclusions for one set."""
    last = lambda probe, points=0: rules.last(probe, label, points)
    conclusions = rules.every(
        rules.level(last("robust_test_error", _POINTS), 0.45, 0.55),
        rules.level(last("robust_train_error"), 0, 0),
        rules.level(last("clean_test_error", _POINTS), 0, 0.01),
        rules.level(last("true_feature"), 5, 30),
        rules.level(last("least_memorised"), 1, 15),
        rules.level(last("most_memorised"), 1, 15),
    )
    return given_a_start(label, conclusions)


_sizes = {f"d={d}": float(d) for d in (100, 200, 400, 800)}

checks = {
    "cgro.thm4.1": rules.every(
        rules.each(_theorem, where=lambda label: label.startswith("set ")),
        *(
            given_a_start("d=", rules.exponent(f"power of d in {name}", probe, _sizes, 0.0, 0.15))
            for name, probe in (("α³U", "true_feature"), ("median V_i", "median_memorised"))
        ),
    ),
}

_errors = {
    "clean_test_error": "clean test error",
    "robust_train_error": "robust train error (GTA)",
    "robust_test_error": "robust test error (GTA)",
}
_parts = {
    "true_feature": r"$\alpha^3 U$ (signal)",
    "least_memorised": r"$\min_i V_i$ (noise)",
    "median_memorised": r"median$_i$ $V_i$",
    "most_memorised": r"$\max_i V_i$",
}

figures = (
    Course(
        name="course",
        title="Set E, one seed: the signal, then the noise, then nothing",
        run="set E",
        panels={
            "signal": {
                "true_feature": r"$\alpha^3 U$",
                "predicted_level": "closed form",
                "signals": r"$\alpha u_r$, every r",
            },
            "noise": {"memorised": r"$V_i$, every i"},
            "errors": _errors,
        },
        times={
            r"$T_0$": "first_time(largest_signal >= 1)",
            r"$T_1$ first": "first_time(most_memorised >= 1)",
            r"$T_1$ all": "first_time(least_memorised >= 1)",
            r"$T_1$ first, closed form": "predicted_times[1]",
        },
        x_label="step t",
        caption="Dotted: measured times, and the closed form of the first T₁.",
    ),
    Curves(
        name="stages",
        title="Set E: signal first, memorised noise later",
        y=tuple(_parts),
        of=("set E",),
        names=_parts,
        log_x=True,
        x_label="step t",
        y_label="part of the margin",
        caption="Mean over seeds, band: smallest to largest seed. The signal jumps, then creeps "
        "like log t; the noise is memorised much later.",
    ),
    Curves(
        name="errors",
        title="Set E: clean generalisation and robust overfitting",
        y=tuple(_errors),
        of=("set E",),
        names=_errors,
        log_x=True,
        x_label="step t",
        y_label="error",
        levels={"1/2": 0.5},
        caption="Mean over seeds, band: smallest to largest seed. The robust train error falls to "
        "0 while the robust test error stays at 1/2.",
    ),
)
