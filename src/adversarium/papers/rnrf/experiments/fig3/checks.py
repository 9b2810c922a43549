"""Checks of Figure 3 of RNRF."""

from adversarium.plans import AtMost, CountedAs, Each, Every, Level, Ordering, Parts, last

from ...theory.readings import turned_linear
from ..fig3 import readings as read
from .plan import _COSTLY_POINTS
from .readings import ADV, ADVERSARIAL, LITERAL, STANDARD, STD, zero
from .recordings import POINTS


def _perfect(name, run):
    """Check that an error is 0.00, to two decimals, in every seed."""
    return Level(last(name, run, POINTS), high=0.005, always=True)


def _all_wrong(name, run, points=POINTS):
    """Check that an error is 1.00, to two decimals."""
    return Level(last(name, run, points), 0.995, 1)


def _rise(name):
    """Check that adversarial training is more accurate at the end than at t = 150."""
    return Ordering(read.final_accuracy(name).on(ADV), than=read.accuracy_at(name, 150).on(ADV))


def _clean_errors(after):
    """Return, for standard and adversarial training, the largest test error from t = `after` on."""
    return (read.worst_error("test_error", after).on(run) for run in (STD, ADV))


checks = {
    "rnrf.fig3.transition": Parts(
        {
            "η̃ = 10³ on the batch mean: growth turns from B to A near 150": Level(
                read.stall.on(ADV), 90, 180
            ),
            "η̃ = 10³ on the batch mean: B stops growing": Level(
                read.later_growth.on(ADV), 0.9, 1.1
            ),
            "η̃ = 10³ a point: A takes off": Each(
                LITERAL, lambda run: Level(turned_linear.on(run), 1, 1)
            ),
        }
    ),
    "rnrf.fig3.std_dominated": Ordering(read.dominance.on(STD), than=zero),
    "rnrf.phase2.crossing.published": Parts(
        {
            "A exceeds B at the end under attack": Ordering(read.lead.on(ADV), than=zero),
            "and does so within the run": Level(read.overtaking.on(ADV), 100, 1000),
            "never in standard training": Ordering(zero, than=read.latest_lead.on(STD)),
        }
    ),
    "rnrf.fig3.std_acc": Every(*(Level(e, high=0.005, always=True) for e in _clean_errors(150))),
    "rnrf.fig3.std_acc.early": Parts(
        {
            name: AtMost(error, 0.005)
            for name, error in zip((STANDARD, ADVERSARIAL), _clean_errors(50), strict=True)
        }
    ),
    "rnrf.fig3.robust_rise": CountedAs(
        "ordering",
        Parts(
            {
                "zero at t = 150": Level(read.accuracy_at("strong_error", 150).on(ADV), 0, 0.02),
                "risen at the end": Level(read.final_accuracy("strong_error").on(ADV), 0.05),
            }
        ),
    ),
    "rnrf.fig3.robust_rise.weak": Every(_rise("replaced_error"), _rise("raw_error")),
    "rnrf.thm4.3.train_perfect.published": Level(last("train_error", STD), 0, 0, always=True),
    "rnrf.thm4.3.test_good.published": _perfect("test_error", STD),
    "rnrf.thm4.3.nonrobust_features.published": _perfect("nonrobust_only_error", STD),
    "rnrf.thm4.3.attack.published": _all_wrong("replaced_error", STD),
    "rnrf.thm4.4.robust_features.published": _perfect("robust_only_error", ADV),
    "rnrf.thm4.4.train_perfect.published": Level(last("strong_train_error", ADV), 0, 0),
    "rnrf.thm4.4.robust_test.published": Level(last("suite_error", ADV, _COSTLY_POINTS), high=0.05),
    "rnrf.thm4.4.weak": Every(_perfect("replaced_error", ADV), _perfect("own_attack_error", ADV)),
    "rnrf.remark2.5.pgd_inner.published": Parts(
        {
            f"{period}, {step}": Level(read.largest_gap(*times).on(runs), high=0.1)
            for step, runs in (("η̃ = 10³ on the batch mean", ADV), ("η̃ = 10³ a point", LITERAL))
            for period, times in (("50 ≤ t ≤ 110", (50, 110)), ("t ≥ 150", (150,)))
        }
    ),
    "rnrf.sec3.decomp.published": Level(last("typical_feature_energy", STD), 0.95, 1),
}
