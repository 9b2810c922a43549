"""The checks of RNRF's phases of adversarial training."""

import math

from adversarium.papers.rnrf.phases_readings import (
    EARLY,
    LITERAL,
    LOGIT,
    PLAIN,
    PRINTED,
    SIZES,
    SORTS,
    STEPS,
    at_log_d,
    difference_power,
    early_difference,
    final_total,
    fitted_time,
    highest_later,
    largest_share,
    least_share,
    linear_time,
    raised,
    worst_change,
)
from adversarium.papers.rnrf.readings import (
    ATTACKED,
    A,
    B,
    at_threshold,
    tail_checks,
    turned_linear,
)
from adversarium.papers.rnrf.regime import hypotheses, long_enough
from adversarium.plans import (
    each,
    end,
    every,
    exponent,
    level,
    no_growth,
    ordering,
    parts,
    power,
    unless_refuted,
)


def _inverse(step):
    return 1 / step


def _bounded(name, number):
    """max B = O(1/η̃) at some time, at one d: B·η̃ does not grow with η̃."""
    return no_growth(f"slope in η̃ of η̃·{name}", number, "η̃", STEPS, per=_inverse)


def _polynomial(time):
    """A time is at most d², up to a constant: how "polynomial time" is read."""
    return no_growth(f"slope in d of {time.name} over d²", time, "d", SIZES, per=_square)


def _as_standard(run):
    """A and B differ by little while κ_B is small, and by less the smaller it is."""
    near = level(early_difference(run), high=0.05)
    return every(near, power(difference_power(run), 0.5, 2.0))


def _takes_off(run):
    """max A reaches ϱ/α in every class within 40 d steps."""
    return level(turned_linear.on(run), 1, 1)


def _square(d):
    return d**2


def _placed(named):
    """The parts of a statement, where the assumptions hold together."""
    return every(parts(named), hypotheses(STEPS, SIZES))


_FROM_PRINTED = "max A reaches ϱ/α from σ0 = 1/√d, as printed"

checks = {
    "rnrf.phase1": every(
        parts(
            {
                "as standard training while κ_B ≪ 1": each(EARLY, _as_standard),
                "mainly B is raised": each(
                    EARLY, lambda run: ordering(raised(B, run), than=raised(A, run))
                ),
            }
        ),
        hypotheses(PLAIN, EARLY),
    ),
    "rnrf.phase2.plateau": every(
        exponent("slope of ΣB³ in η̃", final_total, "η̃", STEPS, -1, 0.1),
        level(least_share, 0.75, 1.05),
        level(largest_share, 0.75, 1.05),
        hypotheses(STEPS),
    ),
    **tail_checks("rnrf.lemD.19", "rnrf.lemD.20", ATTACKED, SORTS, hypotheses(SORTS)),
    "rnrf.lemD.24": _placed(
        {
            "max B = O(1/η̃) then": _bounded("max B, max A = ϱ/α", at_threshold(B, reached=A)),
            "max A reaches ϱ/α in polynomial time": _polynomial(linear_time),
            _FROM_PRINTED: unless_refuted(
                each(PRINTED, _takes_off), "40 d steps are fewer than d² from d = 60 on"
            ),
        }
    ),
    "rnrf.lemD.25": _placed(
        {
            "max B = Õ(1/η̃) then": _bounded("max B, F_y(X̃) = log d", at_log_d),
            "F_y(X̃) reaches log d in polynomial time": _polynomial(fitted_time),
        }
    ),
    "rnrf.lemD.26": _placed(
        {
            "F_y(X̃) = O(log d)": every(
                no_growth(
                    "slope in d of F_y(X̃)/log d at the end", end(LOGIT), "d", SIZES, per=math.log
                ),
                long_enough(SIZES),
            ),
            "max B stays": level(worst_change, high=0.2),
            "max B = Õ(1/η̃)": _bounded("max B from then on", highest_later),
        }
    ),
    "rnrf.phase2.transition.literal": level(turned_linear.on(LITERAL), 1, 1),
}
