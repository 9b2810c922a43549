"""Figures 1 to 3 of CGRO on a stand-in: the UCI digits instead of MNIST and CIFAR-10.

Paper: adversarial training leaves the loss landscape flat within the training radius and sharp
outside; over the epochs it flattens at training points and sharpens at test points, and the robust
generalisation gap follows.
Reading: a small CNN, n = 600 images, ε₀ = 0.1, PGD-5 from a uniform start, 40 epochs. “From the
middle epoch on” carries the word on epochs: a network that has learned nothing is flat.
Cost: quick at most 24 min (one core of a busy machine).
"""

import math

from adversarium.data import Digits
from adversarium.networks import Module, small_cnn
from adversarium.plans import (
    Curves,
    Hypothesis,
    Level,
    Ordering,
    Parts,
    Profile,
    Table,
    last,
    where,
)
from adversarium.training import SGD

from ..theory.image_checks import (
    curve_checks,
    gap_checks,
    gradient_checks,
    growth_checks,
    loss_checks,
    trend,
)
from ..theory.images import (
    CLEAN,
    STRONG,
    curve_probes,
    fitted_norm,
    image_run,
    last_probes,
    leading,
    many_steps,
    positions,
    unfitted_share,
)

quick = dict(epochs=40, points=60, search=(14, 2), seeds=6)
paper = dict(epochs=40, points=150, search=(20, 4), checkpoints=20, seeds=10)
RADII = (0.05, 0.1, 0.2)
ADVERSARIAL, PLAIN = where(STRONG, **{"ε₀": 0.1}), where(CLEAN)


def plan(n=600, epochs=40, width=16, points=60, search=(14, 2), checkpoints=10, n_test=400,
         batch=50, eta=0.05):  # fmt: skip
    network = Module(build=small_cnn, options={"width": width})
    common = dict(data=Digits(n_test=n_test), network=network, n=n, epochs=epochs, eta=eta)
    common |= dict(optimiser=SGD(batch=batch, momentum=0.9), checkpoints=checkpoints)
    after = last_probes(0.1, points, search)
    during = curve_probes(0.1, points, n, n_test, search)
    for eps in RADII:
        main = eps == 0.1
        yield image_run(
            STRONG,
            attack=many_steps(eps, 5),
            eps=eps,
            during=during if main else (),
            after=after if main else last_probes(eps, points, search)[:1],
            **common,
        )
    yield image_run(CLEAN, attack=None, eps=0.1, during=(), after=after, **common)


checks = {
    "cgro.fig1.digits": curve_checks(ADVERSARIAL, levels=False),
    "cgro.fig2a.digits": gradient_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2b.digits": loss_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2g.digits": trend(ADVERSARIAL, "train", rises=False),
    "cgro.fig2h.digits": trend(ADVERSARIAL, "test", rises=True),
    "cgro.fig3L.digits": growth_checks(ADVERSARIAL),
    "cgro.fig3R.digits": gap_checks(ADVERSARIAL),
    "cgro.x.exponential": Parts(
        {
            "log G of the cross-entropy bends upward at ε₀": Level(
                last("train_bend", ADVERSARIAL), 1, math.inf
            ),
            "log G of the margin bends upward at ε₀": Level(
                last("margin_bend", ADVERSARIAL), 1, math.inf
            ),
        }
    ),
    "cgro.x.few": Parts(
        {
            "a tenth of the test points hold 90 % of G(ε₀)": Level(
                last("test_carriers", ADVERSARIAL), 0.0, 0.1
            ),
            "fitted test points are no sharper than fitted training points": Ordering(
                fitted_norm("train", ADVERSARIAL), than=fitted_norm("test", ADVERSARIAL)
            ),
            "shares of unfitted points": Hypothesis(
                "ordering",
                unfitted_share(ADVERSARIAL, "train"),
                unfitted_share(ADVERSARIAL, "test"),
            ),
        }
    ),
    "cgro.x.gap_follows": Level(
        leading(ADVERSARIAL), math.nextafter(0, 1), math.inf, kind="ordering"
    ),
    "cgro.x.radius.digits": Level(
        positions([where(STRONG, **{"ε₀": eps}) for eps in RADII], RADII), 0.9, 1.1,
        kind="exponent",
    ),
}  # fmt: skip

NORMS = {"train_gradient_norm": "G, training points", "test_gradient_norm": "G, test points"}
CHANGES = {"train_loss_change": "ΔL, training points", "test_loss_change": "ΔL, test points"}
ERRORS = {
    "train_error": "clean train error",
    "test_error": "clean test error",
    "robust_train_error": "robust train error",
    "robust_test_error": "robust test error",
}
EPOCHS = {
    "train_inside_gradient_norm": "G, training points",
    "test_inside_gradient_norm": "G, test points",
}

figures = (
    Profile(
        name="gradient",
        title="Largest gradient norm G(ε) in a ball, after training at ε₀ = 0.1",
        y=tuple(NORMS),
        runs=(ADVERSARIAL, PLAIN),
        names=NORMS,
        log_y=True,
        lines={"ε₀": 1.0},
        x_label="ε/ε₀",
        y_label="G(ε)",
        caption="Mean and range (band) over seeds, of values found by search (lower bounds).",
    ),
    Profile(
        name="loss",
        title="Largest loss change ΔL(ε) in a ball, after training at ε₀ = 0.1",
        y=tuple(CHANGES),
        runs=(ADVERSARIAL, PLAIN),
        names=CHANGES,
        lines={"ε₀": 1.0},
        x_label="ε/ε₀",
        y_label="ΔL(ε)",
        caption="Mean and range (band) over seeds, of values found by search (lower bounds).",
    ),
    Curves(
        name="epochs",
        title="G(ε₀) during adversarial training",
        y=tuple(EPOCHS),
        runs=(ADVERSARIAL,),
        names=EPOCHS,
        pick={"radius": 3},
        log_y=True,
        x_label="step t",
        y_label="G(ε₀)",
        caption="Mean and range (band) over seeds.",
    ),
    Curves(
        name="errors",
        title="Errors during adversarial training (PGD-10)",
        y=tuple(ERRORS),
        runs=(ADVERSARIAL,),
        names=ERRORS,
        x_label="step t",
        y_label="error",
        caption="Mean and range (band) over seeds.",
    ),
    Table(
        name="bends",
        title="Bend and position of log G, in units of ε₀",
        y=("train_bend", "train_change_bend", "train_bend_position", "train_missed"),
        runs=(where(STRONG), PLAIN),
        caption="A linear classifier has a bend of at most 1. Last column: share of points and"
        " radii with ΔL > ε·G, where the search for G was too weak.",
    ),
)
