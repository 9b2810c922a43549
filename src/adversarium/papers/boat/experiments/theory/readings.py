"""Define the events and quantities that checks read from BOAT's theory runs, one value per seed."""

import math
from collections.abc import Iterator

import numpy as np
import torch

from adversarium.plans import Reading, Rows
from adversarium.plans.intervals import slope

C1 = 10.0  # 10/κ, with κ = 1 in units of N(0, I) noise
LATE = 20  # fits of growth in t start at this step


def _read(name, of, *names):
    return Reading(name, lambda run: np.asarray(of(run), dtype=float), names)


def _last(run: Rows, name: str) -> np.ndarray:
    return run.last(name)


PROVEN = "worst(certified_error)"
never_wrong = _read(
    "no training point can be broken, t ≥ 1", lambda r: _last(r, PROVEN) <= 0, PROVEN
)
right_at_end = _read(
    "no training point can be broken at the end", lambda r: _last(r, "certified_error") <= 0,
    "certified_error",
)  # fmt: skip


def _alpha(run: Rows) -> float:
    return float(run.run.attack.radius)


def gamma_of(run: Rows) -> float:
    """Return γ: the smallest slope of a smooth activation; 1 for ReLU, whose slope matters only for
    z > 0."""
    return float(getattr(run.run.network.activation, "gamma", 1.0))


def _c0(run: Rows) -> np.ndarray:
    """Return c₀ of Lemma 4.5 as measured in the same run at t = 0; 1 for smooth activations."""
    if hasattr(run.run.network.activation, "gamma"):
        return np.ones(len(run.seeds))
    return np.minimum(_last(run, "active_points_0"), _last(run, "active_units_0"))


ACTIVE = ("active_points_0", "active_units_0")


def _near_span(run: Rows) -> np.ndarray:
    net, data = run.run.network, run.run.data
    allowed = min(net.omega * math.sqrt(net.m * float(data.d)) / run.run.eta, _alpha(run))
    return _last(run, "span_distance") <= allowed * (1 + 1e-9)


near_span = _read("dist(x̃, span X) ≤ min(ω√(md)/η, α)", _near_span, "span_distance")


def mu_inner_within(least: float) -> Reading:
    """Return the event that y_c⟨μ, x̃⟩/‖μ‖² stays between `least` and 3."""
    return _read(
        f"{least:.2g} ≤ y_c⟨μ, x̃⟩/‖μ‖² ≤ 3",
        lambda r: (_last(r, "least_mu") >= least) & (_last(r, "largest_mu") <= 3),
        "least_mu", "largest_mu",
    )  # fmt: skip


angle = _read("median angle", lambda r: r["attack_turn"].values[:, 0], "attack_turn")
late_angle = _read("median angle", lambda r: _last(r, "attack_turn"), "attack_turn")
median_angle_degrees = _read(
    "median angle at the end, in degrees", lambda r: np.degrees(_last(r, "attack_turn")),
    "attack_turn",
)  # fmt: skip
largest_angle_degrees = _read(
    "largest angle at the end, in degrees",
    lambda r: np.degrees(np.arccos(_last(r, "least_cosine").clip(-1, 1))), "least_cosine",
)  # fmt: skip
pairs_stay_active = _read(
    "A(t)∩T ⊂ A(t+1)∩T for all t", lambda r: _last(r, "lost_pairs") == 0, "lost_pairs"
)


def _two_sided(run: Rows) -> np.ndarray:
    data, alpha = run.run.data, _alpha(run)
    low = _c0(run) * gamma_of(run) ** 2 * (C1**-0.5 - alpha / math.sqrt(data.d)) ** 2 / 2
    high = 3 * (C1 + alpha**2 / data.d)
    return (_last(run, "proven_increment") >= low) & (_last(run, "largest_increment") <= high)


two_sided = _read(
    "both bounds of the increment, proven", _two_sided, "proven_increment", "largest_increment",
    *ACTIVE,
)  # fmt: skip
margins_rise = _read(
    "no margin falls, proven", lambda r: _last(r, "proven_increment") >= 0, "proven_increment"
)
share_1 = _read(
    "every share of active pairs ≥ 1/20, t = 1",
    lambda r: np.minimum(_last(r, "active_points_1"), _last(r, "active_units_1")) >= 0.05,
    "active_points_1", "active_units_1",
)  # fmt: skip
share_0 = _read("every share of active pairs ≥ 1/20, t = 0", lambda r: _c0(r) >= 0.05, *ACTIVE)
counts_do_not_fall = _read(
    "no count falls from t = 0 to 1", lambda r: _last(r, "active_kept") == 1, "active_kept"
)
first_step_moves = _read(
    "‖W¹ − W⁰‖/‖W⁰‖ ≥ γ‖μ‖/10", lambda r: _last(r, "first_move") >= gamma_of(r) / 10, "first_move"
)
signs_aligned = _read(
    "P[some unit has the other sign] ≤ 4(d/n)^−11", lambda r: _last(r, "sign_excess") <= 0,
    "sign_excess",
)  # fmt: skip
increments_aligned = _read(
    "P[some w_s − w_s⁰ has the other sign] ≤ 3(d/n)^−11",
    lambda r: _last(r, "increment_sign_excess") <= 0,
    "increment_sign_excess",
)
constant_needed = _read(
    "C″ that is needed at c₇ = 0.2 (1 where less is)",
    lambda r: np.maximum(_last(r, "needed_constant"), 1.0), "needed_constant",
)  # fmt: skip
gradient_steep = _read(
    "⟨−∇L̂, V⟩ ≥ γc₀‖μ‖Ĝ/4",
    lambda r: _last(r, "gradient_along_mu") >= gamma_of(r) * _c0(r) / 4,
    "gradient_along_mu", *ACTIVE,
)  # fmt: skip
loss_below_average = _read(
    "L̂(W^T) ≤ (2/T)ΣĜ for all T", lambda r: _last(r, "loss_over_average") <= 1,
    "loss_over_average",
)  # fmt: skip


