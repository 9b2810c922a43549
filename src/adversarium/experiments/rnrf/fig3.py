"""Figure 3 of RNRF: which features standard and adversarial training learn, and when.

Paper: correlations of the filters with robust and non-robust features over 1,000 iterations;
under adversarial training the growth of the non-robust one stops "near 150"; Theorems 4.3 and 4.4
and the lemmas of Apps. D and E on the same two runs.
Reading: the attack's step η̃ = 1e3 acts on the gradient of the batch mean (1e3/N = 10 a point).
Cost: quick 55 s (2 cores).
"""

import math
from typing import Any

import numpy as np

from adversarium.attacks import APGD, PGD, FeatureReplacement, MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.experiments import checks as rules
from adversarium.experiments.checks import at_most, last, level, measure, ordering
from adversarium.experiments.rnrf.measures import (
    classes,
    crossing,
    doubt_slope,
    first,
    log_growth,
    over_start,
    scale,
    when,
)
from adversarium.experiments.spec import Curves, Moment, Profile, Run, Table
from adversarium.networks import SmoothedCNN
from adversarium.probes import (
    At,
    Error,
    ErrorByRadius,
    FeatureError,
    InnerGap,
    decomposition,
    feature_energy,
    foreign_nonrobust,
    foreign_robust,
    noise_correlations,
    nonrobust_features,
    nonrobust_total,
    outputs,
    risk,
    robust_features,
    scales,
    step_size,
    strong_attacks,
    train_error,
)

quick = dict(seeds=5, steps=1000)
paper = dict(
    seeds=10,
    steps=1000,
    when=(0, 10, 30, 50, 70, 100, 150, 200, 300, 400, 500, 750),
    points=300,
)

STD, ADV = "standard", "adversarial"
_WHEN = (0, 50, 150, 300, 500, 750)  # and the end; the paper preset takes a dozen
_CLEAN = (0, 10, 30, 50, 60, 70, 80, 90, 100, 110, 120, 130, 150, 200, 300, 500, 750)
_POINTS = 500
RADII = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)


