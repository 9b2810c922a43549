"""The recursions of RNRF (Lemmas 5.1, 5.2, D.2 to D.8, D.16 to D.18, E.4) beside the training they
describe.

Paper: A, B, C, D of the filters follow closed recursions, exactly under standard training without
noise, and under the one-step attack with the attacked coefficients of Lemma D.17.
Reading: without noise, one point a class is the population. The off-feature weights that Lemma
D.18 drops are there in the run "attacked" and absent (d = 2k) in the run "attacked, d = 2k".
"""

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.experiments import checks as rules
from adversarium.experiments.checks import at_most, identity, last, level, measure
from adversarium.experiments.rnrf.measures import over_start
from adversarium.experiments.spec import Curves, Run, Table
from adversarium.networks import SmoothedCNN
from adversarium.probes import (
    FeatureRecursion,
    GrowthLaw,
    NoiseUpdate,
    OffDiagonalGrowth,
    Worst,
    attacked_off_span,
    foreign_nonrobust,
    foreign_robust,
    nonrobust_features,
    off_feature_drift,
    printed_attack_error,
    robust_features,
    weights_off_span,
)

quick = dict(seeds=5, steps=1000)
paper = dict(seeds=10, steps=1000)

CLASSES = (2, 3, 5)
STD = {k: f"standard, k = {k}" for k in CLASSES}
VARIED, NOISY = "standard, random strengths", "standard, with noise"
ADV, CLOSED = "attacked", "attacked, d = 2k"
OURS, ELEMENT, PATCH = "Figure 3's attack", "printed attack", "printed attack, patch clip"


def plan(steps=1000, m=100, d=100, eps=1.2, step=10.0, eta=0.1):
    silent = lambda k=2, **more: TwoFeaturePatches(k=k, sigma_n=0.0, balanced=True, **more)
    curves = (robust_features, nonrobust_features)
    laws = (FeatureRecursion(), GrowthLaw())
    exact = (*laws, Worst(off_feature_drift), OffDiagonalGrowth())
    common = dict(steps=steps, eta=eta, probes=curves, record=10)
    for k in CLASSES:
        data, width = silent(k, d=d if k == 2 else 20), m if k == 2 else min(m, 30)
        network = SmoothedCNN(m=width)
        yield Run(label=STD[k], data=data, network=network, n=k, folds=exact, **common)
    varied = TwoFeaturePatches(
        k=3, d=20, P=9, n_robust=2, sigma_n=0.0, strengths="uniform", spread=0.3
    )
    yield Run(
        label=VARIED,
        data=varied,
        network=SmoothedCNN(m=20),
        n=30,
        folds=(FeatureRecursion(),),
        **{**common, "steps": steps // 2},
    )
    yield Run(
        label=NOISY,
        data=TwoFeaturePatches(d=d),
        network=SmoothedCNN(m=20),
        n=20,
        folds=(NoiseUpdate(),),
        **{**common, "steps": steps // 4, "probes": (*curves, foreign_robust, foreign_nonrobust)},
    )
    attack = MarginStep(radius=eps, step=step)
    for label, dimension in ((ADV, d), (CLOSED, 4)):
        yield Run(
            label=label,
            data=silent(d=dimension),
            network=SmoothedCNN(m=m),
            attack=attack,
            n=2,
            folds=laws,
            **common,
        )
    spans = (Worst(weights_off_span), Worst(attacked_off_span), Worst(printed_attack_error))
    few = SmoothedCNN(m=min(m, 10))  # k·m < d − 2k: the initial weights do not span everything
    large = SmoothedCNN(m=min(m, 10), sigma0=d**-0.5)  # σ0 = 1/√d of Assumption B.3
    for label, network, by, length in (
        (OURS, few, attack, steps // 2),
        (ELEMENT, large, MarginStep(radius=eps, step=1e3), steps // 10),
        (PATCH, large, MarginStep(radius=eps, step=1e3, clip="patch"), steps // 10),
    ):
        yield Run(
            label=label,
            data=silent(d=d),
            network=network,
            attack=by,
            n=2,
            folds=spans,
            **{**common, "steps": length},
        )


def _above(probe, label, edge):
    """Whether a quantity exceeds an edge: 0 no, 1 yes."""
    of = lambda rows: (rows[label].last(probe) > edge).astype(float)
    return measure(f"{probe} > {edge:g} ({label}; 0 no, 1 yes)", of)


_error = lambda probe, label, edge: identity(last(probe, label), edge)

checks = {
    "rnrf.lem5.1.recursion": rules.every(
        *(_error("recursion_error", label, 1e-12) for label in (*STD.values(), VARIED))
    ),
    "rnrf.lemD.2.decomp": rules.every(
        *(_error("worst(off_feature_drift)", label, 0.0) for label in STD.values())
    ),
    "rnrf.lemD.7.offdiag": rules.every(
        *(at_most(last("off_diagonal_growth", label), 0.0) for label in STD.values()),
        level(over_start("foreign_robust", NOISY), 0, 2),
        level(over_start("foreign_nonrobust", NOISY), 0, 2),
    ),
    "rnrf.lemD.8.poly": rules.every(
        *(level(_above("growth_law_error", label, 0.05), 0, 0) for label in STD.values())
    ),
    "rnrf.lemE.4": _error("noise_update_error", NOISY, 1e-12),
    "rnrf.lem5.2.poly": level(last("growth_law_error", ADV), 0, 0.2),
    "rnrf.lemD.16.decomp": rules.every(
        _error("worst(weights_off_span)", OURS, 1e-10),
        _error("worst(weights_off_span)", PATCH, 1e-10),
        _error("worst(weights_off_span)", ELEMENT, 1e-10),
    ),
    "rnrf.lemD.17.advex": rules.every(
        _error("worst(printed_attack_error)", OURS, 1e-10),
        _error("worst(printed_attack_error)", ELEMENT, 1e-10),
    ),
    "rnrf.lemD.17.advex.corrected": _error("worst(attacked_off_span)", PATCH, 1e-10),
    "rnrf.lemD.18.recursion": _error("recursion_error", ADV, 1e-12),
    "rnrf.lemD.18.recursion.corrected": _error("recursion_error", CLOSED, 1e-12),
}

_curves = {
    "robust_features[0]": r"$\max_r A_{1,r}$, trained",
    "recursion.A[0]": r"$\max_r A_{1,r}$, recursion",
    "nonrobust_features[0]": r"$\max_r B_{1,r}$, trained",
    "recursion.B[0]": r"$\max_r B_{1,r}$, recursion",
}
_laws = {
    "recursion_error": "largest error of the recursion in A, B, C, D",
    "growth_law_error": "largest relative error of the growth law, early stage",
    "growth_law_T0": "T₀: first step at which it exceeds a fifth",
}

figures = (
    Curves(
        name="recursions",
        title="Lemmas 5.1 and D.18: the recursions over the training they describe",
        y=tuple(_curves),
        of=(STD[2], ADV, CLOSED),
        names=_curves,
        x_label="iteration t",
        y_label="correlation",
        caption="No noise; mean over seeds, band: smallest to largest seed. Left: Lemma 5.1 is "
        "exact. Middle: under attack Lemma D.18 drops the off-feature weights and runs ahead in A. "
        "Right: with d = 2k there are none, and it is exact again.",
    ),
    Table(
        name="laws",
        title="Errors of the recursions and of the growth laws",
        y=tuple(_laws),
        of=(*STD.values(), ADV, CLOSED),
        names=_laws,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