def _unit(run: Rows) -> float:
    """Return n‖μ‖⁴/d."""
    data = run.run.data
    return float(run.run.n * data.mu**4 / data.d)


def _rate(run: Rows) -> np.ndarray:
    """Return ½s² over n‖μ‖⁴/d, where err_c = Φ(−s). It is a lower bound of −log err_c over
    n‖μ‖⁴/d that a Gaussian margin keeps exactly proportional to s²."""
    from scipy.special import ndtri_exp

    return np.asarray(ndtri_exp(_last(run, "log_error")) ** 2 / 2 / _unit(run), dtype=float)


rate = _read("½s²/(n‖μ‖⁴/d), err_c = Φ(−s)", _rate, "log_error")


def _promised(run: Rows, error: str, radius: float) -> np.ndarray:
    """Return ½(margin/‖W‖₂ − α)² of Lemma 4.2 divided by −log of the error; 0 if α exceeds the
    margin."""
    margin = _last(run, "margin_share") * math.sqrt(_unit(run))
    return np.asarray((margin - radius).clip(0) ** 2 / 2 / -_last(run, error), dtype=float)


clean_promise = _read(
    "½(margin/‖W‖₂)² over −log err_c", lambda r: _promised(r, "log_error", 0.0),
    "margin_share", "log_error",
)  # fmt: skip
robust_promise = _read(
    "½(margin/‖W‖₂ − α)² over −log of the robust error",
    lambda r: _promised(r, "log_unproven", _alpha(r)),
    "margin_share", "log_unproven",
)  # fmt: skip


def unattacked_order(run: Rows) -> np.ndarray:
    """Return max |⟨x̃_i, x̃_j⟩| divided by ‖μ‖² + √(d log(n/δ)), which leaves out the attack's
    term."""
    data, n = run.run.data, run.run.n
    d = float(data.d)
    plain = data.mu**2 + math.sqrt(d * math.log(n / 0.1))
    return _last(run, "cross_inner") * (plain + _alpha(run) * math.sqrt(d / n)) / plain


def _attacked_order(run: Rows) -> np.ndarray:
    data, n = run.run.data, run.run.n
    d, k = float(data.d), 2 if hasattr(run.run.network.activation, "gamma") else 4
    plain, share = data.mu**2 + math.sqrt(d * math.log(n / 0.1)), _alpha(run) * math.sqrt(d / n)
    return _last(run, "cross_inner") * (plain + share) / (plain + k * share)


def _cross_times_n_over_d(run: Rows) -> np.ndarray:
    """Return n max |⟨x̃_i, x̃_j⟩|/d, which must be small for the updates of different points not to
    interfere."""
    data, n = run.run.data, run.run.n
    d = float(data.d)
    law = data.mu**2 + math.sqrt(d * math.log(n / 0.1)) + _alpha(run) * math.sqrt(d / n)
    return _last(run, "cross_inner") * law * n / d


cross_needed = _read("n max |⟨x̃_i, x̃_j⟩|/d", _cross_times_n_over_d, "cross_inner")
cross_attacked = _read(
    "max |⟨x̃_i, x̃_j⟩|/(‖μ‖² + √(d log(n/δ)) + kα√(d/n))", _attacked_order, "cross_inner"
)
cross_unattacked = _read("max |⟨x̃_i, x̃_j⟩|/(‖μ‖² + √(d log(n/δ)))", unattacked_order, "cross_inner")


def _log_floor(run: Rows) -> float:
    """Return log(lower bound − β), with the lower bound of Theorem 3.2 of BOAT for Gaussian
    noise."""
    data = run.run.data
    reach = torch.tensor(_alpha(run) - data.mu, dtype=torch.float64)
    tail = float(torch.special.log_ndtr(reach))  # half of the overlap
    return tail + math.log((1 - 2 * data.beta) / 2)


bounds_exponent = _read(
    "log of the robust error over log(LBD − β)",
    lambda r: _last(r, "log_unproven") / _log_floor(r),
    "log_unproven",
)