def plan(
    steps=1000,
    k=2,
    n=100,
    d=100,
    P=16,
    m=100,
    eps=1.2,
    step=1e3,
    sigma0=0.01,
    eta=0.1,
    when=_WHEN,
    points=100,
):
    data = TwoFeaturePatches(k=k, d=d, P=P, alpha=2.0, beta=1.0, sigma_n=0.1, n_robust=1)
    attack = MarginStep(radius=eps, step=step, over=n)
    strong = (
        APGD(radius=eps, steps=20, restarts=1),
        PGD(radius=eps, steps=20, start="uniform"),
    )
    raw = PGD(radius=eps, steps=10, step=step, normalised=False, loss="minus_true_logit")
    moments = (*(t for t in when if t < steps), steps)
    lowering = PGD(radius=eps, steps=10, loss="minus_true_logit")
    saturated = PGD(radius=eps, steps=10, loss="cross_entropy")
    by_radius = (
        ("strong_by_radius", strong),
        ("lowering_by_radius", (lowering,)),
        ("saturated_by_radius", (saturated,)),
        ("raw_by_radius", (raw,)),
        ("unproven_by_radius", ()),
    )
    clean = At(Error(n=_POINTS, name="test_error"), (*(t for t in _CLEAN if t < steps), steps))
    # the model-free attack is admissible where every β_p ≤ ε
    replaced = (FeatureReplacement(radius=eps, k=k),) if data.beta <= eps else ()
    sometimes: tuple[Any, ...] = (
        *(Error(n=_POINTS, attacks=(a,), name="replaced_error") for a in replaced),
        Error(n=points, attacks=(raw,), name="raw_error"),
        Error(n=points, attacks=strong, name="strong_error"),
        noise_correlations,
    )
    for label, by, inner in ((STD, None, ()), (ADV, attack, (InnerGap(),))):
        yield Run(
            label=label,
            data=data,
            network=SmoothedCNN(m=m, sigma0=sigma0),
            attack=by,
            n=n,
            steps=steps,
            eta=eta,
            probes=(
                robust_features,
                nonrobust_features,
                nonrobust_total,
                foreign_robust,
                foreign_nonrobust,
                outputs,
                risk,
                train_error,
                decomposition,
                clean,
                *(At(probe, moments) for probe in sometimes),
                *(At(probe, moments[::2]) for probe in inner),
            ),
            final=(
                FeatureError("robust", _POINTS),
                FeatureError("nonrobust", _POINTS),
                *(Error(n=_POINTS, attacks=(a,), name="own_attack_error") for a in (by,) if a),
                Error(on="train", attacks=strong, name="strong_train_error"),
                feature_energy,
                scales,
                step_size,
                Error(n=points, attacks=strong_attacks(math.inf, eps, k), name="suite_error"),
                *(
                    ErrorByRadius(attacks=suite, radii=RADII, n=points // 2, name=name)
                    for name, suite in by_radius
                ),
            ),
            record=5,
            dtype="float32",
        )


def _lead(label):
    """The smallest over classes of A − B at the end."""

    def of(rows):
        A, B = (
            classes(rows, label, p)[1][:, -1] for p in ("robust_features", "nonrobust_features")
        )
        return (A - B).min(-1)

    return of


def _dominated(rows):
    """The smallest over classes of B − 5A at the end of standard training."""
    A, B = (classes(rows, STD, p)[1][:, -1] for p in ("robust_features", "nonrobust_features"))
    return (B - 5 * A).min(-1)


def _crossing_time(rows):
    """The first t from which A > B in both classes, adversarial training."""
    t, A = classes(rows, ADV, "robust_features")
    _, B = classes(rows, ADV, "nonrobust_features")
    return first(t, (A > B).all(-1) & (t > 100))


_stall = crossing("nonrobust_features", "robust_features", ADV, ("[0]", "[1]"))


def _worst_error(probe, label, after=50):
    def of(rows):
        t, values = rows[label].curve(probe)
        return np.where(t >= after, values, -np.inf).max(1)  # −∞: the run ended before

    return measure(f"largest {probe} at t ≥ {after} ({label})", of)


def _accuracy_at(probe, moment):
    """1 − error at a moment of adversarial training; None: at the end; NaN in a shorter run."""

    def of(rows):
        t, values = rows[ADV].curve(probe)
        if moment is not None and moment >= t[-1]:
            return np.full(len(values), np.nan)
        return 1 - values[:, -1 if moment is None else int(np.abs(t - moment).argmin())]

    return measure(f"accuracy, {probe}, t = {moment or 'end'}", of)


def _best_accuracy(rows):
    return 1 - rows[ADV].curve("strong_error")[1].min(1)


def _imbalance(rows):
    """½ minus the smallest min F_y/max F_y within a class, once F_y ≥ log d."""
    _, F = rows[STD].curve("outputs[0]")
    _, share = rows[STD].curve("outputs[3]")
    late = scale(rows, STD, "log_d")[:, None] <= F
    return np.where(late.any(1), 0.5 - np.where(late, share, np.inf).min(1), np.nan)


def _sum_ratio(rows):
    """η Σ_{s≤T} E[1 − π_y]/log T at the last T over that at T = 100."""
    t, doubt = rows[STD].curve("outputs[1]")
    total = np.cumsum((doubt[:, 1:] + doubt[:, :-1]) / 2 * np.diff(t), axis=1)
    at = int(np.abs(t[1:] - 100).argmin())
    return (total[:, -1] / math.log(t[-1])) / (total[:, at] / math.log(t[1 + at]))


def _doubt(rows):
    """F_y and log(1 − π_y) on the training points, standard training."""
    return rows[STD].curve("outputs[0]")[1], rows[STD].curve("outputs[2]")[1]


def _doubt_slope(rows):
    F, log_doubt = _doubt(rows)
    return doubt_slope(F, log_doubt, scale(rows, STD, "log_d"))


_log_slope = measure("slope of log(1 − π_y) in F_y ≥ log d", _doubt_slope)


def _doubt_over_bound(rows):
    """The largest (1 − π_y)e^{F_y}/(k − 1) once F_y ≥ log d; NaN if it never is."""
    F, log_doubt = _doubt(rows)
    late = scale(rows, STD, "log_d")[:, None] <= F
    others = classes(rows, STD, "robust_features")[1].shape[-1] - 1
    found = np.where(late, np.exp(log_doubt + F), -np.inf).max(1) / others
    return np.where(late.any(1), found, np.nan)


def _late_growth(rows):
    t, F = rows[STD].curve("outputs[0]")
    return log_growth(t, F, scale(rows, STD, "log_d"))


def _late_loss(rows):
    """The exponent of 1/L in t, from F_y = log d on."""
    t, loss = rows[STD].curve("risk")
    return log_growth(t, -np.log(loss), when(-np.log(loss), _fitted(rows)))


def _fitted(rows):
    """Where F_y ≥ log d, standard training."""
    return rows[STD].curve("outputs[0]")[1] >= scale(rows, STD, "log_d")[:, None]


def _grown(rows):
    """Where max B ≥ ϱ/β in some class, standard training."""
    B = classes(rows, STD, "nonrobust_features")[1]
    return (scale(rows, STD, "rho/beta")[:, None, None] <= B).any(-1)


_start_doubt = measure("1 − π_y at t = 0", lambda rows: rows[STD].curve("outputs[1]")[1][:, 0])


def _stage_two(rows):
    """Steps from the first max B ≥ ϱ/β to mean F_y ≥ log d, in units of log d/η."""
    t, _ = rows[STD].curve("outputs[0]")
    steps = first(t, _fitted(rows)) - first(t, _grown(rows))
    return steps * rows[STD].last("step_size") / scale(rows, STD, "log_d")


def _robust_change(rows):
    """The relative change of max A between those two times."""
    A = classes(rows, STD, "robust_features")[1].max(-1)
    one, two = when(A, _grown(rows)), when(A, _fitted(rows))
    return np.maximum(one, two) / np.minimum(one, two) - 1


def _growth(probe):
    def of(rows):
        values = rows[ADV].curve(probe)[1]
        return values.max(1) - values[:, 0]

    return measure(f"max over t of {probe} − its start (adversarial)", of)


def _early_difference(rows):
    """The largest relative difference of A and B between the trainings until Σ B^q of either
    class reaches a tenth of its plateau; NaN if none does."""
    _, total = classes(rows, ADV, "nonrobust_total")
    grown = (total >= 0.1 * scale(rows, ADV, "plateau")[:, None, None]).any(-1)
    until = np.argmax(grown, 1)
    worst = np.where(grown.any(1), 0.0, np.nan)
    for probe in ("robust_features", "nonrobust_features"):
        (_, std), (_, adv) = (classes(rows, label, probe) for label in (STD, ADV))
        gap = np.abs(adv / std - 1).max(-1)
        worst = np.maximum(worst, [g[: i + 1].max() for g, i in zip(gap, until, strict=True)])
    return worst


def _largest_gap(rows):
    return rows[ADV].curve("inner_gap")[1].max(1)


def _robust_at_plateau(rows):
    """max A over log(d) max A(0), largest over classes, when Σ B^q reaches ¾ of its plateau."""
    _, total = classes(rows, ADV, "nonrobust_total")
    _, A = classes(rows, ADV, "robust_features")
    reached = total >= 0.75 * scale(rows, ADV, "plateau")[:, None, None]
    start = A[:, 0].max(-1) * scale(rows, ADV, "log_d")
    return when(A, reached).max(-1) / start


_zero = measure("0", lambda rows: np.zeros(len(rows[STD].seeds)))
_error = lambda probe, label, points=_POINTS: last(probe, label, points)
_perfect = lambda probe, label: level(_error(probe, label), 0, 0.005)  # 1.00 to two digits

checks = {
    "rnrf.fig3.transition": level(
        measure("time at which the slope of B falls below the slope of A", _stall),
        90,
        180,
    ),
    "rnrf.fig3.std_dominated": ordering(
        measure("min over classes of B − 5A (standard)", _dominated), than=_zero
    ),
    "rnrf.phase2.crossing": rules.every(
        ordering(measure("min over classes of A − B (adversarial)", _lead(ADV)), than=_zero),
        ordering(_zero, than=measure("min over classes of A − B (standard)", _lead(STD))),
        level(measure("first t with A > B in both classes", _crossing_time), 100, 1000),
    ),
    "rnrf.fig3.std_acc": rules.every(
        level(_worst_error("test_error", STD), 0, 0.005),
        level(_worst_error("test_error", ADV), 0, 0.005),
    ),
    "rnrf.fig3.robust_rise": rules.every(
        ordering(_accuracy_at("replaced_error", None), than=_accuracy_at("replaced_error", 150)),
        ordering(_accuracy_at("raw_error", None), than=_accuracy_at("raw_error", 150)),
        level(measure("best accuracy under strong attacks at any t", _best_accuracy), 0, 0.01),
    ),
    "rnrf.thm4.3.train_perfect": level(last("train_error", STD), 0, 0),
    "rnrf.thm4.3.test_good": _perfect("test_error", STD),
    "rnrf.thm4.3.nonrobust_features": _perfect("nonrobust_only_error", STD),
    "rnrf.thm4.3.attack": level(_error("replaced_error", STD), 0.995, 1),
    "rnrf.thm4.4.robust_features": _perfect("robust_only_error", ADV),
    "rnrf.thm4.4.train_perfect": level(last("strong_train_error", ADV), 0, 0),
    "rnrf.thm4.4.robust_test": level(_error("suite_error", ADV, 100), 0, 0.05),
    "rnrf.thm4.4.weak": rules.every(
        _perfect("replaced_error", ADV), _perfect("own_attack_error", ADV)
    ),
    "rnrf.lemE.5.balance": at_most(measure("½ − min F_y/max F_y in a class", _imbalance), 0),
    "rnrf.lemE.6.sum": level(measure("ηΣE[1 − π]/log T, end over T = 100", _sum_ratio), 0, 1.5),
    "rnrf.lemD.5.logit": rules.every(
        rules.power(_log_slope, -1.05, -0.95),
        rules.power(_start_doubt, 0.1, 0.9),
        level(measure("largest (1 − π_y)e^F/(k − 1), F_y ≥ log d", _doubt_over_bound), 0, 1.25),
    ),
    "rnrf.lemD.6": rules.every(
        rules.power(_log_slope, -1.05, -0.95), rules.power(_start_doubt, 0.45, 0.55)
    ),
    "rnrf.lemD.11.logF": rules.every(
        rules.power(measure("exponent of e^F in t, from F_y = log d on", _late_growth), 0.8, 1.2),
        rules.power(measure("exponent of 1/L in t, from F_y = log d on", _late_loss), 0.7, 1.3),
    ),
    "rnrf.lemD.10.stage2": rules.every(
        level(measure("steps from B = ϱ/β to F_y = log d, over log d/η", _stage_two), high=10),
        level(measure("relative change of max A meanwhile", _robust_change), 0, 0.1),
    ),
    "rnrf.lemE.3.noise": level(over_start("noise_correlations[1]", STD), 0, 2),
    "rnrf.lemE.10": level(over_start("noise_correlations[1]", ADV), 0, 2),
    "rnrf.lemD.23": level(
        measure("max A over log d × its start, when ΣB³ = ¾ plateau", _robust_at_plateau), 0, 1
    ),
    "rnrf.remark2.5.pgd_inner": level(
        measure("largest (L(PGD-20) − L(one step))/|L|", _largest_gap), high=0.1
    ),
    "rnrf.lemD.21.offdiag_adv": rules.every(
        at_most(_growth("foreign_robust"), 0), at_most(_growth("foreign_nonrobust"), 0)
    ),
    "rnrf.phase1": level(measure("largest relative difference, early", _early_difference), 0, 0.05),
    "rnrf.sec3.decomp": level(last("feature_energy", STD), 0.95, 1),
}

_symbols = {
    "robust_features[0]": r"$\max_r \langle w_{1,r}, u_1\rangle$ (robust)",
    "robust_features[1]": r"$\max_r \langle w_{2,r}, u_2\rangle$ (robust)",
    "nonrobust_features[0]": r"$\max_r \langle w_{1,r}, v_1\rangle$ (non-robust)",
    "nonrobust_features[1]": r"$\max_r \langle w_{2,r}, v_2\rangle$ (non-robust)",
}
_errors = {
    "test_error": "clean",
    "replaced_error": "model-free attack (Thm 4.3)",
    "raw_error": "raw gradient, step 1e3",
    "strong_error": "strong attacks",
}
_radius = {
    "strong_by_radius": "strong attacks on the logit difference",
    "lowering_by_radius": r"sign-PGD on $-F_y$",
    "saturated_by_radius": "sign-PGD on cross-entropy (float32)",
    "raw_by_radius": r"raw gradient of $-F_y$, step 1e3",
    "unproven_by_radius": "proven (interval bound)",
}
_parts = {
    "decomposition[0]": r"$\|A\|$, robust",
    "decomposition[1]": r"$\|B\|$, non-robust",
    "decomposition[2]": r"$\|C\|$, foreign robust",
    "decomposition[3]": r"$\|D\|$, foreign non-robust",
    "decomposition[4]": r"$\|P_\perp W\|$, off the features",
}
_table = {
    "test_error": "clean test error",
    "robust_only_error": "robust features alone",
    "nonrobust_only_error": "non-robust features alone",
    "replaced_error": "model-free attack",
    "own_attack_error": "training attack",
    "suite_error": "full suite of strong attacks",
    "noise_correlations[0]": "max |⟨w, ξ⟩|, whole noise",
    "noise_correlations[1]": "max |⟨w, ξ⟩|, off the features",
}

figures = (
    Curves(
        name="features",
        title="Figure 3: what the filters learn",
        y=tuple(_symbols),
        of=(STD, ADV),
        names=_symbols,
        x_label="iteration t",
        y_label="correlation",
        lines={"paper: near 150": 150},
        moments={"B stalls": Moment(ADV, _stall), "A overtakes B": Moment(ADV, _crossing_time)},
        caption="Mean over seeds, band: smallest to largest seed. Standard training learns the "
        "non-robust features alone; under adversarial training their growth stops and the robust "
        "ones overtake them.",
    ),
    Curves(
        name="errors",
        title="Figure 3: test error by attack",
        y=tuple(_errors),
        of=(STD, ADV),
        names=_errors,
        x_label="iteration t",
        y_label="error",
        caption="Mean over seeds, band: smallest to largest seed. Robustness rises under the weak "
        "attacks alone; the strong ones break every point at every time.",
    ),
    Profile(
        name="radius",
        title="Accuracy at the end against the radius, by attack",
        y=dict.fromkeys(_radius, RADII),
        of=(STD, ADV),
        names=_radius,
        x_label="l∞ radius ε",
        y_label="accuracy",
        complement=True,
        between=("unproven_by_radius", "strong_by_radius"),
        steps={"no classifier above (α ≤ 2ε)": ((0.1, 1.0), (1.0, 0.5), (1.2, 0.5))},
        lines={"training": 1.2},
        caption="Mean over seeds, band: smallest to largest seed. The truth lies in the shaded "
        "bracket. The adversarially trained network is the less robust one at small radii; what "
        "weak attacks leave at ε = 1.2 lies above what any classifier can have.",
    ),
    Curves(
        name="decomposition",
        title="w = P⊥w + A u + B v + Σ (C u + D v): lengths of the parts",
        y=tuple(_parts),
        of=(STD, ADV),
        names=_parts,
        x_label="iteration t",
        y_label="Frobenius norm over all filters",
        log_y=True,
        caption="Mean over seeds, band: smallest to largest seed. The part off the features, which "
        "is not learnt, stays the longest but one and is what an l∞ attack can use everywhere.",
    ),
    Table(
        name="table",
        title="Errors at the end",
        y=tuple(_table),
        of=(STD, ADV),
        names=_table,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
