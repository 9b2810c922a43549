"""Figure 2 (a), (b), (e), (f) of CGRO on MNIST: LeNet-5, adversarially trained at ε₀ = 0.1.

Paper: the loss landscape is flat within the training radius and very sharp outside; its curves
descend with the epochs, around training points and around test points. No numbers are printed.
Reading: inputs in [0, 1], cross-entropy, PGD-5 (the training attack is not printed), Adam with a
triangular step size up to 0.005, batches of 250; 5,000 of the 60,000 training images and 10 epochs
at paper size. The words on epochs are judged from the middle epoch on.
Cost: not measured.
"""

from adversarium.data import Images
from adversarium.networks import Module, lenet5
from adversarium.plans import Curves, Level, Profile, Table, where
from adversarium.training import Adam, Triangular

from ..theory.image_checks import gradient_checks, loss_checks, trend
from ..theory.images import (
    CLEAN,
    STRONG,
    curve_probes,
    image_run,
    last_probes,
    many_steps,
    positions,
)
from ..theory.regime import image_gates as gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(n=1000, epochs=6, points=20, search=(8, 2), checkpoints=6, n_eval=200, n_test=200,
             seeds=5)  # fmt: skip
paper = dict(n=5000, epochs=10, points=50, search=(10, 2), n_eval=500, n_test=500, seeds=5)
RADII = (0.05, 0.1, 0.2, 0.3)
ADVERSARIAL, PLAIN = where(STRONG, **{"ε₀": 0.1}), where(CLEAN)


def plan(n=60000, epochs=20, points=100, search=(16, 3), checkpoints=10, n_eval=1000, n_test=1000,
         batch=250, eta=0.005):  # fmt: skip
    network = Module(build=lenet5, options={"data": "mnist"})
    common = dict(data=Images(name="mnist"), network=network, n=n, epochs=epochs, eta=eta)
    common |= dict(optimiser=Adam(batch=batch, schedule=Triangular()), checkpoints=checkpoints)
    after = last_probes(0.1, points, search)
    during = curve_probes(0.1, points, n_eval, n_test, search)
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
    "cgro.fig2a": gradient_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2b": loss_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2e": trend(ADVERSARIAL, "train", rises=False),
    "cgro.fig2f": trend(ADVERSARIAL, "test", rises=False),
    "cgro.x.radius": Level(
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
