"""Checks of RNRF's lemmas on the growth with the dimension d."""

import math

from adversarium.plans import (
    CountedAs,
    Every,
    InRegime,
    Level,
    NoDecay,
    NoGrowth,
    Parts,
    UnlessRefuted,
    where,
)

from ...theory.readings import A, B, over_classes
from ...theory.regime import hypotheses, long_enough
from ..dimension import readings as read
from .readings import (
    ATTACKED,
    CLASSES,
    FIT,
    LARGE,
    LONG_ATTACKED,
    LONG_NOISY,
    NOISE,
    NOISY,
    PLAIN,
    QUIET,
    STEP,
    C,
    D,
)


def _inverse(step):
    """Return 1/η̃."""
    return 1 / step


def _root(d):
    """Return 1/√d."""
    return d**-0.5


def _square(d):
    """Return d²."""
    return d**2


def _log(d):
    """Return log d."""
    return math.log(d)


def _inverse_square_log(d):
    """Return ϱ² = 1/log²d, the quotient of η and ηϱ^{1−q}."""
    return math.log(d) ** -2


def _one(d):
    """Return 1."""
    return 1.0


def _upper_bound(name, number, family, logs=0, per=_one):
    """Check that a quantity is at most a constant times per(d)·(log d)^logs."""
    return NoGrowth(f"slope in d of {name}", number, "d", where(family), logs, per)


def _lower_bound(name, number, family, per=_one):
    """Check that a quantity is at least a constant times per(d)."""
    return NoDecay(f"slope in d of {name}", number, "d", where(family), 0, per)


def _vanishes_like_root(name, number, family):
    """Check that a quantity is O(polylog(d)/√d), with log²d for polylog(d)."""
    return _upper_bound(f"{name}·√d", number, family, 2, _root)


def _per_class(k):
    """Return k/(1 − 1/k), the quotient of 1/((η/k)(1 − 1/k)) and 1/η."""
    return k / (1 - 1 / k)


def _no_trend(letter, family, per=_one):
    """Check that increments of A and B, divided by the growth law and per(·), have no trend."""
    label = f"slope in {letter} of the {{}} increment over its law"
    runs = where(family)
    return (
        NoDecay(label.format("least"), "least_growth", letter, runs, 0, per),
        NoGrowth(label.format("largest"), "largest_growth", letter, runs, 0, per),
    )


def _under_hypotheses(kind, families, *checks):
    """Combine checks of some families, and require the hypotheses of RNRF."""
    return CountedAs(kind, Every(*checks, hypotheses(*map(where, families))))


_FIXED_PART = "a part of A that does not grow with d outweighs the part in log d"
_LINEAR_TERM = "ϱ = 1/log d adds ⅔ϱ to B, which falls with d by itself"

