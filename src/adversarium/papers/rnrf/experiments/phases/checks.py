"""Checks of RNRF's phases of adversarial training."""

import math

from adversarium.plans import (
    Each,
    Every,
    Exponent,
    Level,
    NoGrowth,
    Ordering,
    Parts,
    UnlessRefuted,
    where,
)

from ...theory.readings import ATTACKED, A, B, at_threshold, tail_checks, turned_linear
from ...theory.regime import hypotheses, long_enough
from .readings import (
    CLASS_RUNS,
    EARLY,
    LITERAL,
    PLAIN,
    PRINTED,
    SIZE_RUNS,
    STEP_RUNS,
    at_log_d,
    difference_power,
    early_difference,
    final_total,
    fitted_end,
    fitted_time,
    highest_later,
    largest_share,
    least_share,
    linear_time,
    raised,
    worst_change,
)


def _inverse(step):
    """Return 1/η̃."""
    return 1 / step


def _bounded(name, number):
    """Check that a reading of max B is O(1/η̃): η̃ times the reading does not grow with η̃."""
    return NoGrowth(f"slope in η̃ of η̃·{name}", number, "η̃", STEP_RUNS, per=_inverse)


def _polynomial(time):
    """Check that a time is at most a constant times d², our reading of "polynomial time"."""
    return NoGrowth(f"slope in d of {time.name} over d²", time, "d", SIZE_RUNS, per=_square)


def _as_standard(run):
    """Check that A and B differ little from standard training while κ_B is small.

    The difference must also vanish as κ_B → 0, where κ_B reaches the values to which a power is
    fitted (not from σ0 = 1/√d).
    """
    near = Level(early_difference(run), high=0.05)
    if run.at["σ0√d"] == 1:
        return near
    return Every(near, Level(difference_power(run), 0.5, 2.0, kind="exponent"))


def _mainly_B(run):
    """Check that B grows more than A until κ_B = 0.1."""
    return Ordering(raised(B, run), than=raised(A, run))


def _takes_off(run):
    """Check that max A reaches ϱ/α in every class within d² steps."""
    return Level(turned_linear.on(run), 1, 1)


def _square(d):
    """Return d²."""
    return d**2


def _under_hypotheses(named):
    """Combine the parts of a statement and require the hypotheses of RNRF."""
    return Every(Parts(named), hypotheses(STEP_RUNS, SIZE_RUNS))


_FROM_PRINTED = "max A reaches ϱ/α from σ0 = 1/√d, as printed"

_EARLY_PARTS = {
    "as standard training while κ_B ≪ 1": _as_standard,
    "mainly B is raised": _mainly_B,
}

checks = {
    "rnrf.phase1": Every(
        Parts(
            {
                f"{statement}, from {start}": Each(where(EARLY.family, **{"σ0√d": scale}), check)
                for start, scale in (("σ0 = 0.3/√d", 0.3), ("σ0 = 1/√d, as printed", 1.0))
                for statement, check in _EARLY_PARTS.items()
            }
        ),
        hypotheses(PLAIN, EARLY),
    ),
    "rnrf.phase2.plateau": Every(
        Exponent("slope of ΣB³ in η̃", final_total, "η̃", STEP_RUNS, -1, 0.1),
        Level(least_share, 0.75, 1.05),
        Level(largest_share, 0.75, 1.05),
        hypotheses(STEP_RUNS),
    ),
    **tail_checks("rnrf.lemD.19", "rnrf.lemD.20", ATTACKED, CLASS_RUNS, hypotheses(CLASS_RUNS)),
    "rnrf.lemD.24": _under_hypotheses(
        {
            "max B = O(1/η̃) then": _bounded("max B, max A = ϱ/α", at_threshold(B, reached=A)),
            "max A reaches ϱ/α in polynomial time": _polynomial(linear_time),
            _FROM_PRINTED: UnlessRefuted(
                Each(where(PRINTED), _takes_off), "longer runs may reach it"
            ),
        }
    ),
    "rnrf.lemD.25": _under_hypotheses(
        {
            "max B = Õ(1/η̃) then": _bounded("max B, F_y(X̃) = log d", at_log_d),
            "F_y(X̃) reaches log d in polynomial time": _polynomial(fitted_time),
        }
    ),
    "rnrf.lemD.26": _under_hypotheses(
        {
            "F_y(X̃) = O(log d)": Every(
                NoGrowth(
                    "slope in d of F_y(X̃)/log d at the end",
                    fitted_end,
                    "d",
                    SIZE_RUNS,
                    per=math.log,
                ),
                long_enough(SIZE_RUNS),
            ),
            "max B stays": Level(worst_change, high=0.2),
            "max B = Õ(1/η̃)": _bounded("max B from then on", highest_later),
        }
    ),
    "rnrf.phase2.transition.literal": Level(turned_linear.on(LITERAL), 1, 1),
}
