"""Tables 1 and 2 and Figures 4 and 5 of RNRF on MNIST and CIFAR-10.

Paper: WideResNet-34-10 on CIFAR-10 and SVHN (ε = 8/255), ResNet-18 on MNIST (ε = 0.3); a standard
network is more accurate on images rebuilt from non-robust features (NR) than on those from robust
features (R), an adversarially trained one the other way round.
Reading: smaller networks (ResNet-9 on CIFAR-10, LeNet-5 on MNIST); the “200 iterations” are epochs,
of which 16 are run (12 on MNIST, with 5,000 images); inversion of test images from noise and from
an unrelated image; learner ≠ reference. SVHN is open: its official files were not at hand.
Cost: not measured.
"""

from adversarium.plans import (
    Curves,
    Every,
    Open,
    Ordering,
    Parts,
    Profile,
    Table,
    image_runs,
    where,
)

from ..theory.image_features import (
    ADVERSARIAL,
    STANDARD,
    STARTS,
    change_check,
    curve_check,
    feature_run,
    nrf_beats_rf,
    order_check,
    rf_beats_nrf,
    robust_accuracy,
    similar_pairs,
    stays_low,
)
from ..theory.regime import image_gates as gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(n=2000, epochs=6, width=8, n_test=500, n_sets=100, inversion=60,
             precision="float32", seeds=5)  # fmt: skip
paper = dict(n=0, epochs=16, n_test=5000, n_sets=300, inversion=150, seeds=5)
PAIRS = {
    "cifar10": {"cat → dog": (3, 5), "dog → cat": (5, 3), "car → plane": (1, 0),
                "plane → car": (0, 1)},
    "mnist": {"3 → 8": (3, 8), "8 → 3": (8, 3), "0 → 1": (0, 1), "1 → 0": (1, 0)},
}  # fmt: skip


def plan(sets=("mnist", "cifar10"), n=0, epochs=16, width=64, n_test=5000, n_sets=300,
         inversion=100, draws=1, precision="bfloat16"):  # fmt: skip
    for name in sets:
        mnist = name == "mnist"
        eps = 0.3 if mnist else 8 / 255
        points = n or (5000 if mnist else 50000)
        if mnist:
            recipe, attack = image_runs.mnist(batch=250), image_runs.many_steps(eps, 7)
        else:
            recipe, attack = (
                image_runs.cifar10(width, precision=precision),
                image_runs.many_steps(eps, 2),
            )
        count = min(epochs, 12) if mnist else epochs
        per_epoch = points // recipe["optimiser"].batch
        times = tuple(per_epoch * e for e in range(2, count + 1, 2))
        for family, learned in ((STANDARD, None), (ADVERSARIAL, attack)):
            yield feature_run(
                family, attack=learned, reference=attack,
                eps=eps, pairs=tuple(PAIRS[name].values()), n=points, steps=count * per_epoch,
                times=times, n_test=n_test, n_sets=n_sets, inversion=inversion, draws=draws,
                at={"data": name}, suite=min(n_test, 1000), **recipe,
            )  # fmt: skip


SETS = {"MNIST": "mnist", "CIFAR-10": "cifar10"}
SVHN = Open("ordering", "SVHN, whose official files (32 × 32) were not at hand")


def _on(name):
    """Return the standard and the adversarially trained network on one data set."""
    return where(STANDARD, data=name), where(ADVERSARIAL, data=name)


def _everywhere(make):
    """Return a check with one part per data set: all that `make` returns for it, and SVHN."""
    parts = {}
    for title, name in SETS.items():
        for text, check in make(*_on(name)).items():
            parts[f"{title}, {text}" if text else title] = check
    return Parts({**parts, "SVHN": SVHN})


CIFAR = _on("cifar10")
NAMES = PAIRS["cifar10"]

checks = {
    "rnrf.tab1.std_order": _everywhere(lambda std, adv: order_check("nr", "r", std)),
    "rnrf.tab1.adv_order": _everywhere(lambda std, adv: order_check("r", "nr", adv)),
    "rnrf.tab1.adv_suppresses_nr": _everywhere(
        lambda std, adv: change_check("nr", std, adv, rises=False)
    ),
    "rnrf.tab1.adv_strengthens_r": _everywhere(
        lambda std, adv: change_check("r", std, adv, rises=True)
    ),
    "rnrf.tab1.robust_gap": _everywhere(
        lambda std, adv: {
            "": Ordering(robust_accuracy(adv, suite=True), than=robust_accuracy(std, suite=True))
        }
    ),
    "rnrf.fig4.curves": _everywhere(
        lambda std, adv: {
            "standard": Every(*(curve_check("nr", "r", s, std) for s in STARTS)),
            "adversarial": Every(*(curve_check("r", "nr", s, adv) for s in STARTS)),
        }
    ),
    "rnrf.tab2.std_nrf_beats_rf": nrf_beats_rf(NAMES, CIFAR[0]),
    "rnrf.tab2.adv_rf_beats_nrf": rf_beats_nrf(NAMES, CIFAR[1]),
    "rnrf.tab2.adv_low": stays_low(NAMES, *CIFAR),
    "rnrf.tab2.semantic_pairs": similar_pairs(CIFAR[1]),
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
        title="Table 1 on MNIST and CIFAR-10: accuracies on rebuilt images, with controls",
        y=tuple(TABLE),
        names=TABLE,
        caption="Mean over seeds with its 99 % interval. Start: noise.",
    ),
    Curves(
        name="curves",
        title="Figure 4 on MNIST and CIFAR-10: feature learning accuracy during training",
        y=tuple(CURVES),
        names=CURVES,
        x_label="step t",
        y_label="accuracy",
        caption="Mean and range (band) over seeds.",
    ),
    Profile(
        name="table2",
        title="Table 2: share of source images classified as the target class",
        y=tuple(RATES),
        names=RATES,
        runs=CIFAR,
        places=tuple(NAMES),
        x_label="source → target",
        y_label="success rate",
        caption="Mean and range (bar) over seeds. The last three use no features.",
    ),
)
