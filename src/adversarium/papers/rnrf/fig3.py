"""Figure 3 of RNRF: which features standard and adversarial training learn, and when.

Paper: correlations of the filters with robust and non-robust features over 1,000 iterations;
under adversarial training the growth of the non-robust one stops "near 150"; Theorems 4.3 and 4.4
on the same two runs, as published (density 15/8 and α/ε = 5/3 are not ≫).
Reading: the attack's step η̃ = 1e3 acts on the gradient of the batch mean (1e3/N = 10 a point); the
transition is judged with the literal step, 1e3 a point, too (paper preset). Quick: m = 10, not 100.
Cost: quick 55 s (2 cores).
"""

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf import fig3_readings as read
from adversarium.papers.rnrf.fig3_figures import figures
from adversarium.papers.rnrf.fig3_readings import (
    ADV,
    ADVERSARIAL,
    LITERAL,
    LITERALLY,
    STANDARD,
    STD,
    zero,
)
from adversarium.papers.rnrf.fig3_recordings import POINTS, at_end, costly, curves, until
from adversarium.papers.rnrf.readings import turned_linear
from adversarium.papers.rnrf.regime import gates
from adversarium.plans import Run, at_most, counted_as, each, every, last, level, ordering, parts
from adversarium.probes import At, InnerGap, nonrobust_features, robust_features

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(seeds=5, steps=1000, m=10, when=(0, 150), points=20)
paper = dict(
    seeds=10,
    steps=1000,
    when=(0, 10, 30, 50, 70, 100, 150, 200, 300, 400, 500, 750),
    points=300,
    literal=True,
)

_WHEN = (0, 50, 150, 300, 500, 750)  # and the end; the paper preset takes a dozen
_INNER = (50, 70, 90, 110, 150, 300)  # and the end: the inner maximum
_SUITE = 100  # points of the costly errors


def plan(
    steps=1000,
    k=2,
    n=100,
    d=100,
    P=16,
    m=100,
    eps=1.2,
    step=1e3,
    sigma0=0.01,
    eta=0.1,
    when=_WHEN,
    points=_SUITE,
    literal=False,
):
    data = TwoFeaturePatches(k=k, d=d, P=P, alpha=2.0, beta=1.0, sigma_n=0.1, n_robust=1)
    attack = MarginStep(radius=eps, step=step, over=n)
    moments = until(when, steps)
    net = SmoothedCNN(m=m, sigma0=sigma0)
    rule: dict = dict(n=n, steps=steps, eta=eta, record=5, dtype="float32")
    for family, by, inner in ((STANDARD, None, ()), (ADVERSARIAL, attack, (InnerGap(),))):
        yield Run(
            family=family,
            data=data,
            network=net,
            attack=by,
            **rule,
            probes=(
                *curves(steps),
                *(At(probe, moments) for probe in costly(data, eps, step, points)),
                *(At(probe, until(_INNER, steps)) for probe in inner),
            ),
            final=at_end(by, k, eps, step, points),
        )
    if literal:
        by = MarginStep(radius=eps, step=step)
        features = (robust_features, nonrobust_features)
        yield Run(family=LITERALLY, data=data, network=net, attack=by, probes=features, **rule)


def _perfect(name, run):
    """An error of 0.00 to two digits, in every seed."""
    return level(last(name, run, POINTS), high=0.005, always=True)


def _broken(name, run, points=POINTS):
    """An error of 1.00 to two digits."""
    return level(last(name, run, points), 0.995, 1)


def _rise(name):
    """Adversarial training ends more accurate than it was at t = 150."""
    return ordering(read.final_accuracy(name).on(ADV), than=read.accuracy_at(name, 150).on(ADV))


def _clean(after):
    """The largest error on fresh points of either training from some time on."""
    return (read.worst_error("test_error", after).on(run) for run in (STD, ADV))


checks = {
    "rnrf.fig3.transition": parts(
        {
            "η̃ = 10³ on the batch mean: growth turns from B to A near 150": level(
                read.stall.on(ADV), 90, 180
            ),
            "η̃ = 10³ on the batch mean: B stops growing": level(
                read.later_growth.on(ADV), 0.9, 1.1
            ),
            "η̃ = 10³ a point: A takes off": each(
                LITERAL, lambda run: level(turned_linear.on(run), 1, 1)
            ),
        }
    ),
    "rnrf.fig3.std_dominated": ordering(read.dominance.on(STD), than=zero),
    "rnrf.phase2.crossing.published": parts(
        {
            "A exceeds B at the end under attack": ordering(read.lead.on(ADV), than=zero),
            "and does so within the run": level(read.overtaking.on(ADV), 100, 1000),
            "never in standard training": ordering(zero, than=read.latest_lead.on(STD)),
        }
    ),
    "rnrf.fig3.std_acc": every(*(level(e, high=0.005, always=True) for e in _clean(150))),
    "rnrf.fig3.std_acc.early": parts(
        {
            name: at_most(error, 0.005)
            for name, error in zip((STANDARD, ADVERSARIAL), _clean(50), strict=True)
        }
    ),
    "rnrf.fig3.robust_rise": counted_as(
        "ordering",
        parts(
            {
                "zero at t = 150": level(read.accuracy_at("strong_error", 150).on(ADV), 0, 0.02),
                "risen at the end": level(read.final_accuracy("strong_error").on(ADV), 0.05),
            }
        ),
    ),
    "rnrf.fig3.robust_rise.weak": every(_rise("replaced_error"), _rise("raw_error")),
    "rnrf.thm4.3.train_perfect.published": level(last("train_error", STD), 0, 0, always=True),
    "rnrf.thm4.3.test_good.published": _perfect("test_error", STD),
    "rnrf.thm4.3.nonrobust_features.published": _perfect("nonrobust_only_error", STD),
    "rnrf.thm4.3.attack.published": _broken("replaced_error", STD),
    "rnrf.thm4.4.robust_features.published": _perfect("robust_only_error", ADV),
    "rnrf.thm4.4.train_perfect.published": level(last("strong_train_error", ADV), 0, 0),
    "rnrf.thm4.4.robust_test.published": level(last("suite_error", ADV, _SUITE), high=0.05),
    "rnrf.thm4.4.weak": every(_perfect("replaced_error", ADV), _perfect("own_attack_error", ADV)),
    "rnrf.remark2.5.pgd_inner.published": parts(
        {
            "phase I, 50 ≤ t ≤ 110": level(read.largest_gap(50, 110).on(ADV), high=0.1),
            "from t = 150 on": level(read.largest_gap(150).on(ADV), high=0.1),
        }
    ),
    "rnrf.sec3.decomp.published": level(last("typical_feature_energy", STD), 0.95, 1),
}
