"""The checks of BOAT's theorem and lemmas along the ladder of C and the arms."""

import math

import numpy as np

from adversarium.papers.boat.families import SHARP, SMOOTH
from adversarium.plans import (
    Check,
    Reading,
    Rows,
    Where,
    counted_as,
    each,
    end,
    every,
    exponent,
    ladder,
    no_decay,
    no_growth,
    parts,
    power,
    where,
)
from adversarium.plans.intervals import slope

BOTH = (SHARP, SMOOTH)
C1 = 10.0  # 10/κ, κ = 1 in units of N(0, I) noise
ARMS = ("n", "d", "‖μ‖", "m", "α/‖μ‖")
LATE = 20  # growth in t is read from there on


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


def _gamma(run: Rows) -> float:
    """γ: the least slope of a smooth activation; 1 for ReLU, whose slope counts for z > 0."""
    return float(getattr(run.run.network.activation, "gamma", 1.0))


def _c0(run: Rows) -> np.ndarray:
    """c₀ of Lemma 4.5 as the same run has it at t = 0; 1 for smooth activations."""
    if hasattr(run.run.network.activation, "gamma"):
        return np.ones(len(run.seeds))
    return np.minimum(_last(run, "active_points_0"), _last(run, "active_units_0"))


ACTIVE = ("active_points_0", "active_units_0")


def _near_span(run: Rows) -> np.ndarray:
    net, data = run.run.network, run.run.data
    allowed = min(net.omega * math.sqrt(net.m * float(data.d)) / run.run.eta, _alpha(run))
    return _last(run, "span_distance") <= allowed * (1 + 1e-9)


near_span = _read("dist(x̃, span X) ≤ min(ω√(md)/η, α)", _near_span, "span_distance")


def _along(least: float) -> Reading:
    return _read(
        f"{least:.2g} ≤ y_c⟨μ, x̃⟩/‖μ‖² ≤ 3",
        lambda r: (_last(r, "least_mu") >= least) & (_last(r, "largest_mu") <= 3),
        "least_mu", "largest_mu",
    )  # fmt: skip


angle = _read(
    "median angle", lambda r: np.arccos(np.clip(r["median_cosine"].values[:, 0], -1, 1)),
    "median_cosine",
)  # fmt: skip
late_angle = _read(
    "median angle", lambda r: np.arccos(np.clip(_last(r, "median_cosine"), -1, 1)), "median_cosine"
)
kept = _read("A(t)∩T ⊂ A(t+1)∩T for all t", lambda r: _last(r, "lost_pairs") == 0, "lost_pairs")


def _two_sided(run: Rows) -> np.ndarray:
    data, alpha = run.run.data, _alpha(run)
    low = _c0(run) * _gamma(run) ** 2 * (C1**-0.5 - alpha / math.sqrt(data.d)) ** 2 / 2
    high = 3 * (C1 + alpha**2 / data.d)
    return (_last(run, "proven_increment") >= low) & (_last(run, "largest_increment") <= high)


two_sided = _read(
    "both bounds of the increment, proven", _two_sided, "proven_increment", "largest_increment",
    *ACTIVE,
)  # fmt: skip
rising = _read(
    "no margin falls, proven", lambda r: _last(r, "proven_increment") >= 0, "proven_increment"
)
share_1 = _read(
    "every share of active pairs ≥ 1/20, t = 1",
    lambda r: np.minimum(_last(r, "active_points_1"), _last(r, "active_units_1")) >= 0.05,
    "active_points_1", "active_units_1",
)  # fmt: skip
share_0 = _read("every share of active pairs ≥ 1/20, t = 0", lambda r: _c0(r) >= 0.05, *ACTIVE)
more = _read(
    "no count falls from t = 0 to 1", lambda r: _last(r, "active_kept") == 1, "active_kept"
)
moved = _read(
    "‖W¹ − W⁰‖/‖W⁰‖ ≥ γ‖μ‖/10", lambda r: _last(r, "first_move") >= _gamma(r) / 10, "first_move"
)
aligned = _read(
    "P[some unit has the other sign] ≤ 4(d/n)^−11", lambda r: _last(r, "sign_excess") <= 0,
    "sign_excess",
)  # fmt: skip
increments_aligned = _read(
    "P[some w_s − w_s⁰ has the other sign] ≤ 3(d/n)^−11",
    lambda r: _last(r, "increment_sign_excess") <= 0,
    "increment_sign_excess",
)
steep = _read(
    "⟨−∇L̂, V⟩ ≥ γc₀‖μ‖Ĝ/4",
    lambda r: _last(r, "gradient_along_mu") >= _gamma(r) * _c0(r) / 4,
    "gradient_along_mu", *ACTIVE,
)  # fmt: skip
averaged = _read(
    "L̂(W^T) ≤ (2/T)ΣĜ for all T", lambda r: _last(r, "loss_over_average") <= 1,
    "loss_over_average",
)  # fmt: skip


