"""Check BOAT's theorem and lemmas for increasing C and for one size varied at a time."""

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Exponent,
    Hypothesis,
    Level,
    NoDecay,
    NoGrowth,
    NotTestable,
    Open,
    Parts,
    Why,
    end,
    last,
    where,
)

from ...theory.families import SHARP, SMOOTH
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
    falls,
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

checks: dict[str, Check] = {
    "boat.thm3.1.train_error": CountedAs(
        "inequality",
        Parts(
            {
                "small attack": on_ladder(never_wrong, ("L",)),
                "α = ‖μ‖": on_ladder(never_wrong, ("A",)),
                "after the first step, at the printed η": on_ladder(
                    never_wrong, ("first step, L", "first step, A")
                ),
                "flips of the nearest and farthest points": on_ladder(
                    never_wrong, ("near", "far"), (SHARP,)
                ),
            }
        ),
    ),
    "boat.thm3.1.alpha_up_to_mu": CountedAs(
        "level",
        Parts(
            {
                "robust training error 0": on_ladder(never_wrong, ("A",)),
                "L̂ falls at least like T^−½": Every(
                    *(power_at_most(falls, -0.5, where("A", φ=phi, C=8)) for phi in BOTH)
                ),
                "the rate of the clean error does not fall along C": Every(
                    *rung_trend(NoDecay, rate, ("A",))
                ),
                "nor along α/‖μ‖ from 0.01 to 1": Every(*flat(NoDecay, rate, arms=ARMS[4:])),
                "no training point can be broken, α/‖μ‖ from 0.01 to 1": Each(
                    where("arm α/‖μ‖"),
                    lambda run: AtMost(last("worst(certified_error)", run), 0.0),
                ),
            }
        ),
    ),
    "boat.sec4.relaxed_dim": CountedAs(
        "level",
        Parts(
            {
                "robust training error 0 from t = 1 on": on_ladder(never_wrong, ("R",)),
                "robust training error 0 at the end": on_ladder(right_at_end, ("R",)),
                "Lemma 4.1": on_ladder(near_span, ("R",)),
                "Lemma B.11": on_ladder(mu_inner_within(1 / 3), ("R",)),
                "the margin's law": Every(*rung_trend(NoDecay, end("least_margin_share"), ("R",))),
                "clean error": Every(*rung_trend(NoDecay, rate, ("R",))),
            }
        ),
    ),
    "boat.lem4.1.span_distance": CountedAs(
        "inequality",
        Parts(
            {
                "small attack": on_ladder(near_span, ("L",), always=True),
                "α = ‖μ‖": on_ladder(near_span, ("A",), always=True),
                "linear in ω": Exponent(
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
    "boat.sec4.1.angle": CountedAs(
        "level",
        Parts(
            {
                **{
                    f"{phi}, {time}, {label}": tends_to_zero(number, time, phi, family)
                    for phi in BOTH
                    for time, number in (("t = 1", angle), ("at the end", late_angle))
                    for family, label in (("L", "small attack"), ("A", "α = ‖μ‖"))
                },
                "the median angles": reported(median_angle_degrees),
                "the largest angles of all points": reported(largest_angle_degrees),
            }
        ),
    ),
    "boat.lemB.11.mu_inner": inequality_of(
        on_ladder(mu_inner_within(1 / 3), phis=(SMOOTH,), always=True),
    ),
    "boat.lemB.28.mu_inner": inequality_of(
        on_ladder(mu_inner_within(1 / 2), phis=(SHARP,), always=True)
    ),
    "boat.lemB.14.norm_margin": inequality_of(*flat(NoDecay, "least_margin_share", (SMOOTH,))),
    "boat.lemB.33.norm_margin": CountedAs(
        "level", Every(*flat(NoDecay, "least_margin_share", (SHARP,)))
    ),
    "boat.lemB.30.neuron_increment": CountedAs(
        "frequency",
        Parts(
            {
                "one c₇ and one C″ for all rungs, small attack": Every(
                    *rung_trend(NoGrowth, constant_needed, SIGNS[:1], (SHARP,))
                ),
                "α = ‖μ‖": Every(*rung_trend(NoGrowth, constant_needed, SIGNS[1:], (SHARP,))),
                "the C″ that is needed": reported(constant_needed, SIGNS, (SHARP,), (4, 8, 16, 24)),
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
    "boat.corB.31.neuron_sign": on_ladder(signs_aligned, ("signs, L", "signs, A"), (SHARP,)),
    "boat.lemB.32.neuron_upper": inequality_of(*flat(NoGrowth, c8_bound, (SHARP,))),
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
            {
                "t = 0": on_ladder(share_0, phis=(SHARP,), always=True),
                "t = 1": on_ladder(share_1, phis=(SHARP,), always=True),
                "no count falls": on_ladder(counts_do_not_fall, phis=(SHARP,), always=True),
            }
        ),
    ),
    "boat.lemB.26.E1": inequality_of(on_ladder(pairs_stay_active, phis=(SHARP,), always=True)),
    "boat.lemB.26.E2": CountedAs(
        "inequality",
        Parts(
            {
                "the printed bounds": on_ladder(two_sided, phis=(SHARP,), always=True),
                "the increments in units of ηdg̃/n": reported(
                    end("proven_increment"), phis=(SHARP,)
                ),
                "the largest ones": reported(end("largest_increment"), phis=(SHARP,)),
            }
        ),
    ),
    "boat.lemB.9.margin_monotone": inequality_of(
        on_ladder(margins_rise, phis=(SMOOTH,), always=True)
    ),
    "boat.lemB.12.norm_growth": inequality_of(*flat(NoGrowth, "norm_growth")),
    "boat.lemB.15.grad_lower": inequality_of(on_ladder(gradient_steep)),
    "boat.lemB.15.loss_vs_avgG": inequality_of(on_ladder(loss_below_average, always=True)),
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
            }
        ),
    ),
    "boat.thm3.1.clean_error": CountedAs(
        "exponent",
        Parts(
            {
                "−log err_c ≥ c·n‖μ‖⁴/d over sizes": Every(*flat(NoDecay, rate, arms=ARMS[:4])),
                "along the ladders": Every(*rung_trend(NoDecay, rate, ("L", "A"))),
                "flips of the nearest and farthest points": Every(
                    *rung_trend(NoDecay, rate, ("near", "far"), (SHARP,))
                ),
                "within the bound of Lemma 4.2": within_lemma_4_2(
                    clean_promise, "L", "A", "near", "far"
                ),
                "as small at T = 2000 as at T = 60": Every(*(over_T(rate, phi) for phi in BOTH)),
            }
        ),
    ),
    "boat.lem4.2.margin_bound": CountedAs(
        "inequality",
        Parts(
            {
                "clean": within_lemma_4_2(clean_promise, "L", "A", "R", "near", "far"),
                "robust, certified": within_lemma_4_2(robust_promise, "L", "near", "far"),
            }
        ),
    ),
    "boat.sec4.1.cross_inner": CountedAs(
        "inequality",
        Parts(
            {
                **{
                    f"n max|⟨x̃_i, x̃_j⟩|/d falls along C, {label}": Every(
                        *(tends_to_zero(cross_needed, "all t", phi, family) for phi in BOTH)
                    )
                    for family, label in (("A", "α = ‖μ‖"), ("R", "α = ‖μ‖, the relaxed dimension"))
                },
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
                "from above, by algebra": AtMost(exponent_quotient("largest", max), 1.0 + 1e-12),
                "of that order (two-sided)": Level(exponent_quotient("least", min), 0.01),
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
