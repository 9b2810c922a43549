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

import numpy as np

from adversarium.experiments import checks as rules
from adversarium.experiments.cgro.patches import given_a_start, largest_start, patches
from adversarium.experiments.checks import at_most, exponent, last, level, measure, ordering
from adversarium.experiments.spec import Powers, Table
from adversarium.probes import (
    Decay,
    Error,
    FirstTime,
    NoiseResidual,
    SignalGrowth,
    Total,
    Worst,
    attacked_doubt,
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

quick = dict(seeds=10)
paper = dict(patience=3, seeds=100)  # a seed whose largest u_r(0) is small is slow

E, CLEAN = "set E", "λ = 0"
GAPS = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0134)
T0, T1 = "first_time(largest_signal >= 1)", "first_time(median_memorised >= 1)"
T1_ALL = "first_time(least_memorised >= 1)"

# what is swept, its values, and how T0 and T1 answer
EARLY = {"η": (0.00025, 0.0005, 0.001, 0.002), "α": (1.0, 2.0, 4.0, 8.0),
         "σ0": (0.01, 0.02, 0.04, 0.08)}  # fmt: skip
EARLY_POWERS = {"η": -1.0, "α": -3.0, "σ0": -1.0}
LATE = {"η": (0.025, 0.05, 0.1, 0.2), "σ0": (0.00875, 0.0175, 0.035, 0.07), "N": (5, 10, 20, 40),
        "σ": (0.02, 0.04, 0.08, 0.16), "λ": (0.1, 0.2, 0.4, 0.8),
        "d": (100, 200, 400, 800), "d, paper": (100, 200, 400, 800)}  # fmt: skip
LATE_POWERS = {"η": -1.0, "σ0": -1.0, "N": 1.0, "σ": -3.0, "λ": -1.0, "d": -1.5, "d, paper": 0.527}
RESIDUAL = (100, 300, 900, 1800)
_START: dict = dict(probes=(largest_signal,), record=(0,))


