"""The setting of RNRF (§2, §3, App. B): features, assumptions, explicit networks, impossibility.

Paper: the two halves of Assumption 2.3 hold together; the v-network fits and is broken, the
u-network fits and is robust (Propositions 3.1, 3.2); tail and tensor-power lemmas.
Trials: nothing is trained. Cost: quick 7 s (2 cores).
"""

import math

from adversarium.data import TwoFeaturePatches
from adversarium.plans import (
    Table,
    Trial,
    at_most,
    every,
    existence,
    frequency,
    identity,
    last,
    level,
    power,
    where,
)
from adversarium.trials import (
    activation_slope,
    explicit_networks,
    feature_assumptions,
    feature_axes,
    gaussian_maxima,
    gaussian_tails,
    impossibility,
    masking,
    separated_networks,
    tensor_power,
)

# gaussian_tails counts at these n and t, out of so many draws
WIDTHS, EXCESS, DRAWS = (10, 100, 1_000, 10_000), (0.25, 1.0, 2.0), 2_000

quick = dict(points=300, seeds=5)
paper = dict(points=1000, seeds=20)


def plan(points=300, eps=1.2):
    fig3 = TwoFeaturePatches()
    reach = dict(data=fig3, eps=eps)
    yield _trial("features", feature_axes, k=5, d=20)
    yield _trial("assumptions", feature_assumptions, version=2, **reach)
    yield _trial("activation", activation_slope)
    yield _trial("networks", explicit_networks, data=fig3, n=points, eps=eps)
    yield _trial("separated", separated_networks, eps=eps)
    yield _trial("maxima", gaussian_maxima)
    yield _trial("tails", gaussian_tails, version=2)
    yield _trial("tensor power", tensor_power, version=2)
    yield _trial("impossibility", impossibility, **reach)
    yield _trial("masking", masking, version=2, data=fig3, n=50, eps=eps)


def _trial(family, function, version=1, **parameters):
    return Trial(family=family, function=function, version=version, parameters=parameters)


def _tail(n, t):
    """P[‖X‖_∞ < √(2 log 2n) + t] ≥ 1 − ½e^{−t²/2}, Lemma B.1 of RNRF."""
    return frequency(last(f"n={n}, t={t}", "tails"), DRAWS, 1 - math.exp(-t * t / 2) / 2)


checks = {
    "rnrf.def2.1.features": identity(last("error", "features"), 0.0),
    "rnrf.asm2.3.strength": level(last("alpha/beta", "assumptions"), 2.0),
    "rnrf.asm2.3.density": level(last("density", "assumptions"), 2.0),
    "rnrf.asm2.3.conflict": every(
        existence(last("both_possible", "assumptions")),
        existence(last("both_with_more", "assumptions")),
    ),
    "rnrf.sec2.5.separation": level(last("distance/2eps", "assumptions"), 1.0),
    "rnrf.act.smooth": identity(last("error", "activation"), 1e-12),
    "rnrf.prop3.1.clean": existence(last("v_fits", "networks")),
    "rnrf.prop3.1.nonrobust": existence(last("v_broken", "networks")),
    "rnrf.prop3.2.clean": existence(last("u_fits", "networks")),
    "rnrf.prop3.2.robust": existence(last("u_robust", "networks")),
    "rnrf.prop3.2.robust.corrected": existence(last("robust", "separated")),
    "rnrf.prop3.2.weak": every(
        level(last("u_replaced", "networks"), 1.0, 1.0),
        level(last("u_lowered", "networks"), 0.75),
    ),
    "rnrf.lemD.3.init": power(last("slope", "maxima"), 0.9, 1.1),
    "rnrf.lemD.3.init.corrected": every(
        power(last("least_ratio", "maxima"), 0.7, 1.0),
        power(last("largest_ratio", "maxima"), 0.7, 1.0),
        existence(last("rising", "maxima")),
    ),
    "rnrf.lemB.1.max": every(*(_tail(n, t) for n in WIDTHS for t in EXCESS)),
    "rnrf.lemB.2.tpm": every(
        at_most(last("third", "tensor power"), 1.0),
        at_most(last("fourth", "tensor power"), 1.0),
        at_most(last("closed_form", "tensor power"), 0.05),
    ),
    "rnrf.x.impossibility": every(
        existence(last("midpoints", "impossibility")),
        existence(last("matching", "impossibility")),
        existence(last("list", "impossibility")),
    ),
    "rnrf.x.masking": existence(last("masked", "masking")),
}

_networks = {
    "u_universal": "u-network, −εu_y + εu_j on all patches",
    "u_replaced": "u-network, model-free attack",
    "u_lowered": "u-network, sign-PGD on −F_y",
}
_masking = {
    "cross_entropy": "cross-entropy",
    "logit_difference": "logit difference",
    "minus_true_logit": "−F_y",
    "cross_entropy (float64)": "cross-entropy, float64",
}

figures = (
    Table(
        name="networks",
        title="The explicit network of Proposition 3.2: accuracy under three attacks",
        y=tuple(_networks),
        runs=(where("networks"),),
        names=_networks,
        caption="Robust to attacks that only lower F_y, broken by one that raises F_j.",
    ),
    Table(
        name="masking",
        title="A broken network (γ = 10): accuracy under sign-PGD by loss",
        y=tuple(_masking),
        runs=(where("masking"),),
        names=_masking,
        caption="A saturated cross-entropy has no gradient left and hides what is broken.",
    ),
)
