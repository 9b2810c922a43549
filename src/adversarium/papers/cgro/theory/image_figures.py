"""The figures of CGRO's experiments on one image data set."""

from typing import Any

from adversarium.plans import Curves, Profile, Table

BOTH = {"gradient_norm": "G", "loss_change": "ΔL"}
ERRORS = {
    "train_error": "clean train error",
    "test_error": "clean test error",
    "robust_train_error": "robust train error",
    "robust_test_error": "robust test error",
}
BENDS = {
    "train_bend": "bend of log G",
    "train_change_bend": "bend of ΔL",
    "train_bend_position": "steepest rise of log G, in ε₀",
    "train_missed": "ΔL > ε·G",
    "train_vanished": "vanished gradients",
}


def landscape_figures(adversarial, clean, every, radius):
    """Return the figures: G and ΔL against the radius, G and errors during training, and a table of
    bends; `every` selects the runs of the table, `radius` is ε₀ as text."""

    def of(quantity):
        symbol = BOTH[quantity]
        return {
            f"train_{quantity}": f"{symbol}, training points",
            f"test_{quantity}": f"{symbol}, test points",
        }

    norms, changes = of("gradient_norm"), of("loss_change")
    epochs = {
        "train_inside_gradient_norm": "G, training points",
        "test_inside_gradient_norm": "G, test points",
    }
    found = "Mean and range (band) over seeds, of values found by search (lower bounds)."
    common: dict[str, Any] = dict(
        runs=(adversarial, clean), lines={"ε₀": 1.0}, x_label="ε/ε₀", caption=found
    )
    during: dict[str, Any] = dict(x_label="step t", caption="Mean and range (band) over seeds.")
    return (
        Profile(
            name="gradient",
            title=f"Largest gradient norm G(ε) in a ball, after training at ε₀ = {radius}",
            y=tuple(norms),
            names=norms,
            log_y=True,
            y_label="G(ε)",
            **common,
        ),
        Profile(
            name="loss",
            title=f"Largest loss change ΔL(ε) in a ball, after training at ε₀ = {radius}",
            y=tuple(changes),
            names=changes,
            y_label="ΔL(ε)",
            **common,
        ),
        Curves(
            name="epochs",
            title="G(ε₀) during adversarial training",
            y=tuple(epochs),
            runs=(adversarial,),
            names=epochs,
            pick={"radius": 3},
            log_y=True,
            y_label="G(ε₀)",
            **during,
        ),
        Curves(
            name="errors",
            title="Errors during adversarial training (PGD-10)",
            y=tuple(ERRORS),
            runs=(adversarial,),
            names=ERRORS,
            y_label="error",
            **during,
        ),
        Table(
            name="bends",
            title="Bend and position of log G",
            y=tuple(BENDS),
            names=BENDS,
            runs=every,
            caption="Bend: slope of log G just outside ε₀ over its slope inside. Column ΔL > ε·G:"
            " share of points and radii where the search for G was too weak.",
        ),
    )
