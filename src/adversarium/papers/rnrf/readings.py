"""What RNRF's experiments read off a run: its features and outputs, beside the scales of its own
parts."""

import math
from dataclasses import dataclass

import numpy as np

from adversarium.plans import Check, Reading, Rows, Where, power
from adversarium.plans.readings import log_growth, over_start, slope_above, when

A, B = "robust_features", "nonrobust_features"  # max_r A_{i,r} and max_r B_{i,r} of every class i
TOTAL = "nonrobust_total"  # Σ_s max(B_{i,s}, 0)^q of every class i


def log_d(rows: Rows) -> float:
    """log d, the output from which a point is fitted, Lemmas D.5 and D.10 of RNRF."""
    return math.log(rows.run.data.d)


def threshold(rows: Rows, feature: str) -> float:
    """ϱ/α of A and ϱ/β of B, where s turns linear, Lemmas D.9 and D.24 of RNRF."""
    data = rows.run.data
    return float(rows.run.network.rho / {A: data.alpha, B: data.beta}[feature])


def plateau(rows: Rows) -> float:
    """ϱ^{q−1}/(η̃ β^{q−2}), where κ_B = 1 in Lemma 5.2 of RNRF; ∞ without an attack."""
    run = rows.run
    q, step = run.network.q, 0.0 if run.attack is None else run.attack.step_size
    return run.network.rho ** (q - 1) / (step * run.data.beta ** (q - 2)) if step else math.inf


def pull_ratio(rows: Rows) -> float:
    """S = Σ_R α^q/Σ_NR β^q, how fast A grows beside B, Lemmas B.2 and D.9 of RNRF."""
    data, q = rows.run.data, rows.run.network.q
    return float(data.n_robust * data.alpha**q / ((data.P - data.n_robust) * data.beta**q))


def linear(rows: Rows, feature: str) -> np.ndarray:
    """Where a feature has reached its threshold, (seed, t, class)."""
    return rows[feature].values >= threshold(rows, feature)


def at_threshold(feature: str, reached: str) -> Reading:
    """One feature when the other reaches its threshold, mean over classes."""

    def value(rows: Rows) -> np.ndarray:
        return when(rows[feature].values, linear(rows, reached)).mean(-1)

    return Reading(f"{feature} when {reached} turn linear", value, (feature, reached))


def over_classes(name: str) -> Reading:
    """The last value, mean over classes."""
    return Reading(
        f"{name} at the end, mean over classes", lambda rows: rows.last(name).mean(-1), (name,)
    )


def largest_over_start(name: str) -> Reading:
    """The largest value at any record time over the first."""
    return Reading(
        f"{name} over its start, largest", lambda rows: over_start(rows[name].values), (name,)
    )


@dataclass(frozen=True)
class Points:
    """The training points at which outputs are read: how they are told, and their rows' prefix."""

    told: str
    prefix: str = ""

    def row(self, name: str) -> str:
        """The name of an output's rows."""
        return f"{self.prefix}{name}"


CLEAN, ATTACKED = Points(""), Points("(X̃)", "attacked_")


def fitted(rows: Rows, points: Points) -> np.ndarray:
    """Where the mean of F_y is at least log d, (seed, t)."""
    return rows[points.row("true_logit")].values >= log_d(rows)


def _log_d_a_seed(rows: Rows) -> np.ndarray:
    return np.full(len(rows.seeds), log_d(rows))


def logit_growth(points: Points) -> Reading:
    """The exponent of e^F in t once F_y ≥ log d: 1 where F_y grows like log t, Lemmas D.11 and
    D.26 of RNRF."""
    logit = points.row("true_logit")

    def exponent(rows: Rows) -> np.ndarray:
        return log_growth(*rows.curve(logit), _log_d_a_seed(rows))

    return Reading(
        f"exponent of e^F{points.told} in t, from F_y{points.told} = log d on", exponent, (logit,)
    )


def doubt_law(points: Points, run: Where, low: float, high: float) -> tuple[Check, Check]:
    """1 − π_y ∝ e^{−F_y} once F_y ≥ log d, and at the start within a range, Lemmas D.5, D.6, D.19
    and D.20 of RNRF."""
    X = points.told
    logit, doubt, log_doubt = (points.row(n) for n in ("true_logit", "doubt", "log_doubt"))

    def slope(rows: Rows) -> np.ndarray:
        return slope_above(rows[logit].values, rows[log_doubt].values, _log_d_a_seed(rows))

    def start(rows: Rows) -> np.ndarray:
        return rows[doubt].values[:, 0]

    falls = Reading(f"slope of log(1 − π_y{X}) in F_y{X} ≥ log d", slope, (logit, log_doubt))
    begins = Reading(f"1 − π_y{X} at t = 0", start, (doubt,))
    return power(falls.on(run), -1.05, -0.95), power(begins.on(run), low, high)
