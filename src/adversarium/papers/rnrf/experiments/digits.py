"""Tables 1 and 2 and Figure 4 of RNRF on a stand-in: the UCI digits.

Paper: a standard network is more accurate on images rebuilt from non-robust features (NR) than on
those from robust features (R), an adversarially trained one the other way round; attacks that match
non-robust features fool the standard network, and neither kind fools the other one often.
Reading: a small CNN with a representation of 12 coordinates, ε = 0.2, PGD-4 after three clean
epochs; inversion of test images from noise and from an unrelated image; learner ≠ reference.
Cost: quick 60 s, paper 14 min (2 cores, --on processes:2).
"""

from adversarium.data import Digits
from adversarium.networks import Module, small_cnn
from adversarium.plans import Curves, Every, Ordering, Parts, Profile, Table, where
from adversarium.plans.image_runs import many_steps
from adversarium.training import SGD

from ..theory.image_features import (
    ADVERSARIAL,
    STANDARD,
    STARTS,
    change_check,
    curve_check,
    early_features,
    feature_run,
    nrf_beats_rf,
    order_check,
    rf_beats_nrf,
    robust_accuracy,
    stays_low,
)

quick = dict(n=600, epochs=12, n_sets=80, inversion=80, draws=2, seeds=5)
paper = dict(n=1397, epochs=24, n_sets=150, inversion=120, draws=5, seeds=15)
PAIRS = {"3 → 8": (3, 8), "8 → 3": (8, 3), "0 → 1": (0, 1), "1 → 0": (1, 0)}
COLD = "adversarial from the start"
NET, ROBUST = where(STANDARD), where(ADVERSARIAL)


def plan(n=1397, epochs=22, eps=0.2, width=16, n_sets=400, inversion=200, draws=3, n_test=400,
         batch=50, eta=0.05):  # fmt: skip
    per_epoch = n // batch
    network = Module(build=small_cnn, options={"width": width, "hidden": 12, "activation": "leaky"})
    cold, warm = many_steps(eps / 2, 4), many_steps(eps, 4, after=3 * per_epoch)
    early = tuple(max(1, per_epoch * k // 2) for k in range(1, min(16, 2 * epochs) + 1))
    times = tuple(per_epoch * e for e in range(2, epochs + 1, max(1, epochs // 6)))
    common = dict(data=Digits(n_test=n_test), network=network, reference=warm, eps=eps, n=n)
    common |= dict(optimiser=SGD(batch=batch, momentum=0.9), eta=eta, steps=epochs * per_epoch)
    common |= dict(pairs=tuple(PAIRS.values()), n_test=n_test, n_sets=n_sets, draws=draws)
    common |= dict(inversion=inversion, at={})
    for family, attack in ((STANDARD, None), (ADVERSARIAL, warm), (COLD, cold)):
        at = early if family == COLD else times
        yield feature_run(family, attack=attack, times=at, **common)


checks = {
    "rnrf.tab1.std_order.digits": Parts(order_check("nr", "r", NET)),
    "rnrf.tab1.adv_order.digits": Parts(order_check("r", "nr", ROBUST)),
    "rnrf.tab1.adv_suppresses_nr.digits": Parts(change_check("nr", NET, ROBUST, rises=False)),
    "rnrf.tab1.adv_strengthens_r.digits": Parts(change_check("r", NET, ROBUST, rises=True)),
    "rnrf.tab1.robust_gap.digits": Ordering(robust_accuracy(ROBUST), than=robust_accuracy(NET)),
    "rnrf.fig4.curves.digits": Parts(
        {
            "standard": Every(*(curve_check("nr", "r", s, NET) for s in STARTS)),
            "adversarial": Every(*(curve_check("r", "nr", s, ROBUST) for s in STARTS)),
        }
    ),
    "rnrf.tab2.std_nrf_beats_rf.digits": nrf_beats_rf(PAIRS, NET),
    "rnrf.tab2.adv_rf_beats_nrf.digits": rf_beats_nrf(PAIRS, ROBUST),
    "rnrf.tab2.adv_low.digits": stays_low(PAIRS, NET, ROBUST),
    "rnrf.x.phase": Parts(
        {
            f"from {start}": Ordering(
                early_features("nr", start, where(COLD)),
                than=early_features("r", start, where(COLD)),
            )
            for start in STARTS
        }
    ),
}

TABLE = {
    "test_error": "clean error",
    "robust_test_error": "robust error (PGD-20)",
    "fla_nr_noise": "FLA NR",
    "fla_r_noise": "FLA R",
    "fla_untrained_noise": "FLA, untrained reference",
    "fla_start_noise": "accuracy on the starts",
    "fla_residual_nr_noise": "residual NR",
    "fla_residual_r_noise": "residual R",
}
CURVES = {"fla_nr_noise": "FLA NR", "fla_r_noise": "FLA R", "fla_clean_noise": "clean accuracy"}
RATES = {
    "success_nrf": "NRF-PGD",
    "success_rf": "RF-PGD",
    "success_pixel": "pixel step",
    "success_random": "random signs",
    "success_none": "no attack",
}

figures = (
    Table(
        name="table1",
        title="Table 1 on the digits: accuracies on rebuilt images, with controls",
        y=tuple(TABLE),
        names=TABLE,
        caption="Mean over seeds with its 99 % interval. Start: noise.",
    ),
    Curves(
        name="curves",
        title="Figure 4 on the digits: feature learning accuracy during training",
        y=tuple(CURVES),
        runs=(NET, ROBUST),
        names=CURVES,
        x_label="step t",
        y_label="accuracy",
        caption="Mean and range (band) over seeds.",
    ),
    Profile(
        name="table2",
        title="Table 2 on the digits: share of source images classified as the target class",
        y=tuple(RATES),
        names=RATES,
        runs=(NET, ROBUST),
        places=tuple(PAIRS),
        x_label="source → target",
        y_label="success rate",
        caption="Mean and range (bar) over seeds. The last three use no features.",
    ),
)
