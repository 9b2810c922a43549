"""Figure 5 of BOAT: robust test accuracy on MNIST over d and α/‖μ‖, for images of norm 5.

Paper: a trend similar to that on synthetic data: the accuracy falls as α/‖μ‖ grows, and the α/‖μ‖
that still permits a given accuracy shrinks as d grows.
Reading: one network is trained and attacked at every ratio; both statements are checked, the second
by comparing d with 4d. The quick preset uses the 8 × 8 digits as a stand-in; its rows decide
nothing about MNIST. `--preset paper --data DIR` needs MNIST's idx files in DIR.
Cost: quick 2 s (2 cores); paper 1 min on a GPU.
"""

import itertools

from adversarium.plans import Contours, Read, where
from adversarium.plans.evidence import Reading

from ..theory.figure_runs import Radius
from ..theory.image_runs import DIGITS, MNIST, SIDES, family_of, on_images, robust_accuracy
from ..theory.regime import gates
from ..theory.tradeoffs import tradeoff

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

RATIOS = tuple(round(0.05 * i, 2) for i in range(1, 10))
LEVELS = (0.9, 0.95, 0.98)
PAIRS = ((25, 100), (49, 196), (100, 400), (196, 784))

quick = dict(
    seeds=5, source="digits", sides=(4, 6, 8), ratios=(0.05, 0.25, 0.45), m=32, steps=50
)  # fmt: skip
paper = dict(seeds=10, source="mnist", m=1000, steps=1000)


def plan(m, steps, source, sides=SIDES, ratios=RATIOS, mu=5.0, reading: Radius = "R1"):
    for side, ratio in itertools.product(sides, ratios):
        at = {"d": Read("data.d"), "α/‖μ‖": ratio}
        yield on_images(family_of(source), at, source, side, mu, ratio, m, steps, reading)


checks = {
    "boat.fig5.tradeoff": tradeoff(
        where(MNIST), robust_accuracy, "robust_test_error", dict.fromkeys(LEVELS, PAIRS)
    )
}

figures = (
    Contours(
        name="map",
        title="Figure 5: robust test accuracy on MNIST and its level sets, ‖μ‖ = 5",
        run=where((MNIST, DIGITS)),
        x="d",
        y_along="α/‖μ‖",
        number=Reading("robust test accuracy", robust_accuracy, ("robust_test_error",)),
        levels=LEVELS,
        power=False,
        x_label="d",
        y_label="α/‖μ‖",
        caption="Images of norm 5, mean over seeds. Solid: level sets.",
    ),
)
