"""Checks of Theorems 4.3 and 4.4 of RNRF and of related statements, under all hypotheses."""

import numpy as np

from adversarium.plans import (
    AtMost,
    CountedAs,
    Each,
    Every,
    Level,
    Ordering,
    Parts,
    Reading,
    UnlessRefuted,
    last,
    where,
)

from ...theory.regime import hypotheses
from ..fig3 import readings as read
from ..fig3.readings import ADVERSARIAL, STANDARD
from .plan import ATTACKED_TRAIN_ERROR, POINTS, PRINTED_START, STANDARD_START, THRESHOLD

VANISHING = 0.02  # the bound that stands for o(1)
STANDARDS = (STANDARD, STANDARD_START)
_SMALL_THRESHOLD = where(THRESHOLD, **{"σ0√d": 0.3, "ϱ log d": 1.0})
_TOO_FEW_STEPS = "classes that freeze at small d may learn at larger d"
_AS_PRINTED, _SMALLER = "from σ0 = 1/√d, as printed", "from σ0 = 0.3/√d"


def _in_every_run(family, *checks):
    """Check all statements in every run of a family, and require the hypotheses of RNRF."""
    named = [Each(where(family), check) for check in checks]
    return Every(*named, hypotheses(where(family)))


def _under_hypotheses(named):
    """Combine parts on standard and adversarial training, and require the hypotheses of RNRF."""
    return Every(Parts(named), hypotheses(where(STANDARD), where(ADVERSARIAL)))


def _on_features(name):
    """Check that at least 0.95 of a filter's squared norm lies on the features."""
    return lambda run: Level(last(name, run), 0.95, 1)


def _largest_gap(begin, end):
    """Return the largest `inner_loss_gap` between two shares of the run, from t = 1 on."""

    def largest(rows):
        t, gap = rows.curve("inner_loss_gap")
        steps = rows.run.steps
        between = (t >= max(1, begin * steps)) & (t <= end * steps)
        return np.where(between, gap, -np.inf).max(1)

    name = f"largest (L(PGD-20) − L(one step))/|L(X)|, {begin:g} ≤ t/T ≤ {end:g}"
    return Reading(name, largest, ("inner_loss_gap",))


def _gap_small(gap):
    """Check that one step misses at most a tenth of the clean loss, compared with PGD-20."""
    return lambda run: CountedAs("level", AtMost(gap.on(run), 0.1))


def _vanishes(name):
    """Check that an error is o(1)."""
    return lambda run: Level(last(name, run, POINTS), high=VANISHING)


def _at_most(name, most):
    """Check that an error is at most `most` in every seed."""
    return lambda run: CountedAs("level", AtMost(last(name, run, POINTS), most))


def _tends_to_one(name):
    """Check that an error is 1 − o(1)."""
    return lambda run: Level(last(name, run, POINTS), 1 - VANISHING, 1)


def _at_least_half(name):
    """Check that an error is at least ½, so that it is not o(1)."""
    return lambda run: Level(last(name, run, POINTS), 0.5, 1)


def _led_by_A(run):
    """Check that max A is above max B in every class at the end."""
    return Ordering(read.lead.on(run), than=read.zero)


def _never_led_by_A(run):
    """Check that A is not above B in any seed once B has reached ϱ/β."""
    return AtMost(read.latest_lead.on(run), 0.0)


def _perfect(name):
    """Check that every training point is classified correctly in every seed."""
    return lambda run: Level(last(name, run), 0, 0, always=True)


checks = {
    "rnrf.thm4.3.train_perfect": _in_every_run(STANDARDS, _perfect("train_error")),
    "rnrf.thm4.3.test_good": _in_every_run(STANDARDS, _vanishes("test_error")),
    "rnrf.thm4.3.nonrobust_features": _in_every_run(STANDARDS, _vanishes("nonrobust_only_error")),
    "rnrf.thm4.3.attack": _in_every_run(
        STANDARDS, _tends_to_one("replaced_error"), _vanishes("swapped_error")
    ),
    "rnrf.thm4.4.robust_features": CountedAs(
        "level",
        Parts(
            {
                _SMALLER: _in_every_run(ADVERSARIAL, _vanishes("robust_only_error")),
                _AS_PRINTED: UnlessRefuted(
                    _in_every_run(PRINTED_START, _vanishes("robust_only_error")), _TOO_FEW_STEPS
                ),
                "ϱ = 1/log d instead of 3/log d": UnlessRefuted(
                    Every(
                        _vanishes("robust_only_error")(_SMALL_THRESHOLD),
                        hypotheses(_SMALL_THRESHOLD),
                    ),
                    _TOO_FEW_STEPS,
                ),
            }
        ),
    ),
    "rnrf.thm4.4.train_perfect": _in_every_run(ADVERSARIAL, _at_most(ATTACKED_TRAIN_ERROR, 0.0)),
    "rnrf.thm4.4.robust_test": _in_every_run(ADVERSARIAL, _at_most("suite_error", VANISHING)),
    "rnrf.thm4.4.weak.consistent": _in_every_run(
        ADVERSARIAL, _vanishes("replaced_error"), _vanishes("own_attack_error")
    ),
    "rnrf.thm4.4.universal": _in_every_run(ADVERSARIAL, _at_least_half("universal_error")),
    "rnrf.sec3.decomp": Every(
        *(
            Each(runs, _on_features("typical_feature_energy"))
            for runs in (where(STANDARD, k=2), where(STANDARD, k=5), where(STANDARD_START))
        ),
        hypotheses(where(STANDARDS)),
    ),
    "rnrf.phase2.crossing": _under_hypotheses(
        {
            f"A exceeds B at the end under attack, {_SMALLER}": Each(where(ADVERSARIAL), _led_by_A),
            f"A exceeds B at the end under attack, {_AS_PRINTED}": UnlessRefuted(
                Each(where(PRINTED_START), _led_by_A), _TOO_FEW_STEPS
            ),
            f"never in standard training, {_SMALLER}": UnlessRefuted(
                Each(where(STANDARD), _never_led_by_A), "single seeds at d ≤ 64, none at d = 128"
            ),
            f"never in standard training, {_AS_PRINTED}": UnlessRefuted(
                Each(where(STANDARD_START), _never_led_by_A), "d <= 32"
            ),
        }
    ),
    "rnrf.remark2.5.pgd_inner": _under_hypotheses(
        {
            "in the first tenth of the run": Each(
                where(ADVERSARIAL), _gap_small(_largest_gap(0, 0.1))
            ),
            "in its second half": Each(where(ADVERSARIAL), _gap_small(_largest_gap(0.5, 1))),
        }
    ),
}
