"""Table 1 of CGRM on CIFAR-10: ResNet-9 after adversarial and after clean training.

Paper (quoted from Raghunathan et al., 2019): adversarial training reaches 100 % robust training
accuracy, 45.8 % robust and 87.3 % clean test accuracy; clean training reaches 3.5 % robust and
95.2 % clean test accuracy.
Reading: ε = 8/255, PGD-20 on training and test points alike, the last epoch. The runs are those of
cgro.cifar10 (ResNet-9, 16 epochs); the printed levels belong to another, wider network.
Cost: paper 7 min on a GPU, none if the runs of cgro.cifar10 are stored.
"""

from adversarium.plans import Hypothesis, Open, Ordering, Parts, Table, last, where
from adversarium.plans.image_runs import (
    CLEAN,
    STRONG,
    cifar10,
    errors,
    image_run,
    last_errors,
    many_steps,
)

from ..theory.regime import image_gates as gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(n=2000, epochs=8, width=16, n_eval=300, n_test=300, precision="float32", seeds=5)
paper = dict(n=50000, epochs=16, width=64, seeds=5)
EPS = 8 / 255
ADVERSARIAL, PLAIN = where(STRONG), where(CLEAN)


def plan(n=50000, epochs=16, width=64, n_eval=1000, n_test=1000, batch=512, precision="bfloat16"):
    common = dict(**cifar10(width, batch, precision), n=n, eps=EPS, epochs=epochs, checkpoints=8)
    clean, robust = errors(EPS, n_eval, n_test)[:2], last_errors(EPS, n_eval, n_test)
    for family, attack in ((STRONG, many_steps(EPS, 2)), (CLEAN, None)):
        yield image_run(family, attack=attack, during=clean, after=robust, **common)


def _gap(kind):
    """Return the test error minus the training error after adversarial training."""
    return last(f"{kind}test_error", ADVERSARIAL) - last(f"{kind}train_error", ADVERSARIAL)


ROBUST = "last_robust_test_error"
LONG = (
    "robust training accuracy near 100 % needs a wide network and about 200 epochs "
    "(WideResNet-34-10: hours on one GPU)"
)

checks = {
    "cgrm.tab1": Parts(
        {
            "robust gap > clean gap": Ordering(_gap("last_robust_"), than=_gap("")),
            "more robust than clean training": Ordering(
                last(ROBUST, PLAIN), than=last(ROBUST, ADVERSARIAL)
            ),
            "robust training accuracy near 100 %": Open("level", LONG),
            "robust training error reached; robust test error of clean training": Hypothesis(
                "level", last("last_robust_train_error", ADVERSARIAL), last(ROBUST, PLAIN)
            ),
        }
    )
}

COLUMNS = {
    "train_error": "clean train error",
    "test_error": "clean test error",
    "last_robust_train_error": "robust train error (PGD-20)",
    "last_robust_test_error": "robust test error (PGD-20)",
}

figures = (
    Table(
        name="table",
        title="Table 1 on CIFAR-10 (errors; ε = 8/255)",
        y=tuple(COLUMNS),
        runs=(ADVERSARIAL, PLAIN),
        names=COLUMNS,
        caption="Mean over seeds with its 99 % interval. Printed, as errors: adversarial training"
        " 0, 0.127, 0, 0.542; clean training 0, 0.048, –, 0.965.",
    ),
)
