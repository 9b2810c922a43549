"""Check BOAT's theorem and lemmas for increasing C and for one size varied at a time."""

from functools import partial

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Exponent,
    Hypothesis,
    NoDecay,
    NoGrowth,
    NotTestable,
    Open,
    Parts,
    Reading,
    Why,
    end,
    last,
    where,
)

from ...theory.families import PRINTED, SHARP, SMOOTH, named
from ...theory.steps import at_both_steps, both_steps
from .readings import (
    angle,
    bound_share,
    bounds_exponent,
    c8_bound,
    clean_promise,
    constant_needed,
    counts_do_not_fall,
    cross_attacked,
    cross_needed,
    cross_unattacked,
    first_step_moves,
    gradient_steep,
    increments_aligned,
    largest_angle_degrees,
    late_angle,
    late_norm,
    late_ratio,
    loss_below_average,
    margins_rise,
    median_angle_degrees,
    mu_inner_within,
    near_span,
    never_wrong,
    norm_share,
    pairs_stay_active,
    rate,
    right_at_end,
    robust_promise,
    share_0,
    share_1,
    signs_aligned,
    two_sided,
)
from .rules import (
    ARMS,
    BOTH,
    SIGNS,
    bounded_loss,
    exponent_quotient,
    flat,
    in_due_time,
    inequality_of,
    loss_falls,
    on_ladder,
    over_T,
    power_at_most,
    reported,
    rung_trend,
    tends_to_zero,
    within_lemma_4_2,
)

_ABOVE_LOG_2 = (
    "the bound exceeds log 2, the loss at the start, for the first {} steps; far longer runs would "
    "decide it"
)


def angle_falls(number: Reading, time: str, phi: str, step: str) -> Check:
    """Require that an angle falls along C under both attacks."""
    return Every(*(tends_to_zero(number, time, phi, family, step) for family in ("L", "A")))


def cross_falls(family: str, step: str) -> Check:
    """Require that n max|⟨x̃_i, x̃_j⟩|/d falls along C with both activations."""
    return Every(*(tends_to_zero(cross_needed, "all t", phi, family, step) for phi in BOTH))


