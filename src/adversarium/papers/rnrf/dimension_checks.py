"""The checks of RNRF's runs over the dimension."""

import math

from adversarium.papers.rnrf import dimension_readings as read
from adversarium.papers.rnrf.dimension_readings import (
    ATTACKED,
    CLASSES,
    FIT,
    LONG,
    NOISE,
    NOISY,
    PLAIN,
    QUIET,
    STEP,
    C,
    D,
)
from adversarium.papers.rnrf.readings import A, B, over_classes
from adversarium.papers.rnrf.regime import hypotheses, long_enough
from adversarium.plans import (
    counted_as,
    every,
    in_regime,
    level,
    no_decay,
    no_growth,
    parts,
    unless_refuted,
    where,
)


def _inverse(step):
    return 1 / step


def _root(d):
    """1/√d."""
    return d**-0.5


def _square(d):
    return d**2


def _log(d):
    return math.log(d)


def _one(d):
    return 1.0


def _up(name, number, family, logs=0, per=_one):
    """A number is at most `per` of d, up to a constant and log^logs d."""
    return no_growth(f"slope in d of {name}", number, "d", where(family), logs, per)


def _down(name, number, family, per=_one):
    """A number is at least `per` of d, up to a constant."""
    return no_decay(f"slope in d of {name}", number, "d", where(family), 0, per)


def _small(name, number, family):
    """A number is O(polylog(d)/√d); polylog is read as log²d."""
    return _up(f"{name}·√d", number, family, 2, _root)


def _share(k):
    """What the law's η/k makes of an increment that is divided by η instead: k/(1 − 1/k)."""
    return k / (1 - 1 / k)


def _grows_alike(letter, family, per=_one):
    """Increments of A and B over η A^{q−1} Σα^q: neither trend along a letter."""
    told = f"slope in {letter} of the {{}} increment over its law"
    meant = where(family)
    return (
        no_decay(told.format("least"), "least_growth", letter, meant, 0, per),
        no_growth(told.format("largest"), "largest_growth", letter, meant, 0, per),
    )


def _placed(kind, families, *checks):
    """What is said of runs in which the assumptions hold together."""
    return counted_as(kind, every(*checks, hypotheses(*map(where, families))))


_SOON = "the time, of order √d, ends sooner in A's growth at larger d and η̃"
_TERM = "ϱ = 1/log d adds ⅔ϱ to B, which falls with d by itself"

checks = {
    "rnrf.lemD.8.poly": _placed(
        "level",
        (PLAIN, CLASSES),
        parts(
            {
                "Θ(η) along d": every(*_grows_alike("d", PLAIN)),
                "Θ(η) along k": every(*_grows_alike("k", CLASSES, per=_share)),
            }
        ),
    ),
    "rnrf.lemD.8.poly.corrected": _placed(
        "level", (PLAIN, CLASSES), *_grows_alike("d", PLAIN), *_grows_alike("k", CLASSES)
    ),
    "rnrf.lemD.9.dominance": _placed(
        "level",
        (PLAIN,),
        level(read.over_bound, high=1.05),
        level(read.most_growth, high=1.05 / (1 - 1 / read.GAP)),
        _small("A(0)", read.robust_at_start, PLAIN),
    ),
    "rnrf.lemD.10.stage2": _placed(
        "level",
        (PLAIN,),
        parts(
            {
                "T′ ≥ T": level(read.in_order, 0.9),
                "F_y reaches log d in polynomial time": no_growth(
                    "slope in d of T′ over d²", read.fitted_time, "d", where(PLAIN), per=_square
                ),
                "max A = O(polylog(d)/√d) at T′": _small("A(T′)", read.robust_when_fitted, PLAIN),
            }
        ),
    ),
    "rnrf.lemD.10.stage2.time": _placed(
        "level", (PLAIN,), _up("(T′ − T)η/log d", read.stage_two, PLAIN)
    ),
    "rnrf.lemD.11.logF": _placed(
        "exponent",
        (PLAIN,),
        parts(
            {
                "F_y = O(log d)": every(
                    _up("F_y/log d at the end", over_classes(FIT), PLAIN, per=_log),
                    long_enough(where(PLAIN)),
                ),
                "max A = O(polylog(d)/√d)": every(
                    _small("A at the end", read.robust_at_end, PLAIN), long_enough(where(PLAIN))
                ),
            }
        ),
    ),
    "rnrf.lemE.3.noise": _placed(
        "level",
        (NOISY,),
        _small("max |⟨w, ξ⟩| over t", read.highest(NOISE), NOISY),
        long_enough(where(NOISY)),
    ),
    "rnrf.lemE.4": _placed(
        "identity", (NOISY,), _up("remainder over η/√d", "noise_remainder", NOISY, 2)
    ),
    "rnrf.lemE.5.balance": _placed(
        "inequality", (NOISY,), _down("least min F_y/max F_y", read.least_balance, NOISY)
    ),
    "rnrf.lemE.6.sum": _placed(
        "level", (LONG,), _up("ηΣE[1 − π_y] from T₀ on", read.late_sum, LONG, 2)
    ),
    "rnrf.lemE.7.final": _placed(
        "exponent",
        (NOISY,),
        parts(
            {
                "max B = O(log d)": every(
                    _up("B/log d", over_classes(B), NOISY, per=_log), long_enough(where(NOISY))
                ),
                "max B = Ω(log d)": unless_refuted(
                    _down("B/log d", over_classes(B), NOISY, per=_log), _TERM
                ),
                **{
                    f"max {letter} = O(polylog(d)/√d)": every(
                        _small(told, number, NOISY), long_enough(where(NOISY))
                    )
                    for letter, told, number in (
                        ("A", "A", over_classes(A)),
                        ("C", "max C", read.highest(C)),
                        ("D", "max D", read.highest(D)),
                    )
                },
            }
        ),
        in_regime(read.least_stage, 1.0),
    ),
    "rnrf.lemD.21.offdiag_adv": _placed(
        "inequality",
        (QUIET,),
        _up("max C over its start", "foreign_robust_ratio", QUIET),
        _up("max D over its start", "foreign_nonrobust_ratio", QUIET),
        long_enough(where(QUIET)),
    ),
    "rnrf.lemD.23": _placed("level", (QUIET,), _small("A(T)", read.robust_at_plateau, QUIET)),
    "rnrf.lemE.10": _placed(
        "level",
        (ATTACKED,),
        _small("max |⟨w, ξ⟩| over t", read.highest(NOISE), ATTACKED),
        long_enough(where(ATTACKED)),
    ),
    "rnrf.lemE.11": _placed(
        "exponent",
        (ATTACKED, STEP),
        parts(
            {
                "max A = O(log d)": every(
                    _up("A/log d", over_classes(A), ATTACKED, per=_log),
                    long_enough(where(ATTACKED)),
                ),
                "max A = Ω(log d)": unless_refuted(
                    _down("A/log d", over_classes(A), ATTACKED, per=_log), _SOON
                ),
                "max B = Õ(1/η̃)": no_growth(
                    "slope in η̃ of η̃·B", over_classes(B), "η̃", where(STEP), per=_inverse
                ),
                "max C = O(polylog(d)/√d)": every(
                    _small("max C", read.highest(C), ATTACKED), long_enough(where(ATTACKED))
                ),
                "max D = O(polylog(d)/√d)": every(
                    _small("max D", read.highest(D), ATTACKED), long_enough(where(ATTACKED))
                ),
            }
        ),
    ),
}
