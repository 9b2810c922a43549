"""Figure 4 of BOAT: clean and robust test accuracy on MNIST over ‖μ‖ and d.

Paper: zeros and ones, n = 100, width 1000, α/‖μ‖ = 0.3; transitions similar to those on synthetic
data, d ~ ‖μ‖⁴ (clean) and d ~ ‖μ‖² (robust).
Reading: ‖μ‖ is the Euclidean norm of every image and d its number of pixels. The checks use rank
correlations along both axes, and the powers of level sets that are crossed at three or more values
of d. The ranks along d are judged separately for ‖μ‖ ≤ 0.4, where the transition is, and for larger
‖μ‖. A power is judged only if the estimator returns an exact law, with the measured profile along
‖μ‖, to within 0.1. The quick preset uses the 8 × 8 digits as a stand-in; its rows decide nothing
about MNIST. `--preset paper --data DIR` needs MNIST's idx files in DIR.
Cost: quick 3 s (2 cores); paper 1 min on a GPU.
"""

import itertools
import math

from adversarium.plans import Check, Contours, CountedAs, Level, Parts, where
from adversarium.plans.evidence import Reading

from ..theory.calibrated import Calibrated
from ..theory.figure_runs import (
    PLACES,
    Radius,
    against_d,
    along_mu,
    level_slopes,
    over_grid,
    slope_bias,
)
from ..theory.image_runs import ACCURACIES, DIGITS, MNIST, SIDES, family_of, on_images
from ..theory.regime import gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

MUS = (0.1, *(round(0.2 * i, 1) for i in range(1, 11)))
CLAIMED = {"clean": 4.0, "robust": 2.0}
LEVELS = (0.7, 0.8, 0.9)

quick = dict(seeds=5, source="digits", sides=(4, 6, 8), mus=(0.1, 0.4, 1.0, 2.0), m=32, steps=50)
paper = dict(seeds=20, source="mnist", m=1000, steps=1000)


def plan(m, steps, source, sides=SIDES, mus=MUS, ratio=0.3, reading: Radius = "R1"):
    for side, mu in itertools.product(sides, mus):
        yield on_images(family_of(source), PLACES, source, side, mu, ratio, m, steps, reading)


def _power(kind: str, at: float) -> Check:
    """Require the published power of a level set, within 0.3."""
    number, row = ACCURACIES[kind]
    claimed = CLAIMED[kind]
    return Calibrated(
        Level(
            level_slopes(kind, number, row, at, where(MNIST)),
            claimed - 0.3,
            claimed + 0.3,
            kind="exponent",
        ),
        slope_bias(kind, number, row, at, claimed, where(MNIST)),
        "a grid with more ‖μ‖ between 0.1 and 0.6 would decide it (37 ‖μ‖: 4 min on a GPU)",
    )


def _parts() -> dict[str, Check]:
    named: dict[str, Check] = {}
    for kind, (number, row) in ACCURACIES.items():
        for trend, name, of, among in (
            ("rises with ‖μ‖", "rank along ‖μ‖", along_mu, (0.0, math.inf)),
            ("falls with d, short images", "rank along −d, ‖μ‖ ≤ 0.4", against_d, (0.0, 0.4)),
            ("falls with d, long images", "rank along −d, ‖μ‖ > 0.4", against_d, (0.4, math.inf)),
        ):
            ranks = over_grid(f"{name} ({kind})", where(MNIST), number, row, of, among)
            named[f"{kind} accuracy {trend}"] = Level(ranks, 0.0)
        for at in LEVELS:
            named[f"{kind} accuracy {at:g}: d ~ ‖μ‖^{CLAIMED[kind]:g}"] = _power(kind, at)
    return named


checks = {"boat.fig4.transition": CountedAs("ordering", Parts(_parts()))}

figures = tuple(
    Contours(
        name=name,
        title=f"Figure 4: {name} test accuracy and its level sets",
        run=where((MNIST, DIGITS)),
        x="‖μ‖",
        y_along="d",
        number=Reading(f"{name} test accuracy", number, (row,)),
        levels=LEVELS,
        printed=CLAIMED[name],
        x_label="‖μ‖, the norm of every image",
        y_label="d",
        caption="Mean over seeds. Solid: level sets with the fitted p of d ∝ ‖μ‖^p and its 99 % "
        "interval; dash-dotted: the published p (the position is arbitrary).",
    )
    for name, (number, row) in ACCURACIES.items()
)
