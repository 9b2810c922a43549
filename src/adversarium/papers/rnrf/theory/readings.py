"""Quantities that RNRF's experiments read from a run: features, outputs and their scales."""

import math
from dataclasses import dataclass

import numpy as np

from adversarium.plans import SHARE, Check, Every, NoDecay, NoGrowth, Parts, Reading, Rows, Where
from adversarium.plans.readings import log_growth, when

A, B = "robust_features", "nonrobust_features"  # rows: max_r A_{i,r}, max_r B_{i,r} of each class i
TOTAL = "nonrobust_total"  # row: Σ_s max(B_{i,s}, 0)^q of each class i


def geometric(steps: int) -> tuple[int, ...]:
    """Return record times that grow by 8 %, so a time read from them is at most 8 % too late.

    >>> geometric(8)
    (0, 1, 2, 3, 4, 5, 6, 7)
    """
    times = {round(1.08**i) for i in range(math.ceil(math.log(steps) / math.log(1.08)))}
    return (0, *sorted(t for t in times if t < steps))


def log_d(rows: Rows) -> float:
    """log d, the output at which a point counts as fitted, Lemmas D.5 and D.10 of RNRF."""
    return math.log(rows.run.data.d)


def threshold(rows: Rows, feature: str) -> float:
    """ϱ/α for A and ϱ/β for B, where s becomes linear, Lemmas D.9 and D.24 of RNRF."""
    data = rows.run.data
    return float(rows.run.network.rho / {A: data.alpha, B: data.beta}[feature])


def plateau(rows: Rows) -> float:
    """ϱ^{q−1}/(η̃ β^{q−2}), where κ_B = 1 in Lemma 5.2 of RNRF; ∞ without an attack."""
    run = rows.run
    q, step = run.network.q, 0.0 if run.attack is None else run.attack.step_size
    return run.network.rho ** (q - 1) / (step * run.data.beta ** (q - 2)) if step else math.inf


def pull_ratio(rows: Rows) -> float:
    """S = Σ_R α^q/Σ_NR β^q, the growth rate of A over that of B, Lemmas B.2 and D.9 of RNRF."""
    data, q = rows.run.data, rows.run.network.q
    return float(data.n_robust * data.alpha**q / ((data.P - data.n_robust) * data.beta**q))


def linear(rows: Rows, feature: str) -> np.ndarray:
    """Return whether a feature has reached its threshold, (seed, t, class)."""
    return rows[feature].values >= threshold(rows, feature)


def _turned_linear(rows: Rows) -> np.ndarray:
    """Return 1 if max A reaches ϱ/α in every class within the run, else 0."""
    return linear(rows, A).any(1).all(-1).astype(float)


turned_linear = Reading("max A reaches ϱ/α, 0 no, 1 yes", _turned_linear, (A,), SHARE)


def at_threshold(feature: str, reached: str) -> Reading:
    """Return one feature at the time when the other reaches its threshold, mean over classes."""

    def value(rows: Rows) -> np.ndarray:
        return when(rows[feature].values, linear(rows, reached)).mean(-1)

    return Reading(f"{feature} when {reached} turn linear", value, (feature, reached))


def over_classes(name: str) -> Reading:
    """Return the last value, mean over classes."""
    return Reading(
        f"{name} at the end, mean over classes", lambda rows: rows.last(name).mean(-1), (name,)
    )


@dataclass(frozen=True)
class Points:
    """The training points at which outputs are read: their label, and the prefix of their rows."""

    label: str
    prefix: str = ""

    def row(self, name: str) -> str:
        """Return the name of the rows of an output."""
        return f"{self.prefix}{name}"


CLEAN, ATTACKED = Points(""), Points("(X̃)", "attacked_")


def fitted(rows: Rows, points: Points, share: float = 1.0) -> np.ndarray:
    """Return whether the mean of F_y is at least a share of log d, (seed, t)."""
    return rows[points.row("true_logit")].values >= share * log_d(rows)


def _log_d_per_seed(rows: Rows) -> np.ndarray:
    """Return log d, one number per seed."""
    return np.full(len(rows.seeds), log_d(rows))


def logit_growth(points: Points) -> Reading:
    """Return the exponent of e^F in t once F_y ≥ log d, Lemmas D.11 and D.26 of RNRF.

    It is 1 if F_y grows like log t.
    """
    logit = points.row("true_logit")

    def exponent(rows: Rows) -> np.ndarray:
        return log_growth(*rows.curve(logit), _log_d_per_seed(rows))

    return Reading(
        f"exponent of e^F{points.label} in t, from F_y{points.label} = log d on", exponent, (logit,)
    )


def _largest(name: str) -> Reading:
    """Return the largest value at any record time, or NaN if it was never above 0."""

    def largest(rows: Rows) -> np.ndarray:
        top = rows[name].values.max(1)
        return np.where(top > 0, top, np.nan)

    return Reading(f"largest {name}", largest, (name,))


def _first(name: str) -> Reading:
    """Return the value at t = 0."""
    return Reading(f"{name} at t = 0", lambda rows: rows[name].values[:, 0], (name,))


def _wrong_classes(k: float) -> float:
    """Return the number of wrong classes."""
    return k - 1


def tail_checks(
    diagonal: str, other: str, points: Points, runs: Where, regime: Check
) -> dict[str, Check]:
    """Check Lemmas D.5 and D.6 of RNRF (D.19 and D.20 at attacked inputs) along k.

    The probabilities of wrong classes are tested at the start, and scaled by e^{F_y} once F_y ≥ ½
    log d. The corrected diagonal lemma has the number of wrong classes as a factor.
    """
    doubt, wrong, least, low, high = (
        points.row(name)
        for name in (
            "scaled_doubt",
            "scaled_wrong",
            "least_doubt",
            "least_wrong",
            "largest_wrong",
        )
    )
    X = points.label
    at_start = NoDecay(f"slope in k of least 1 − π_y{X} at t = 0", _first(least), "k", runs)
    label = f"slope in k of (1 − π_y{X})e^F"
    named: dict[str, dict[str, Check]] = {
        diagonal: (
            {
                "Θ(1) at the start": at_start,
                "O(d^−c) once F_y ≥ c log d": NoGrowth(label, _largest(doubt), "k", runs),
            }
        ),
        f"{diagonal}.corrected": (
            {
                "Θ(1) at the start": at_start,
                "O(k d^−c) once F_y ≥ c log d": NoGrowth(
                    f"{label}/(k − 1)", _largest(doubt), "k", runs, per=_wrong_classes
                ),
            }
        ),
        other: (
            {
                "Ω(1/k) at the start": NoDecay(
                    f"slope in k of least kπ_i{X} at t = 0", _first(low), "k", runs
                ),
                "O(1/k) at the start": NoGrowth(
                    f"slope in k of largest kπ_i{X} at t = 0", _first(high), "k", runs
                ),
                "O(d^−c) once F_y ≥ c log d": NoGrowth(
                    f"slope in k of π_i{X}e^F", _largest(wrong), "k", runs, logs=1
                ),
            }
        ),
    }
    return {id: Every(Parts(checks), regime) for id, checks in named.items()}