def _unit(run: Rows) -> float:
    """n‖μ‖⁴/d."""
    data = run.run.data
    return float(run.run.n * data.mu**4 / data.d)


rate = _read("−log err_c/(n‖μ‖⁴/d)", lambda r: -_last(r, "log_error") / _unit(r), "log_error")


def _power(t: np.ndarray, values: np.ndarray, since: float) -> np.ndarray:
    """The power of t in a curve from a time on; NaN without three."""
    late = (t >= since) & (t > 0)
    return slope(t[late], values[:, late]) if late.sum() > 2 else np.full(len(values), np.nan)


def _falls(run: Rows) -> np.ndarray:
    """The power of t in the robust loss over the last decade of the run."""
    t, values = run.curve("risk")
    return _power(t, values, t[-1] / 10)


falls = _read("power of t in L̂", _falls, "risk")


def _late(name: str):
    def slopes(run: Rows) -> np.ndarray:
        t, values = run.curve(name)
        return _power(t, values, LATE)

    return slopes


late_ratio = _read("power of t in max g̃_i/g̃_j", _late("loss_ratio"), "loss_ratio")
late_norm = _read("power of t in ‖W‖", _late("weight_norm"), "weight_norm")


def climbed(event: Reading, families=("L", "A"), phis=BOTH, always=False) -> Check:
    """An event at the two top rungs of every family."""
    return every(
        *(
            ladder(f"{event.name} ({family}, {phi})", event, "C", where(family, φ=phi),
                   always=always)
            for family in families
            for phi in phis
        )
    )  # fmt: skip


def flat(rule, number: str | Reading, phis=BOTH, arms=ARMS, logs=0.0) -> list[Check]:
    """No trend along any arm."""
    reading = end(number) if isinstance(number, str) else number
    return [
        rule(f"power of {arm} in {reading.name} ({phi})", reading, arm,
             where(f"arm {arm}", φ=phi), logs)
        for arm in arms
        for phi in phis
    ]  # fmt: skip


def rung_trend(rule, number: Reading, families=("L",), phis=BOTH) -> list[Check]:
    """No trend along the ladder itself."""
    return [
        rule(f"power of C in {number.name} ({family}, {phi})", number, "C", where(family, φ=phi))
        for family in families
        for phi in phis
    ]


def _tends_to_zero(number: Reading, place: str, phi: str) -> Check:
    told = f"power of C in the {number.name} ({place}, {phi})"
    return exponent(told, number, "C", where("L", φ=phi), -0.1, (math.inf, 0.0))


def _at_most(number: Reading, most: float, meant: Where) -> Check:
    """A power of t, fitted in every such run."""
    return each(meant, lambda run: power(number.on(run), -math.inf, most))


def _inequality(*checks: Check) -> Check:
    return counted_as("inequality", every(*checks))


