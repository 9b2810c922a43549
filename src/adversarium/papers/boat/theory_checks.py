"""The checks of BOAT's theorem and lemmas along the ladder of C and the arms."""

import math
from collections.abc import Callable, Iterable

import numpy as np

from adversarium.papers.boat.families import SHARP, SMOOTH
from adversarium.papers.boat.theory_readings import (
    aligned,
    along,
    angle,
    averaged,
    bound_share,
    bounds_exponent,
    clean_promise,
    cross_attacked,
    cross_unattacked,
    exponent_quotients,
    falls,
    in_time,
    increments_aligned,
    kept,
    late_angle,
    late_norm,
    late_ratio,
    more,
    moved,
    near_span,
    never_wrong,
    norm_share,
    rate,
    right_at_end,
    rising,
    robust_promise,
    scaled_loss,
    share_0,
    share_1,
    steep,
    two_sided,
    unit_reach,
)
from adversarium.plans import (
    Check,
    Reading,
    Where,
    at_most,
    cited,
    counted_as,
    each,
    end,
    every,
    exponent,
    ladder,
    last,
    level,
    no_decay,
    no_growth,
    parts,
    power,
    quantity,
    setting,
    where,
)
from adversarium.plans.evidence import NO_ROWS, Evidence, Need, Quantity

BOTH = (SHARP, SMOOTH)
SIGNS = ("signs, L", "signs, A")
ARMS = ("n", "d", "‖μ‖", "m", "α/‖μ‖")


def _in_time(epsilon: float, *families: str) -> Check:
    """L̂ is ε or less by T̄(ε) of Theorem 3.1, ζ = 0."""
    runs, number = Where(families, {"φ": SMOOTH}), in_time(epsilon)
    return each(runs, lambda run: at_most(number.on(run), 1.0))


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


def fallen(phi: str) -> Check:
    """In every draw, at C = 8 (at C = 2 one draw of ReLU in forty never fits all points)."""
    meant = where("long", φ=phi, C=8)
    return each(meant, lambda run: level(falls.on(run), high=-0.5, always=True))


def bounded_loss(phi: str) -> Check:
    """The largest L̂γ‖μ‖√(ηT) of a run grows neither along n, d, m nor along the ladders, where
    every gate is kept. Along ‖μ‖ alone it does, like ‖μ‖√(n/d), which a gate holds below 1/√C."""
    trends = rung_trend(no_growth, scaled_loss, ("L", "A"), (phi,))
    return every(*trends, *flat(no_growth, scaled_loss, (phi,), ("n", "d", "m")))


def promised(number: Reading, *families: str) -> Check:
    """What Lemma 4.2 promises is kept in every draw of every run."""
    return each(Where(families), lambda run: at_most(number.on(run), 1.0))


