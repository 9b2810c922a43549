"""The checks of RNRF's Theorems 4.3 and 4.4, and of what is said beside them, where the hypotheses
hold together."""

from adversarium.papers.rnrf import fig3_readings as read
from adversarium.papers.rnrf.fig3_readings import ADVERSARIAL, STANDARD
from adversarium.papers.rnrf.regime import hypotheses
from adversarium.plans import (
    at_most,
    counted_as,
    each,
    every,
    last,
    level,
    ordering,
    parts,
    unless_refuted,
    where,
)

BROKEN = "broken_train_error"
POINTS = 200  # fresh ones of every error
VANISHING = 0.02  # how o(1) is read
STANDARD_START, PRINTED_START = "standard, σ0 = 1/√d", "adversarial, σ0 = 1/√d"  # as B.3 prints
STANDARDS = (STANDARD, STANDARD_START)
_SOON = "at small d classes freeze within 600 steps; at larger d more of them learn"
_AS_PRINTED, _SMALLER = "from σ0 = 1/√d, as printed", "from σ0 = 0.3/√d"


def _everywhere(family, *checks):
    """What is said of every run of a family, where the assumptions hold together."""
    named = [each(where(family), check) for check in checks]
    return every(*named, hypotheses(where(family)))


def _placed(named):
    """The parts of a statement about both trainings, where the assumptions hold together."""
    return every(parts(named), hypotheses(where(STANDARD), where(ADVERSARIAL)))


def _carried(name):
    """The features carry at least 0.95 of a filter's energy."""
    return lambda run: level(last(name, run), 0.95, 1)


def _close(gap):
    """One step is within a tenth of what PGD-20 finds."""
    return lambda run: level(gap.on(run), high=0.1)


def _none(name):
    """An error is o(1)."""
    return lambda run: level(last(name, run, POINTS), high=VANISHING)


def _all(name):
    """An error is 1 − o(1)."""
    return lambda run: level(last(name, run, POINTS), 1 - VANISHING, 1)


def _led_by_A(run):
    """max A above max B in every class at the end."""
    return ordering(read.lead.on(run), than=read.zero)


def _never_led_by_A(run):
    """A above B in no seed once B has reached ϱ/β."""
    return at_most(read.latest_lead.on(run), 0.0)


def _perfect(name):
    """Every training point is right, in every seed."""
    return lambda run: level(last(name, run), 0, 0, always=True)


checks = {
    "rnrf.thm4.3.train_perfect": _everywhere(STANDARDS, _perfect("train_error")),
    "rnrf.thm4.3.test_good": _everywhere(STANDARDS, _none("test_error")),
    "rnrf.thm4.3.nonrobust_features": _everywhere(STANDARDS, _none("nonrobust_only_error")),
    "rnrf.thm4.3.attack": _everywhere(STANDARDS, _all("replaced_error"), _none("swapped_error")),
    "rnrf.thm4.4.robust_features": counted_as(
        "level",
        parts(
            {
                _SMALLER: _everywhere(ADVERSARIAL, _none("robust_only_error")),
                _AS_PRINTED: unless_refuted(
                    _everywhere(PRINTED_START, _none("robust_only_error")), _SOON
                ),
            }
        ),
    ),
    "rnrf.thm4.4.train_perfect": _everywhere(ADVERSARIAL, _perfect(BROKEN)),
    "rnrf.thm4.4.robust_test": _everywhere(ADVERSARIAL, _none("suite_error")),
    "rnrf.thm4.4.weak.consistent": _everywhere(
        ADVERSARIAL, _none("replaced_error"), _none("own_attack_error")
    ),
    "rnrf.thm4.4.universal": _everywhere(ADVERSARIAL, _all("universal_error")),
    "rnrf.sec3.decomp": _everywhere(STANDARDS, _carried("typical_feature_energy")),
    "rnrf.phase2.crossing": _placed(
        {
            f"A exceeds B at the end under attack, {_SMALLER}": each(ADVERSARIAL, _led_by_A),
            f"A exceeds B at the end under attack, {_AS_PRINTED}": unless_refuted(
                each(PRINTED_START, _led_by_A), _SOON
            ),
            f"never in standard training, {_SMALLER}": each(STANDARD, _never_led_by_A),
            f"never in standard training, {_AS_PRINTED}": unless_refuted(
                each(STANDARD_START, _never_led_by_A), "d <= 50"
            ),
        }
    ),
    "rnrf.remark2.5.pgd_inner": _placed(
        {
            "t ≤ 50": each(ADVERSARIAL, _close(read.largest_gap(1, 50))),
            "from t = 250 on": each(ADVERSARIAL, _close(read.largest_gap(250))),
        }
    ),
}