checks: dict[str, Check] = {
    "boat.thm3.1.train_error": counted_as(
        "inequality",
        parts(
            {
                "small attack": climbed(never_wrong, ("L",)),
                "α = ‖μ‖": climbed(never_wrong, ("A",)),
                "after the first step, at the printed η": climbed(
                    never_wrong, ("first step, L", "first step, A")
                ),
                "flips of the nearest and farthest points": climbed(
                    never_wrong, ("near", "far"), (SHARP,)
                ),
            }
        ),
    ),
    "boat.thm3.1.alpha_up_to_mu": counted_as(
        "level",
        parts(
            {
                "robust training error 0": climbed(never_wrong, ("A",)),
                "L̂ falls at least like T^−½": every(
                    *(_at_most(falls, -0.5, where("A", φ=phi, C=8)) for phi in BOTH)
                ),
                "clean error as without attack": every(*rung_trend(no_decay, rate, ("A",))),
            }
        ),
    ),
    "boat.sec4.relaxed_dim": counted_as(
        "level",
        parts(
            {
                "robust training error 0 from t = 1 on": climbed(never_wrong, ("R",)),
                "robust training error 0 at the end": climbed(right_at_end, ("R",)),
                "Lemma 4.1": climbed(near_span, ("R",)),
                "Lemma B.11": climbed(_along(1 / 3), ("R",)),
                "the margin's law": every(*rung_trend(no_decay, end("least_margin_share"), ("R",))),
                "clean error": every(*rung_trend(no_decay, rate, ("R",))),
            }
        ),
    ),
    "boat.lem4.1.span_distance": counted_as(
        "inequality",
        parts(
            {
                "small attack": climbed(near_span, ("L",), always=True),
                "α = ‖μ‖": climbed(near_span, ("A",), always=True),
                "linear in ω": exponent(
                    "power of ω in the distance",
                    end("span_distance"),
                    "ω√(md)/η",
                    where("arm ω"),
                    1.0,
                    0.1,
                ),
            }
        ),
    ),
    "boat.sec4.1.angle": counted_as(
        "level",
        parts(
            {
                f"{phi}, {place}": _tends_to_zero(number, place, phi)
                for phi in BOTH
                for place, number in (("t = 1", angle), ("at the end", late_angle))
            }
        ),
    ),
    "boat.lemB.11.mu_inner": _inequality(
        climbed(_along(1 / 3), phis=(SMOOTH,), always=True),
    ),
    "boat.lemB.28.mu_inner": _inequality(climbed(_along(1 / 2), phis=(SHARP,), always=True)),
    "boat.lemB.14.norm_margin": _inequality(*flat(no_decay, "least_margin_share", (SMOOTH,))),
    "boat.lemB.33.norm_margin": counted_as(
        "level", every(*flat(no_decay, "least_margin_share", (SHARP,)))
    ),
    "boat.lemB.30.neuron_increment": climbed(increments_aligned, ("signs, L",), (SHARP,)),
    "boat.corB.31.neuron_sign": climbed(aligned, ("signs, L", "signs, A"), (SHARP,)),
    "boat.lemB.32.neuron_upper": _inequality(*flat(no_growth, "unit_length", (SHARP,))),
    "boat.lem4.4.loss_ratio": counted_as(
        "inequality",
        parts(
            {
                "smoothed leaky ReLU, over sizes": every(
                    *flat(no_growth, "largest_ratio", (SMOOTH,))
                ),
                "ReLU, over sizes": every(*flat(no_growth, "largest_ratio", (SHARP,))),
                "in t": every(
                    *(_at_most(late_ratio, 0.03, where("long", φ=phi, C=8)) for phi in BOTH)
                ),
            }
        ),
    ),
    "boat.lem4.5.active_counts": counted_as(
        "inequality",
        parts(
            {
                "t = 0": climbed(share_0, phis=(SHARP,), always=True),
                "t = 1": climbed(share_1, phis=(SHARP,), always=True),
                "no count falls": climbed(more, phis=(SHARP,), always=True),
            }
        ),
    ),
    "boat.lemB.26.E1": _inequality(climbed(kept, phis=(SHARP,), always=True)),
    "boat.lemB.26.E2": counted_as(
        "inequality",
        parts(
            {
                "the printed bounds": climbed(two_sided, phis=(SHARP,), always=True),
                "lower bound, no decay along n, d, ‖μ‖, m": every(
                    *flat(no_decay, "found_increment", (SHARP,), ARMS[:4])
                ),
                "upper bound, no growth along n, d, ‖μ‖, m": every(
                    *flat(no_growth, "largest_increment", (SHARP,), ARMS[:4])
                ),
            }
        ),
    ),
    "boat.lemB.9.margin_monotone": _inequality(climbed(rising, phis=(SMOOTH,), always=True)),
    "boat.lemB.12.norm_growth": _inequality(*flat(no_growth, "norm_growth")),
    "boat.lemB.15.grad_lower": _inequality(climbed(steep)),
    "boat.lemB.15.loss_vs_avgG": _inequality(climbed(averaged, always=True)),
    "boat.lemB.15.norm_sublinear": counted_as(
        "inequality",
        every(
            *(_at_most(late_norm, 0.5, where("long", φ=phi, C=C)) for phi in BOTH for C in (2, 8))
        ),
    ),
    "boat.propB.34.first_step_move": _inequality(
        climbed(moved, ("first step, L", "first step, A"))
    ),
    "boat.corB.16.rate": _inequality(
        *(_at_most(falls, -0.5, where("long", φ=SMOOTH, C=C)) for C in (2, 8)),
    ),
    "boat.thm3.1.train_loss_nonsmooth": _inequality(
        *(_at_most(falls, -0.5, where("long", φ=SHARP, C=C)) for C in (2, 8)),
    ),
}