def exponent_quotients(c: float = 0.5) -> Iterator[float]:
    """Yield E·C²/(2c·n‖μ‖²/d) over a grid, where E = 2c((√x/C − r)/(1 − r))² is the exponent of the
    paper's upper bound divided by that of its lower bound.

    It is at most 1, because (u − r)/(1 − r) ≤ u for 0 ≤ r ≤ u ≤ 1, and 0 at r = u.
    """
    for C in (2.0, 4.0, 8.0, 16.0):
        for x in np.geomspace(1e-6, 1 / C, 40):
            u = math.sqrt(x) / C
            for r in np.linspace(0, u, 41):
                E = 2 * c * ((u - r) / (1 - r)) ** 2
                yield float(E * C**2 / (2 * c * x))


def in_time(epsilon: float) -> Reading:
    """Return T_ε/T̄(ε) of Theorem 3.1 with ζ = 0, where T_ε is bounded from above by the first
    recorded time with a loss of at most ε."""

    def share(run: Rows) -> np.ndarray:
        t, values = run.curve("risk")
        one = run.run
        m, d = one.network.m, float(one.data.d)
        scale = gamma_of(run) * one.data.mu * one.eta * epsilon
        bound = ((35 + 8 * math.sqrt(m / d**3)) / scale) ** 2
        below = values <= epsilon
        return np.where(below.any(1), t[below.argmax(1)], math.nan) / bound

    return _read(f"T_ε/T̄(ε), ε = {epsilon:g}", share, "risk")


def _power(t: np.ndarray, values: np.ndarray, since: float) -> np.ndarray:
    """Return the power of t in a curve from `since` on, or NaN with fewer than three points."""
    late = (t >= since) & (t > 0)
    return slope(t[late], values[:, late]) if late.sum() > 2 else np.full(len(values), np.nan)


def _falls(run: Rows) -> np.ndarray:
    """Return the power of t in the robust loss over the last decade of the run."""
    t, values = run.curve("risk")
    return _power(t, values, t[-1] / 10)


falls = _read("power of t in L̂", _falls, "risk")


def _scaled(run: Rows) -> np.ndarray:
    """Return L̂γ‖μ‖√(ηT) at every recorded time, (seed, t)."""
    t, values = run.curve("risk")
    return values * gamma_of(run) * run.run.data.mu * np.sqrt(run.run.eta * t)


scaled_loss = _read("largest L̂γ‖μ‖√(ηT)", lambda r: _scaled(r).max(1), "risk")


def _bound_share(run: Rows) -> np.ndarray:
    net = run.run.network
    allowed = 30 + 6 * net.m**0.25 / math.sqrt(net.activation.H)
    return np.asarray(_scaled(run).max(1) / allowed, dtype=float)


bound_share = _read("largest L̂γ‖μ‖√(ηT)/(30 + 6m^¼/√H)", _bound_share, "risk")


def _norm_share(run: Rows) -> np.ndarray:
    t, values = run.curve("weight_norm")
    # homogeneous activations: C₂ = 1, the smallest admissible value
    net, allowed = run.run.network, 5 / 3
    if hasattr(net.activation, "gamma"):
        allowed += (1 - net.activation.gamma) * math.sqrt(net.m) / (2 * net.activation.H)
    grown = (values[:, 1:] ** 2 - values[:, :1] ** 2) / (run.run.eta * t[1:])
    return np.asarray(grown.max(1) / allowed, dtype=float)


norm_share = _read("largest (‖W^T‖² − ‖W⁰‖²)/(ηT) over its bound", _norm_share, "weight_norm")


def _c8_bound(run: Rows) -> np.ndarray:
    """Return an upper bound of the smallest c₈.

    The supremum over x is attained at ξ ∥ w_s or at ξ = 0. At ξ = 0, φ′ ≤ 1 bounds |⟨w_s − w_s⁰,
    μ⟩| by (η/√m) max|⟨x̃, μ⟩| ΣĜ, and ω bounds the contribution of w_s⁰.
    """
    data, net, alpha = run.run.data, run.run.network, _alpha(run)
    start = 2 * math.sqrt(1.5) * net.omega * math.sqrt(net.m * float(data.d)) / run.run.eta
    straight = (_last(run, "largest_mu") * data.mu + start) / (data.mu + alpha)
    return np.maximum(_last(run, "unit_length"), straight)


c8_bound = _read("an upper bound of c₈", _c8_bound, "unit_length", "largest_mu")


def _late_ratio(run: Rows) -> np.ndarray:
    t, values = run.curve("loss_ratio")
    return _power(t, values, LATE)


def _late_growth(run: Rows) -> np.ndarray:
    """Return the power of t in ‖W‖ − ‖W⁰‖, which is 1 if ‖W‖ grows linearly."""
    t, values = run.curve("weight_norm")
    return _power(t, values - values[:, :1], LATE)


late_ratio = _read("power of t in max g̃_i/g̃_j", _late_ratio, "loss_ratio")
late_norm = _read("power of t in ‖W‖ − ‖W⁰‖", _late_growth, "weight_norm")
