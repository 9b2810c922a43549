"""The setting of RNRF (§2, §3, App. B): features, assumptions, explicit networks, impossibility.

Paper: the conditions α ≫ β and Σ_R α^τ ≪ Σ_NR β^τ of Assumption 2.3 are compatible. The v-network
fits the data and is not robust; the u-network fits the data and is robust (Propositions 3.1, 3.2).
Lemmas on tails and on the tensor power method.
Trials: nothing is trained. Propositions 3.1, 3.2 and §2.5 are tested with data that satisfy
Assumption 2.3 and α ≫ ε > β (`consistent`), for several k and d, and with those of Figure 3.
Cost: quick 15 s (2 cores).
"""

from adversarium.data import TwoFeaturePatches
from adversarium.measure.sequences import tensor_power
from adversarium.plans import Read, Table, Trial, where

from ...theory.feature_networks import explicit_networks, masking, separated_networks
from ...theory.gaussians import gaussian_maxima, gaussian_tails
from ...theory.impossibility import (
    activation_slope,
    feature_assumptions,
    feature_axes,
    impossibility,
    separation,
)
from ...theory.regime import EPS, consistent

# gaussian_tails counts at these n and t (or δ), out of DRAWS draws
WIDTHS, EXCESS, DRAWS = (10, 100, 1_000, 10_000), (0.25, 1.0, 2.0), 1_000
CLASSES, DIMENSIONS, PAIRS = (2, 5, 20), (50, 100, 400), 100
FIG3, CONSISTENT, SEPARATED, APART = "networks", "networks, consistent", "separated", "separation"
PUBLISHED = "separation, Figure 3"
ALONG_D = "networks, along d"


quick = dict(points=100, seeds=5)
paper = dict(points=200, seeds=20)


def plan(points=100, eps=EPS):
    fig3 = TwoFeaturePatches()
    published = dict(data=fig3, eps=eps)
    yield _trial("features", feature_axes, k=5, d=20)
    yield _trial("assumptions", feature_assumptions, version=3, **published)
    yield _trial("activation", activation_slope)
    yield _trial(FIG3, explicit_networks, version=2, data=fig3, n=points, eps=eps)
    for k in CLASSES:
        data, at = consistent(k=k), {"k": k}
        yield _trial(CONSISTENT, explicit_networks, version=2, at=at, data=data, n=points, eps=eps)
        yield _trial(SEPARATED, separated_networks, version=2, at=at, eps=eps, k=k)
    for d in (100, 200, 400):
        data, d_at = consistent(k=2, d=d, sigma_n=d**-0.5), {"d": Read("data.d")}
        yield _trial(ALONG_D, explicit_networks, version=2, at=d_at, data=data, n=points, eps=eps)
    for d in DIMENSIONS:
        data = consistent(d=d, sigma_n=d**-0.5)
        d_at = {"d": Read("data.d")}
        yield _trial(APART, separation, at=d_at, data=data, eps=eps, n=PAIRS)
    yield _trial(PUBLISHED, separation, **published, n=PAIRS)
    yield _trial("maxima", gaussian_maxima)
    yield _trial("tails", gaussian_tails, version=3, draws=DRAWS)
    yield _trial("tensor power", tensor_power, version=2)
    yield _trial("impossibility", impossibility, **published)
    yield _trial("masking", masking, version=2, data=fig3, n=50, eps=eps)


def _trial(family, function, version=1, at=None, **parameters):
    """Return a trial; by default with version 1 and without coordinates."""
    return Trial(
        family=family, function=function, version=version, parameters=parameters, at=at or {}
    )


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
        runs=(where(FIG3), where(CONSISTENT)),
        names=_networks,
        caption="The network is robust to attacks that only lower F_y, not to one that raises F_j.",
    ),
    Table(
        name="masking",
        title="A non-robust network (γ = 10): accuracy under sign-PGD, by loss",
        y=tuple(_masking),
        runs=(where("masking"),),
        names=_masking,
        caption="A saturated cross-entropy has no gradient and hides the lack of robustness.",
    ),
)