def _quotient(word: str, of: Callable[[Iterable[float]], float]) -> Quantity:
    """An extreme of the printed exponents' quotient over (2c/C²)·n‖μ‖²/d on a grid, the same
    whatever the seed."""

    def found(rows: Evidence) -> np.ndarray:
        return np.full(len(rows.seeds), of(exponent_quotients()))

    return quantity(f"{word} quotient", found, Need(where("L"), NO_ROWS))


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
                "the rate of the clean error does not fall along C": every(
                    *rung_trend(no_decay, rate, ("A",))
                ),
                "nor along α/‖μ‖ from 0.01 to 1": every(*flat(no_decay, rate, arms=ARMS[4:])),
                "no training point can be broken, α/‖μ‖ from 0.01 to 1": each(
                    where("arm α/‖μ‖"),
                    lambda run: at_most(last("worst(certified_error)", run), 0.0),
                ),
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
                "Lemma B.11": climbed(along(1 / 3), ("R",)),
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
        climbed(along(1 / 3), phis=(SMOOTH,), always=True),
    ),
    "boat.lemB.28.mu_inner": _inequality(climbed(along(1 / 2), phis=(SHARP,), always=True)),
    "boat.lemB.14.norm_margin": _inequality(*flat(no_decay, "least_margin_share", (SMOOTH,))),
    "boat.lemB.33.norm_margin": counted_as(
        "level", every(*flat(no_decay, "least_margin_share", (SHARP,)))
    ),
    "boat.lemB.30.neuron_increment": climbed(
        increments_aligned, ("signs, L", "signs, A"), (SHARP,)
    ),
    "boat.corB.31.neuron_sign": climbed(aligned, ("signs, L", "signs, A"), (SHARP,)),
    "boat.lemB.32.neuron_upper": _inequality(*flat(no_growth, unit_reach, (SHARP,))),
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
        parts(
            {
                "slower than T": every(
                    *(_at_most(late_norm, 0.5, where("long", φ=phi)) for phi in BOTH)
                ),
                "‖W^T‖² ≤ ‖W⁰‖² + η(5/3 + (1 − γ)√m/(2H))T, smoothed leaky ReLU": each(
                    where("long", φ=SMOOTH), lambda run: at_most(norm_share.on(run), 1.0)
                ),
                "‖W^T‖² ≤ ‖W⁰‖² + (5/3)ηT, ReLU": each(
                    where("long", φ=SHARP), lambda run: at_most(norm_share.on(run), 1.0)
                ),
            }
        ),
    ),
    "boat.propB.34.first_step_move": _inequality(
        climbed(moved, ("first step, L", "first step, A"))
    ),
    "boat.thm3.1.train_loss_smooth": counted_as(
        "inequality",
        parts(
            {
                "loss 0.5 by T̄": _in_time(0.5, "L", "A", "long"),
                "loss 0.1 by T̄": _in_time(0.1, "L", "long"),
                "loss 0.01 by T̄": _in_time(0.01, "long"),
                "L̂ falls at least like T^−½": fallen(SMOOTH),
            }
        ),
    ),
    "boat.thm3.1.clean_error": counted_as(
        "exponent",
        parts(
            {
                "−log err_c ≥ c·n‖μ‖⁴/d over sizes": every(*flat(no_decay, rate, arms=ARMS[:4])),
                "along the ladders": every(*rung_trend(no_decay, rate, ("L", "A"))),
                "flips of the nearest and farthest points": every(
                    *rung_trend(no_decay, rate, ("near", "far"), (SHARP,))
                ),
                "within the bound of Lemma 4.2": promised(clean_promise, "L", "A", "near", "far"),
            }
        ),
    ),
    "boat.lem4.2.margin_bound": counted_as(
        "inequality",
        parts(
            {
                "clean": promised(clean_promise, "L", "A", "R", "near", "far"),
                "robust, certified": promised(robust_promise, "L", "near", "far"),
            }
        ),
    ),
    "boat.sec4.1.cross_inner": counted_as(
        "inequality",
        parts(
            {
                "O(‖μ‖² + √(d log(n/δ))), α = ‖μ‖": every(
                    *rung_trend(no_growth, cross_unattacked, ("A",))
                ),
                "at most about ‖μ‖² + √(d log(n/δ)) + kα√(d/n), k = 2 (ReLU: 4)": every(
                    *flat(no_growth, cross_attacked)
                ),
            }
        ),
    ),
    "boat.sec3.4.ub_lb_exponent": counted_as(
        "level",
        parts(
            {
                "from above, by algebra": at_most(_quotient("largest", max), 1.0 + 1e-12),
                "of that order (two-sided)": level(_quotient("least", min), 0.01),
                "measured along the ladder": setting(
                    "level",
                    *(
                        bounds_exponent.on(where("L", φ=phi, C=C))
                        for phi in BOTH
                        for C in (4, 8, 16)
                    ),
                ),
            }
        ),
    ),
    "boat.sec3.4.minimax_clean": cited("level", "the minimax rate of Giraud and Verzelen"),
    "boat.corB.16.rate": counted_as(
        "inequality",
        parts(
            {
                "L̂ falls at least like T^−½": fallen(SMOOTH),
                "L̂γ‖μ‖√(ηT) does not grow over sizes": bounded_loss(SMOOTH),
                "the printed bound": each(
                    where("long", φ=SMOOTH), lambda run: at_most(bound_share.on(run), 1.0)
                ),
            }
        ),
    ),
    "boat.thm3.1.train_loss_nonsmooth": counted_as(
        "inequality",
        parts(
            {
                "L̂ falls at least like T^−½": fallen(SHARP),
                "L̂‖μ‖√(ηT) does not grow over sizes": bounded_loss(SHARP),
            }
        ),
    ),
}