checks: dict[str, Check] = {
    "boat.thm3.1.train_error": CountedAs(
        "inequality",
        Parts(
            {
                **at_both_steps(
                    {
                        "small attack": lambda step: on_ladder(never_wrong, ("L",), step=step),
                        "α = ‖μ‖": lambda step: on_ladder(never_wrong, ("A",), step=step),
                        "flips of the nearest and farthest points": lambda step: on_ladder(
                            never_wrong, ("near", "far"), (SHARP,), step=step
                        ),
                    }
                ),
                "small attack, after the first step, printed η": on_ladder(
                    never_wrong, ("first step, L",)
                ),
                "α = ‖μ‖, after the first step, printed η": on_ladder(
                    never_wrong, ("first step, A",)
                ),
            }
        ),
    ),
    "boat.thm3.1.alpha_up_to_mu": CountedAs(
        "level",
        Parts(
            at_both_steps(
                {
                    "robust training error 0": lambda step: on_ladder(
                        never_wrong, ("A",), step=step
                    ),
                    "the rate of the clean error does not fall along C": lambda step: Every(
                        *rung_trend(NoDecay, rate, ("A",), step=step)
                    ),
                    "nor along α/‖μ‖ from 0.01 to 1": lambda step: Every(
                        *flat(NoDecay, rate, arms=ARMS[4:], step=step)
                    ),
                    "no training point can be broken, α/‖μ‖ from 0.01 to 1": lambda step: Each(
                        where(named("arm α/‖μ‖", step)),
                        lambda run: AtMost(last("worst(certified_error)", run), 0.0),
                    ),
                }
            )
        ),
    ),
    "boat.sec4.relaxed_dim": CountedAs(
        "level",
        Parts(
            {
                **at_both_steps(
                    {
                        "robust training error 0 at the end": lambda step: on_ladder(
                            right_at_end, ("R",), step=step
                        ),
                        "clean error": lambda step: Every(
                            *rung_trend(NoDecay, rate, ("R",), step=step)
                        ),
                    }
                ),
                "from t = 1 on": reported(never_wrong, ("R",)),
            }
        ),
    ),
    "boat.sec4.relaxed_dim.lemmas": CountedAs(
        "inequality",
        Parts(
            at_both_steps(
                {
                    "Lemma 4.1": lambda step: on_ladder(near_span, ("R",), step=step),
                    "Lemma B.11": lambda step: on_ladder(mu_inner_within(1 / 3), ("R",), step=step),
                    "the margin's law": lambda step: Every(
                        *rung_trend(NoDecay, end("least_margin_share"), ("R",), step=step)
                    ),
                }
            )
        ),
    ),
    "boat.lem4.1.span_distance": CountedAs(
        "inequality",
        Parts(
            at_both_steps(
                {
                    "small attack": lambda step: on_ladder(
                        near_span, ("L",), always=True, step=step
                    ),
                    "α = ‖μ‖": lambda step: on_ladder(near_span, ("A",), always=True, step=step),
                    "linear in ω": lambda step: Exponent(
                        "power of ω in the distance",
                        end("span_distance"),
                        "ω√(md)/η",
                        where(named("arm ω", step)),
                        1.0,
                        0.1,
                    ),
                }
            )
        ),
    ),
    "boat.sec4.1.angle": CountedAs(
        "level",
        Parts(
            {
                **at_both_steps(
                    {
                        f"{phi}, {time}": partial(angle_falls, number, time, phi)
                        for phi in BOTH
                        for time, number in (("t = 1", angle), ("at the end", late_angle))
                    }
                ),
                "the median angles": reported(median_angle_degrees),
                "the largest angles of all points": reported(largest_angle_degrees),
            }
        ),
    ),
    "boat.lemB.11.mu_inner": both_steps(
        lambda step: on_ladder(mu_inner_within(1 / 3), phis=(SMOOTH,), always=True, step=step)
    ),
    "boat.lemB.28.mu_inner": both_steps(
        lambda step: on_ladder(mu_inner_within(1 / 2), phis=(SHARP,), always=True, step=step)
    ),
    "boat.lemB.14.norm_margin": CountedAs(
        "inequality",
        Parts(
            {
                "over sizes": Every(*flat(NoDecay, "least_margin_share", (SMOOTH,))),
                **at_both_steps(
                    {
                        "along the ladders": lambda step: Every(
                            *rung_trend(
                                NoDecay, end("least_margin_share"), ("L", "A"), (SMOOTH,), step
                            )
                        )
                    }
                ),
            }
        ),
    ),
    "boat.lemB.33.norm_margin": both_steps(
        lambda step: Every(*flat(NoDecay, "least_margin_share", (SHARP,), step=step)), "level"
    ),
    "boat.lemB.30.neuron_increment": CountedAs(
        "frequency",
        Parts(
            {
                **at_both_steps(
                    {
                        "one c₇ and one C″ for all rungs, small attack": lambda step: Every(
                            *rung_trend(NoGrowth, constant_needed, SIGNS[:1], (SHARP,), step)
                        ),
                        "α = ‖μ‖": lambda step: Every(
                            *rung_trend(NoGrowth, constant_needed, SIGNS[1:], (SHARP,), step)
                        ),
                    }
                ),
                "the C″ that is needed": reported(constant_needed, SIGNS, (SHARP,), (4, 8, 16, 24)),
                "bound (1), step by step": Open(
                    "frequency",
                    "each step's largest inner product with fresh points is not recorded",
                ),
                "with C″ = 0, c₇ = 0.05 (stronger)": Hypothesis(
                    "level",
                    *(
                        increments_aligned.on(where(family, φ=SHARP, C=C))
                        for family in SIGNS
                        for C in (4, 8, 16, 24)
                    ),
                ),
            }
        ),
    ),
    "boat.corB.31.neuron_sign": both_steps(
        lambda step: on_ladder(signs_aligned, SIGNS, (SHARP,), step=step), "frequency"
    ),
    "boat.lemB.32.neuron_upper": both_steps(
        lambda step: Every(*flat(NoGrowth, c8_bound, (SHARP,), step=step))
    ),
    "boat.lem4.4.loss_ratio": CountedAs(
        "inequality",
        Parts(
            {
                "smoothed leaky ReLU, over sizes": Every(
                    *flat(NoGrowth, "largest_ratio", (SMOOTH,))
                ),
                "ReLU, over sizes": Every(*flat(NoGrowth, "largest_ratio", (SHARP,))),
                "in t": Every(
                    *(power_at_most(late_ratio, 0.03, where("long", φ=phi, C=8)) for phi in BOTH)
                ),
            }
        ),
    ),
    "boat.lem4.5.active_counts": CountedAs(
        "inequality",
        Parts(
            at_both_steps(
                {
                    name: partial(on_ladder, event, phis=(SHARP,), always=True)
                    for name, event in (
                        ("t = 0", share_0),
                        ("t = 1", share_1),
                        ("no count falls", counts_do_not_fall),
                    )
                }
            )
        ),
    ),
    "boat.lemB.26.E1": both_steps(
        partial(on_ladder, pairs_stay_active, phis=(SHARP,), always=True)
    ),
    "boat.lemB.26.E2": CountedAs(
        "inequality",
        Parts(
            {
                **at_both_steps(
                    {
                        "the printed bounds": partial(
                            on_ladder, two_sided, phis=(SHARP,), always=True
                        )
                    }
                ),
                "the increments in units of ηdg̃/n": reported(
                    end("proven_increment"), phis=(SHARP,)
                ),
                "the largest ones": reported(end("largest_increment"), phis=(SHARP,)),
            }
        ),
    ),
    "boat.lemB.9.margin_monotone": both_steps(
        partial(on_ladder, margins_rise, phis=(SMOOTH,), always=True)
    ),
    "boat.lemB.12.norm_growth": both_steps(
        lambda step: Every(
            *flat(NoGrowth, "norm_growth", step=step),
            *rung_trend(NoGrowth, end("norm_growth"), ("L", "A"), step=step),
        )
    ),
    "boat.lemB.15.grad_lower": both_steps(partial(on_ladder, gradient_steep)),
    "boat.lemB.15.loss_vs_avgG": both_steps(partial(on_ladder, loss_below_average, always=True)),
    "boat.lemB.15.norm_sublinear": CountedAs(
        "inequality",
        Parts(
            {
                "slower than T": Every(
                    *(power_at_most(late_norm, 0.5, where("long", φ=phi)) for phi in BOTH)
                ),
                "‖W^T‖² ≤ ‖W⁰‖² + η(5/3 + (1 − γ)√m/(2H))T, smoothed leaky ReLU": Each(
                    where("long", φ=SMOOTH), lambda run: AtMost(norm_share.on(run), 1.0)
                ),
                "‖W^T‖² ≤ ‖W⁰‖² + (5/3)ηT, ReLU": Each(
                    where("long", φ=SHARP), lambda run: AtMost(norm_share.on(run), 1.0)
                ),
            }
        ),
    ),
    "boat.propB.34.first_step_move": inequality_of(
        on_ladder(first_step_moves, ("first step, L", "first step, A"))
    ),
    "boat.thm3.1.train_loss_smooth": CountedAs(
        "inequality",
        Parts(
            {
                "loss 0.5 by T̄": in_due_time(0.5, "L", "A", "long"),
                "loss 0.1 by T̄": in_due_time(0.1, "L", "long"),
                "loss 0.01 by T̄": in_due_time(0.01, "long"),
                "L̂ falls at least like T^−½": loss_falls(SMOOTH),
                "the printed bound where it is below log 2": Open(
                    "inequality", _ABOVE_LOG_2.format("10⁶")
                ),
            }
        ),
    ),
    "boat.thm3.1.clean_error": CountedAs(
        "exponent",
        Parts(
            at_both_steps(
                {
                    "−log err_c ≥ c·n‖μ‖⁴/d over sizes": lambda step: Every(
                        *flat(NoDecay, rate, arms=ARMS[:4], step=step)
                    ),
                    "along the ladders": lambda step: Every(
                        *rung_trend(NoDecay, rate, ("L", "A"), step=step),
                        *rung_trend(NoDecay, rate, ("near", "far"), (SHARP,), step),
                    ),
                    "as small after the long run as after 60 steps": lambda step: Every(
                        *(over_T(rate, phi, step) for phi in BOTH)
                    ),
                }
            )
        ),
    ),
    "boat.lem4.2.margin_bound": CountedAs(
        "inequality",
        Parts(
            {
                "clean": within_lemma_4_2(clean_promise, "L", "A", "R", "near", "far"),
                "clean, printed η": within_lemma_4_2(
                    clean_promise, "L", "A", "R", "near", "far", step=PRINTED
                ),
                "robust, certified": within_lemma_4_2(robust_promise, "L", "near", "far"),
            }
        ),
    ),
    "boat.sec4.1.cross_inner": CountedAs(
        "inequality",
        Parts(
            {
                **at_both_steps(
                    {
                        f"n max|⟨x̃_i, x̃_j⟩|/d falls along C, {label}": partial(cross_falls, family)
                        for family, label in (
                            ("A", "α = ‖μ‖"),
                            ("R", "α = ‖μ‖, the relaxed dimension"),
                        )
                    }
                ),
                "n max|⟨x̃_i, x̃_j⟩|/d": reported(cross_needed, ("A", "R")),
                "over the unattacked order": reported(cross_unattacked, ("A",)),
                "over ‖μ‖² + √(d log(n/δ)) + kα√(d/n), k = 2 (ReLU: 4)": reported(
                    cross_attacked, ("A",)
                ),
            }
        ),
    ),
    "boat.sec3.4.ub_lb_exponent": CountedAs(
        "level",
        Parts(
            {
                "from above, by algebra": AtMost(exponent_quotient, 1.0 + 1e-12),
                "the bounds match once n‖μ‖²/d = Ω(1)": Open(
                    "level", "n‖μ‖²/d = Ω(1) lies outside Assumption 1, d ≥ Cn‖μ‖²"
                ),
                "measured along the ladder": Hypothesis(
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
    "boat.sec3.4.minimax_clean": NotTestable(
        "level", Why.CITED, "the minimax rate of Giraud and Verzelen"
    ),
    "boat.corB.16.rate": CountedAs(
        "inequality",
        Parts(
            {
                "L̂ falls at least like T^−½": loss_falls(SMOOTH),
                "L̂γ‖μ‖√(ηT) does not grow over sizes": bounded_loss(SMOOTH),
                "the printed bound where it is below log 2": Open(
                    "inequality", _ABOVE_LOG_2.format("3·10⁴")
                ),
                "the printed bound, used up": Hypothesis(
                    "inequality", *(bound_share.on(where("long", φ=SMOOTH, C=C)) for C in (2, 8))
                ),
            }
        ),
    ),
    "boat.thm3.1.train_loss_nonsmooth": CountedAs(
        "inequality",
        Parts(
            {
                "L̂ falls at least like T^−½": loss_falls(SHARP),
                "L̂‖μ‖√(ηT) does not grow over sizes": bounded_loss(SHARP),
                "the printed bound where it is below log 2": Open(
                    "inequality", _ABOVE_LOG_2.format("10⁵")
                ),
            }
        ),
    ),
}
