"""Adversarial training of the linear part on large-margin points (Theorem 4.1, §4, App. B of CGRM).

Paper: FGSM training from zero on the large-margin points ends within o(1) of w*.
Reading: l2 balls, d = 200, α = 5, δ = 2. The limit of training is the max-margin direction u of the
N' points, which we compute exactly. The paper does not specify the limit in which o(1) holds; we
test N' → ∞ at fixed d, and d → ∞ at N'/d = 0.1. Training takes 3,000 steps on the exponential loss,
once literally (η = 0.01) and once with gradients divided by the mean loss (η = 0.05).
Cost: quick 25 s (2 cores).
"""

import math

from adversarium.attacks import FGSM
from adversarium.data import MarginMixture
from adversarium.networks import MixedLearner
from adversarium.plans import (
    Read,
    Run,
    Trial,
)
from adversarium.training import Risk

from ...theory.margins import direction_error, max_margin_gap
from ...theory.max_margin import cauchy, max_margin_directions, not_exact_share, tilted_errors
from ...theory.regime import gates as gates

COUNTS = (20, 50, 100, 200, 300, 360, 400, 440, 460, 480)  # values of N'
FEW = (100, 200, 400, 800, 1600)  # values of d with N' = d/10
MANY = (25, 50, 100, 200)  # values of d with N' = 2d + 8√d
TRAINED = ((50, 50), (100, 400), (200, 200))  # (d, N')
PLACE = {"d": Read("d"), "α": Read("alpha")}

quick = dict(seeds=10, draws=200)
paper = dict(seeds=50, draws=400, trained=(*TRAINED, (200, 800)))


def _exact_count(d):
    """Return an N' at which u = w* in nearly every draw, 2d + 8√d."""
    return 2 * d + math.ceil(8 * math.sqrt(d))


def plan(
    d=200,
    alpha=5.0,
    delta=2.0,
    counts=COUNTS,
    dims_n_tenth=FEW,
    many=MANY,
    dims_n_double=(10, 20, 40),
    draws=200,
    trained=TRAINED,
    steps=3000,
):
    directions = [
        ("max margin", d, alpha, counts),
        *(("few", size, alpha, (size // 10,)) for size in dims_n_tenth),
        *(("many", size, alpha, (_exact_count(size),)) for size in many),
        *(("many", many[-1], a, (_exact_count(many[-1]),)) for a in (alpha / 4, 4 * alpha)),
        *(
            ("other margins", d // 2, a, (d // 20, d // 4, d, 2 * d))
            for a in (alpha / 4, 4 * alpha)
        ),
    ]
    for family, size, a, large in directions:
        yield Trial(
            family=family,
            at=PLACE,
            function=max_margin_directions,
            parameters=dict(d=size, alpha=a, counts=large),
            version=2,
        )
    for size in dims_n_double:
        parameters = dict(d=size, draws=draws)
        yield Trial(
            family="Wendel", at={"d": Read("d")}, function=not_exact_share, parameters=parameters
        )
    yield Trial(family="attack", at=PLACE, function=cauchy, parameters=dict(d=d, alpha=alpha))
    yield Trial(family="angles", function=tilted_errors)
    for size, n in trained:
        for family, log, eta in (("divided", True, 0.05), ("literal", False, 0.01)):
            yield Run(
                family=family,
                at={"d": Read("data.d"), "N'": Read("n")},
                data=MarginMixture(d=size, alpha=alpha, beta=min(0.5, alpha)),
                network=MixedLearner(),
                attack=FGSM(p=2, radius=delta),
                risk=Risk(loss="exponential", log=log),
                n=n,
                steps=steps,
                eta=eta,
                probes=(direction_error, max_margin_gap),
            )
