"""Figure 3 of RNRF: which features standard and adversarial training learn, and when.

Paper: correlations of the filters with robust and non-robust features over 1,000 iterations;
under adversarial training the growth of the non-robust one stops "near 150"; Theorems 4.3 and 4.4
and the lemmas of Apps. D and E on the same two runs.
Reading: the attack's step η̃ = 1e3 acts on the gradient of the batch mean (1e3/N = 10 a point).
Cost: quick 55 s (2 cores).
"""

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf import fig3_readings as read
from adversarium.papers.rnrf.fig3_figures import figures
from adversarium.papers.rnrf.fig3_readings import ADV, ADVERSARIAL, STANDARD, STD, zero
from adversarium.papers.rnrf.fig3_recordings import POINTS, at_end, costly, curves, until
from adversarium.papers.rnrf.readings import CLEAN, doubt_law, largest_over_start, logit_growth
from adversarium.papers.rnrf.regime import gates
from adversarium.plans import Run, at_most, every, last, level, ordering, power
from adversarium.probes import At, InnerGap

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(seeds=5, steps=1000)
paper = dict(
    seeds=10,
    steps=1000,
    when=(0, 10, 30, 50, 70, 100, 150, 200, 300, 400, 500, 750),
    points=300,
)

_WHEN = (0, 50, 150, 300, 500, 750)  # and the end; the paper preset takes a dozen
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
):
    data = TwoFeaturePatches(k=k, d=d, P=P, alpha=2.0, beta=1.0, sigma_n=0.1, n_robust=1)
    attack = MarginStep(radius=eps, step=step, over=n)
    moments = until(when, steps)
    for family, by, inner in ((STANDARD, None, ()), (ADVERSARIAL, attack, (InnerGap(),))):
        yield Run(
            family=family,
            data=data,
            network=SmoothedCNN(m=m, sigma0=sigma0),
            attack=by,
            n=n,
            steps=steps,
            eta=eta,
            probes=(
                *curves(steps),
                *(At(probe, moments) for probe in costly(data, eps, step, points)),
                *(At(probe, moments[::2]) for probe in inner),
            ),
            final=at_end(by, k, eps, step, points),
            record=5,
            dtype="float32",
        )


def _perfect(name, run):
    """An error of 0.00 to two digits."""
    return level(last(name, run, POINTS), 0, 0.005)


def _rise(name):
    """Adversarial training ends more accurate than it was at t = 150."""
    return ordering(read.final_accuracy(name).on(ADV), than=read.accuracy_at(name, 150).on(ADV))


checks = {
    "rnrf.fig3.transition": level(read.stall.on(ADV), 90, 180),
    "rnrf.fig3.std_dominated": ordering(read.dominance.on(STD), than=zero),
    "rnrf.phase2.crossing": every(
        ordering(read.lead.on(ADV), than=zero),
        ordering(zero, than=read.lead.on(STD)),
        level(read.overtaking.on(ADV), 100, 1000),
    ),
    "rnrf.fig3.std_acc": every(
        level(read.worst_error("test_error").on(STD), 0, 0.005),
        level(read.worst_error("test_error").on(ADV), 0, 0.005),
    ),
    "rnrf.fig3.robust_rise": every(
        _rise("replaced_error"),
        _rise("raw_error"),
        level(read.best_accuracy("strong_error").on(ADV), 0, 0.01),
    ),
    "rnrf.thm4.3.train_perfect": level(last("train_error", STD), 0, 0),
    "rnrf.thm4.3.test_good": _perfect("test_error", STD),
    "rnrf.thm4.3.nonrobust_features": _perfect("nonrobust_only_error", STD),
    "rnrf.thm4.3.attack": level(last("replaced_error", STD, POINTS), 0.995, 1),
    "rnrf.thm4.4.robust_features": _perfect("robust_only_error", ADV),
    "rnrf.thm4.4.train_perfect": level(last("strong_train_error", ADV), 0, 0),
    "rnrf.thm4.4.robust_test": level(last("suite_error", ADV, _SUITE), 0, 0.05),
    "rnrf.thm4.4.weak": every(_perfect("replaced_error", ADV), _perfect("own_attack_error", ADV)),
    "rnrf.lemE.5.balance": at_most(read.imbalance.on(STD), 0),
    "rnrf.lemE.6.sum": level(read.sum_ratio.on(STD), 0, 1.5),
    "rnrf.lemD.5.logit": every(
        *doubt_law(CLEAN, STD, 0.1, 0.9),
        level(read.doubt_over_bound.on(STD), 0, 1.25),
    ),
    "rnrf.lemD.6": every(*doubt_law(CLEAN, STD, 0.45, 0.55)),
    "rnrf.lemD.11.logF": every(
        power(logit_growth(CLEAN).on(STD), 0.8, 1.2), power(read.late_loss.on(STD), 0.7, 1.3)
    ),
    "rnrf.lemD.10.stage2": every(
        level(read.stage_two.on(STD), high=10), level(read.robust_change.on(STD), 0, 0.1)
    ),
    "rnrf.lemE.3.noise": level(largest_over_start("noise_correlation_off").on(STD), 0, 2),
    "rnrf.lemE.10": level(largest_over_start("noise_correlation_off").on(ADV), 0, 2),
    "rnrf.lemD.23": level(read.robust_at_plateau.on(ADV), 0, 1),
    "rnrf.remark2.5.pgd_inner": level(read.largest_gap.on(ADV), high=0.1),
    "rnrf.lemD.21.offdiag_adv": every(
        at_most(read.largest_growth("foreign_robust").on(ADV), 0),
        at_most(read.largest_growth("foreign_nonrobust").on(ADV), 0),
    ),
    "rnrf.phase1": level(read.early_difference, 0, 0.05),
    "rnrf.sec3.decomp": level(last("feature_energy", STD), 0.95, 1),
}