checks = {
    "rnrf.lemD.8.poly": _under_hypotheses(
        "level",
        (PLAIN, CLASSES),
        Parts(
            {
                "Θ(η) along d": Every(*_no_trend("d", PLAIN, per=_inverse_square_log)),
                "Θ(η) along k": Every(*_no_trend("k", CLASSES, per=_per_class)),
            }
        ),
    ),
    "rnrf.lemD.8.poly.corrected": _under_hypotheses(
        "level", (PLAIN, CLASSES), *_no_trend("d", PLAIN), *_no_trend("k", CLASSES)
    ),
    "rnrf.lemD.9.dominance": _under_hypotheses(
        "level",
        (PLAIN,),
        _vanishes_like_root("A(T), largest over classes", read.robust_at_threshold, PLAIN),
    ),
    "rnrf.lemD.9.dominance.corrected": _under_hypotheses(
        "level",
        (PLAIN,),
        Level(read.over_bound, high=1.05),
        Level(read.largest_growth, high=1.05 / (1 - 1 / read.GAP)),
        _vanishes_like_root("A(0)", read.robust_at_start, PLAIN),
    ),
    "rnrf.lemD.10.stage2": _under_hypotheses(
        "level",
        (LARGE,),
        Parts(
            {
                "T′ ≥ T": Level(read.in_order, 0.9),
                "F_y reaches log d in polynomial time": NoGrowth(
                    "slope in d of T′ over d²", read.fitted_time, "d", where(LARGE), per=_square
                ),
                "max A = O(polylog(d)/√d) at T′": _vanishes_like_root(
                    "A(T′)", read.robust_when_fitted, LARGE
                ),
            }
        ),
    ),
    "rnrf.lemD.10.stage2.time": _under_hypotheses(
        "level", (LARGE,), _upper_bound("(T′ − T)η/log d", read.stage_two, LARGE)
    ),
    "rnrf.lemD.11.logF": _under_hypotheses(
        "exponent",
        (PLAIN,),
        Parts(
            {
                "F_y = O(log d)": Every(
                    _upper_bound("F_y/log d at the end", over_classes(FIT), PLAIN, per=_log),
                    long_enough(where(PLAIN)),
                ),
                "max A = O(polylog(d)/√d)": Every(
                    _vanishes_like_root("A at the end", read.robust_at_end, PLAIN),
                    long_enough(where(PLAIN)),
                ),
            }
        ),
    ),
    "rnrf.lemE.3.noise": _under_hypotheses(
        "level",
        (NOISY,),
        _vanishes_like_root("max |⟨w, ξ⟩| over t", read.highest(NOISE), NOISY),
        long_enough(where(NOISY)),
    ),
    "rnrf.lemE.4": _under_hypotheses(
        "identity", (NOISY,), _upper_bound("remainder over η/√d", "noise_remainder", NOISY, 2)
    ),
    "rnrf.lemE.5.balance": _under_hypotheses(
        "inequality", (NOISY,), _lower_bound("least min F_y/max F_y", read.least_balance, NOISY)
    ),
    "rnrf.lemE.6.sum": _under_hypotheses(
        "level",
        (LONG_NOISY,),
        _upper_bound("ηΣE[1 − π_y] from T₀ on", read.late_sum, LONG_NOISY, 2),
        long_enough(where(LONG_NOISY)),
    ),
    "rnrf.lemE.7.final": _under_hypotheses(
        "exponent",
        (NOISY,),
        Parts(
            {
                "max B = O(log d)": Every(
                    _upper_bound("B/log d", over_classes(B), NOISY, per=_log),
                    long_enough(where(NOISY)),
                ),
                "max B = Ω(log d)": UnlessRefuted(
                    _lower_bound("B/log d", over_classes(B), NOISY, per=_log), _LINEAR_TERM
                ),
                **{
                    f"max {letter} = O(polylog(d)/√d)": Every(
                        _vanishes_like_root(name, number, NOISY), long_enough(where(NOISY))
                    )
                    for letter, name, number in (
                        ("A", "A", over_classes(A)),
                        ("C", "max C", read.highest(C)),
                        ("D", "max D", read.highest(D)),
                    )
                },
            }
        ),
        InRegime(read.least_stage, 1.0),
    ),
    "rnrf.lemD.21.offdiag_adv": _under_hypotheses(
        "inequality",
        (QUIET,),
        _upper_bound("max C over its start", "foreign_robust_ratio", QUIET),
        _upper_bound("max D over its start", "foreign_nonrobust_ratio", QUIET),
        long_enough(where(QUIET)),
    ),
    "rnrf.lemD.23": _under_hypotheses(
        "level", (QUIET,), _vanishes_like_root("A(T)", read.robust_at_plateau, QUIET)
    ),
    "rnrf.lemE.10": _under_hypotheses(
        "level",
        (ATTACKED,),
        _vanishes_like_root("max |⟨w, ξ⟩| over t", read.highest(NOISE), ATTACKED),
        long_enough(where(ATTACKED)),
    ),
    "rnrf.lemE.11": _under_hypotheses(
        "exponent",
        (ATTACKED, LONG_ATTACKED, STEP),
        Parts(
            {
                "max A = O(log d)": Every(
                    _upper_bound("A/log d", over_classes(A), LONG_ATTACKED, per=_log),
                    long_enough(where(LONG_ATTACKED)),
                ),
                "max A = Ω(log d)": UnlessRefuted(
                    _lower_bound("A/log d", over_classes(A), LONG_ATTACKED, per=_log), _FIXED_PART
                ),
                "max B = Õ(1/η̃)": NoGrowth(
                    "slope in η̃ of η̃·B", over_classes(B), "η̃", where(STEP), per=_inverse
                ),
                "max C = O(polylog(d)/√d)": Every(
                    _vanishes_like_root("max C", read.highest(C), ATTACKED),
                    long_enough(where(ATTACKED)),
                ),
                "max D = O(polylog(d)/√d)": Every(
                    _vanishes_like_root("max D", read.highest(D), ATTACKED),
                    long_enough(where(ATTACKED)),
                ),
            }
        ),
    ),
}