def plan(steps=20_000, sweeps=True, gaps=GAPS, patience=1):
    robust = Error(n=2000, attacks="training", name="robust_test_error")
    memorised = (true_feature, least_memorised, median_memorised, most_memorised)
    yield patches(
        E,
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
    yield patches(CLEAN, steps=steps // 2, lam=0.0, final=final, **_START)
    for gap in gaps:
        yield patches(f"1 − γ = {gap:g}", steps=steps, gap=gap, final=final, **_START)
    if not sweeps:
        return
    for name, values in EARLY.items():
        for value in values:
            yield _early(name, value, patience)
    for name, values in LATE.items():
        for value in values:
            yield _late(name, value)
    for d in RESIDUAL:
        length = math.ceil(6_000 * (d / 200) ** 0.53)
        shape = dict(d=d, P=4, N=8, m=6, eta=0.1, steps=length)
        yield patches(f"residual, d = {d}", folds=(NoiseResidual(),), **shape, **_START)


def _early(name, value, patience):
    """A short run for T₀: little noise, small steps."""
    turned = {"η": "eta", "α": "alpha", "σ0": "sigma0"}[name]
    base = dict(
        P=2,
        N=2,
        sigma=1e-3,
        eta=0.004 if name == "α" else 0.001,
        sigma0=0.02 if name == "α" else None,
    )
    steps = {"η": 1.5 / value, "α": 40_000 / value**3 + 100, "σ0": 60 / value + 400}[name]
    knobs = {**base, turned: value, "steps": math.ceil(patience * steps)}
    folds = (FirstTime(largest_signal, 1.0),)
    return patches(f"T₀, {name} = {value:g}", **knobs, folds=folds, **_START)


def _late(name, value):
    """A run for T₁ of the median sample: about four times as long as Lemma C.7 says."""
    keys = {
        "η": "eta",
        "σ0": "sigma0",
        "N": "N",
        "σ": "sigma",
        "λ": "lam",
        "d": "d",
        "d, paper": "d",
    }
    base: dict = dict(eta=0.2 if name == "σ" else 0.1)
    if name == "d":
        base |= dict(sigma=0.0674, sigma0=0.0707, alpha=3.74, gap=0.01335)
    knobs = {**base, keys[name]: value}
    middle = {"η": 0.1, "σ0": 0.0707, "N": 10, "σ": 0.0674, "λ": 0.5, "d": 200, "d, paper": 200}
    length = math.ceil(500 / base["eta"] * (value / middle[name]) ** LATE_POWERS[name]) + 200
    folds = (FirstTime(median_memorised, 1.0), Total(attacked_doubt))
    return patches(f"T₁, {name} = {value:g}", **knobs, steps=length, folds=folds, **_START)


def _first_time(rows):
    """T₀ (1/u0)/(1/u0 − α): without the offset of its closed form."""
    return rows.last(T0) / (1 - largest_start(rows))


def _sizes(kind, name, values):
    return {f"{kind}, {name} = {value:g}": float(value) for value in values}


def _ratio_after(rows):
    """1 − the smallest ‖∇L‖/L at a record time from T₁ of the last sample on."""
    t, ratio = rows[E].curve("gradient_over_risk")
    late = t >= rows[E].last(T1_ALL)[:, None]
    return np.where(late.any(1), 1 - np.where(late, ratio, np.inf).min(1), np.nan)


def _decay_slope(rows):
    """The slope of log L in log(t − T₁), over the record times from T₁ + T₁/10 on: a decade
    at least while T₁ is within the first half of the run."""
    t, loss = rows[E].curve("risk")
    found = []
    for start, values in zip(rows[E].last(T1_ALL), loss, strict=True):
        late = t >= 1.1 * start
        found.append(
            np.polyfit(np.log(t[late] - start), np.log(values[late]), 1)[0]
            if late.sum() > 3
            else np.nan
        )
    return np.array(found)


def _frozen(rows):
    """The relative change of α³U from T₁ of the last sample to the end."""
    t, signal = rows[E].curve("true_feature")
    at = [np.flatnonzero(t >= start)[:1] for start in rows[E].last(T1_ALL)]
    return np.array(
        [v[-1] / v[i[0]] - 1 if i.size else np.nan for v, i in zip(signal, at, strict=True)]
    )


def _over_terms(rows):
    """The residual of v over the sum of the two printed terms of Lemma C.5."""
    return rows.last("residual") / (rows.last("first_term") + rows.last("second_term"))


def _shortfall(rows):
    """How many times Pσ²√d/α v falls below the bound of Lemma 4.4."""
    return rows.last("lower_residual") / rows.last("second_term")


_residuals = {f"residual, d = {d}": float(d) for d in RESIDUAL}
_time = lambda level_, probe: measure(
    f"first t with {probe} ≥ {level_:g}",
    lambda rows: rows[E].last(f"first_time({probe} >= {level_:g})"),
)
_twenty = measure("20 T₀", lambda rows: 20 * rows[E].last(T0))
_upper = (math.inf, 0.15)
_residual_runs = lambda label: label == E or label.startswith("residual")
_within = lambda probe: rules.each(lambda label: at_most(last(probe, label), 1.5), _residual_runs)


def _learnt(gap):
    label = f"1 − γ = {gap:g}"
    return (
        level(last("robust_test_error", label, 2000), 0, 0.01),
        level(last("median_memorised", label), -0.1, 0.1),
    )


def _memorised(gap):
    label = f"1 − γ = {gap:g}"
    return (
        level(last("robust_test_error", label, 2000), 0.45, 0.55),
        level(last("median_memorised", label), 1),
    )


_on_E = {
    "cgro.lem4.2": at_most(last("growth_violation", E), 1e-9),
    "cgro.lem4.3": rules.every(
        at_most(last("attack_violation", E), 1e-9), at_most(last("level", E), 1.0)
    ),
    "cgro.lemC.8": at_most(measure("1 − least ‖∇L‖/L from T₁ on", _ratio_after), 0.0),
    "cgro.lemC.9": rules.every(
        at_most(last("decay_product", E), 1.0),
        level(measure("slope of log L in log(t − T₁)", _decay_slope), high=-0.9),
    ),
    "cgro.lemC.11": at_most(last("worst(largest_correlation)", E), 1.0),
    "cgro.thmC.12.clean": level(last("clean_test_error", E), 0, 0),
    "cgro.thmC.12.robust": rules.every(
        at_most(last("fresh_noise[0]", E), 0.0), at_most(last("fresh_noise[1]", E), 3.0)
    ),
    "cgro.stages": rules.every(
        ordering(_time(0.1, "most_memorised"), than=_time(1, "true_feature")),
        ordering(_time(0.9, "most_memorised"), than=_twenty),
        level(measure("change of α³U after T₁", _frozen), -0.05, 0.05),
    ),
}
_doubt = lambda claimed, tolerance: exponent(
    "power of N in ησ0(λ/N)ΣΣψ",
    "total(attacked_doubt)",
    _sizes("T₁", "N", LATE["N"]),
    claimed,
    tolerance,
)
_residual = lambda name, of: exponent(f"power of d in {name}", of, _residuals, 0.0, _upper)


def _powers(kind, of, swept, claimed):
    """An exponent for everything that is swept, each on its own runs."""
    return rules.every(
        *(
            given_a_start(
                f"{kind}, {name} = ",
                exponent(
                    f"power of {name} in {kind}",
                    of,
                    _sizes(kind, name, values),
                    claimed[name],
                    0.15,
                ),
            )
            for name, values in swept.items()
        )
    )


checks = {
    **{claim: given_a_start(E, check) for claim, check in _on_E.items()},
    "cgro.thm4.1.control-lam0": given_a_start(
        CLEAN,
        rules.every(
            level(last("robust_train_error", CLEAN, 10), 0.35, 0.65),
            level(last("clean_test_error", CLEAN), 0, 0),
            level(last("most_memorised", CLEAN), -0.1, 0.1),
        ),
    ),
    "cgro.thm4.1.phase-gamma": given_a_start(
        "1 − γ = ",
        rules.every(
            *(check for gap in GAPS[:6] for check in _learnt(gap)),
            *(check for gap in GAPS[6:] for check in _memorised(gap)),
        ),
    ),
    "cgro.lemC.3": _powers("T₀", _first_time, EARLY, EARLY_POWERS),
    "cgro.lemC.7": _powers("T₁", T1, LATE, LATE_POWERS),
    "cgro.lemC.5": given_a_start(
        "residual",
        rules.unless_refuted(
            _residual("residual over both printed terms", _over_terms),
            "with unit constants the residual outgrows both terms at sizes that run",
        ),
    ),
    "cgro.lem4.4": given_a_start("residual", _residual("shortfall/(Pσ²√d/α)", _shortfall)),
    "cgro.lemC.5.corrected": given_a_start((E, "residual"), _within("residual_share")),
    "cgro.lem4.4.corrected": given_a_start((E, "residual"), _within("lower_share")),
    "cgro.lemC.10": given_a_start("T₁, N = ", _doubt(0.0, _upper)),
    "cgro.lemC.10.corrected": given_a_start("T₁, N = ", _doubt(1.0, 0.15)),
}

_gaps = {
    "robust_test_error": "robust test error (transfer attack)",
    "true_feature": "α³U",
    "median_memorised": "median V",
    "robust_train_error": "robust train error",
}

_lemmas = {
    "decay": "4.2: c = mean ψ(α³U + V)/ψ(α³U) at the end",
    "level": "4.3: α max u over 1.2 s^(1/3), largest",
    "decay_product": "C.9: L η (t − T₁), largest",
    "worst(largest_correlation)": "C.11: correlation over 2(log t)^(1/3), largest",
    "fresh_noise[2]": "C.12: α³U over the deviation of Z",
}
_swept = lambda kind, values: {name: _sizes(kind, name, v) for name, v in values.items()}
_told = (
    "Geometric mean over the seeds with some u_r(0) > 0, bar: smallest to largest; fitted power "
    "with its 99 % interval and claimed power (dashed)."
)

figures = (
    Powers(
        name="T0",
        title="T₀: when the signal is learnt",
        probe=T0,
        number=_first_time,
        sweeps=_swept("T₀", EARLY),
        claimed=EARLY_POWERS,
        y_label="T₀ (1/u0)/(1/u0 − α)",
        caption=f"{_told} Lemma C.3.",
    ),
    Powers(
        name="T1",
        title="T₁: when noise is memorised",
        probe=T1,
        number=lambda rows: np.where(largest_start(rows) > 0, rows.last(T1), np.nan),
        sweeps=_swept("T₁", LATE),
        claimed=LATE_POWERS,
        y_label="T₁ of the median point",
        caption=f"{_told} Lemma C.7; last panel: σ and σ0 as in the paper.",
    ),
    Table(
        name="lemmas",
        title="Set E: the lemmas' numbers",
        y=tuple(_lemmas),
        of=(E,),
        names=_lemmas,
        caption="Mean over all seeds with its 99 % interval.",
    ),
    Table(
        name="gaps",
        title="Robust learning or memorisation: what 1 − γ decides",
        y=tuple(_gaps),
        of=(CLEAN, *(f"1 − γ = {gap:g}" for gap in GAPS)),
        names=_gaps,
        caption="Mean over all seeds with its 99 % interval; a seed without any u_r(0) > 0 learns "
        "no signal and fails at every γ.",
    ),
)
