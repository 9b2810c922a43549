"""Table 1 of CGRM on a stand-in: the UCI digits instead of CIFAR-10.

Paper (CIFAR-10, quoted from Raghunathan et al., 2019): adversarial training reaches 100 % robust
training accuracy, 45.8 % robust and 87.3 % clean test accuracy; clean training reaches 3.5 % robust
and 95.2 % clean test accuracy.
Reading: n = 300 images are so few that adversarial training fits them all, as in the paper.
Cost: quick 40 s (2 cores).
"""

import math

from adversarium.attacks import PGD, strong_attacks
from adversarium.data import Digits
from adversarium.measure.errors import Error, risk
from adversarium.networks import Module, small_cnn
from adversarium.plans import Curves, Ordering, Parts, Run, Table, last, where
from adversarium.training import SGD

from ..theory.regime import gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

CLEAN, ADVERSARIAL = "clean training", "adversarial training"

quick = dict(n=200, epochs=25, width=16, n_test=200, seeds=5)
paper = dict(n=300, epochs=100, width=16, seeds=20)


def plan(n, epochs, width, eps=0.1, n_test=500, batch=50, eta=0.05):
    box = (0.0, 1.0)
    training = PGD(radius=eps, steps=5, start="uniform", loss="cross_entropy", best=False, box=box)
    strong = strong_attacks(math.inf, eps, k=10, box=box, steps=20, targets=2)
    for family, attack in ((CLEAN, None), (ADVERSARIAL, training)):
        yield Run(
            family=family,
            data=Digits(n_test=n_test),
            network=Module(build=small_cnn, options={"width": width}),
            attack=attack,
            optimiser=SGD(batch=batch, momentum=0.9),
            n=n,
            steps=epochs * (n // batch),
            eta=eta,
            probes=(
                Error(on="train", name="train_error"),
                Error(on="test", n=n_test, name="test_error"),
            ),
            final=(
                risk,
                Error(on="train", attacks=strong, name="robust_train_error"),
                Error(on="test", n=n_test, attacks=strong, name="robust_test_error"),
            ),
            record=n // batch,
            dtype="float32",
        )


def _generalisation_gap(kind=""):
    """Return the test error minus the training error after adversarial training, clean or
    robust."""
    return last(f"{kind}test_error", ADVERSARIAL) - last(f"{kind}train_error", ADVERSARIAL)


checks = {
    "cgrm.tab1.digits": Parts(
        {
            "robust gap > clean gap": Ordering(
                _generalisation_gap("robust_"), than=_generalisation_gap()
            ),
            "more robust than clean training": Ordering(
                last("robust_test_error", CLEAN), than=last("robust_test_error", ADVERSARIAL)
            ),
        }
    ),
}

COLUMNS = {
    "train_error": "clean train error",
    "test_error": "clean test error",
    "robust_train_error": "robust train error",
    "robust_test_error": "robust test error",
}
BOTH = (where(CLEAN), where(ADVERSARIAL))

figures = (
    Table(
        name="table",
        title="Table 1 on the digits (errors)",
        y=tuple(COLUMNS),
        runs=BOTH,
        names=COLUMNS,
        caption="Mean over seeds with its 99 % interval; robust errors under the strong suite"
        " of attacks.",
    ),
    Curves(
        name="curves",
        title="Clean errors during training",
        y=("train_error", "test_error"),
        runs=BOTH,
        names=COLUMNS,
        x_label="step t",
        y_label="error",
        log_y=False,
        caption="Mean and range (band) over seeds.",
    ),
)
