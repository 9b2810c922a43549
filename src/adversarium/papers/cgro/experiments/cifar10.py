"""Figures 1 to 3 of CGRO on CIFAR-10: ResNet-9, adversarially trained at ε₀ = 8/255.

Paper: clean test accuracy above 80 % but robust test accuracy near 50 % (Figure 1, quoted from Rice
and others, 2020, who train a PreActResNet-18 for 200 epochs); the loss landscape is flat within the
training radius and very sharp outside (Figure 2); over the epochs it flattens around training
points, sharpens around test points, and the robust gap follows (Figures 2 and 3).
Reading: one step from a uniform start, 15 epochs (Wong and others, 2020) for Figure 2; PGD-2 for 24
epochs in batches of 512, the step size divided by 10 after 12 and 18, for Figures 1 and 3. The
attack in training uses the statistics of the batch. ResNet-9 is not the network of Figure 1.
Cost: quick 30 min (2 cores); paper 20 min on a GPU.
"""

from adversarium.data import Images
from adversarium.networks import Module, resnet9
from adversarium.plans import Curves, Parts, Profile, Table, where
from adversarium.training import SGD, CropFlip, Piecewise, Triangular

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
    FAST,
    STRONG,
    curve_probes,
    image_run,
    last_probes,
    many_steps,
    one_step,
)
from ..theory.regime import image_gates as gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(n=2000, epochs=4, long=8, width=16, points=30, search=(8, 2), n_eval=300, n_test=300,
             seeds=5)  # fmt: skip
paper = dict(n=50000, epochs=15, long=24, width=64, points=100, search=(12, 3), n_eval=1000,
             n_test=1000, seeds=5)  # fmt: skip
EPS = 8 / 255
ADVERSARIAL, LONG, PLAIN = where(FAST), where(STRONG), where(CLEAN)


def plan(n=50000, epochs=15, long=24, width=64, points=100, search=(12, 3), n_eval=1000,
         n_test=1000, batch=128, precision="bfloat16"):  # fmt: skip
    network = Module(build=resnet9, options={"width": width, "data": "cifar10"})
    more = dict(momentum=0.9, weight_decay=5e-4, augment=CropFlip(),
                attack_mode="training", autocast=precision)  # fmt: skip
    cyclic = SGD(batch=batch, schedule=Triangular(), **more)
    common = dict(data=Images(name="cifar10"), network=network, n=n, eps=EPS)
    after = last_probes(EPS, points, search)
    during = curve_probes(EPS, points, n_eval, n_test, search)
    short = dict(optimiser=cyclic, eta=0.2, epochs=epochs, checkpoints=epochs, **common)
    yield image_run(FAST, attack=one_step(EPS), during=during, after=after, **short)
    yield image_run(CLEAN, attack=None, during=during[:2], after=(*during[2:4], *after), **short)
    yield image_run(
        STRONG,
        attack=many_steps(EPS, 2),
        optimiser=SGD(batch=4 * batch, schedule=Piecewise(at=(0.5, 0.75), drop=0.1), **more),
        eta=0.2,
        epochs=long,
        checkpoints=12,
        during=during,
        after=after[:1],
        **common,
    )


def _both(make):
    """Return a check on the 15 epochs of the print and on our 24."""
    return Parts({f"{name}, {k}": check for name, run in (("15 epochs", ADVERSARIAL),
                  ("24 epochs", LONG)) for k, check in make(run).checks.items()})  # fmt: skip


checks = {
    "cgro.fig1": curve_checks(LONG, levels=True),
    "cgro.fig2c": gradient_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2d": loss_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2g": _both(lambda run: trend(run, "train", rises=False)),
    "cgro.fig2h": _both(lambda run: trend(run, "test", rises=True)),
    "cgro.fig3L": growth_checks(LONG),
    "cgro.fig3R": gap_checks(LONG),
}

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
        title="Largest gradient norm G(ε) in a ball, after training at ε₀ = 8/255",
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
        title="Largest loss change ΔL(ε) in a ball, after training at ε₀ = 8/255",
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
        runs=(ADVERSARIAL, LONG),
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
        runs=(ADVERSARIAL, LONG),
        names=ERRORS,
        x_label="step t",
        y_label="error",
        caption="Mean and range (band) over seeds.",
    ),
    Table(
        name="bends",
        title="Bend and position of log G, in units of ε₀",
        y=("train_bend", "train_change_bend", "train_bend_position", "train_missed"),
        runs=(ADVERSARIAL, PLAIN),
        caption="A linear classifier has a bend of at most 1. Last column: share of points and"
        " radii with ΔL > ε·G, where the search for G was too weak.",
    ),
)
