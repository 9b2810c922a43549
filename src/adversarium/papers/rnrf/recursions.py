"""The recursions of RNRF (Lemmas 5.1, 5.2, D.2 to D.8, D.16 to D.18, E.4) beside the training they
describe.

Paper: A, B, C, D of the filters follow closed recursions, exactly under standard training without
noise, and under the one-step attack with the attacked coefficients of Lemma D.17.
Reading: without noise, one point a class is the population. The off-feature weights that Lemma
D.18 drops are there in the run "attacked" and absent (d = 2k) in the run "attacked, d = 2k".
Cost: quick 20 s (2 cores).
"""

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.readings import largest_over_start
from adversarium.papers.rnrf.recursions_figures import figures
from adversarium.papers.rnrf.recursions_readings import (
    ADV,
    CLOSED,
    ELEMENT,
    NOISY,
    OURS,
    PATCH,
    PRINTED,
    STD,
    VARIED,
    above,
)
from adversarium.papers.rnrf.regime import gates
from adversarium.plans import (
    Read,
    Run,
    at_most,
    each,
    every,
    identity,
    last,
    level,
    where,
)
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

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(seeds=5, steps=1000)
paper = dict(seeds=10, steps=1000)

CLASSES = (2, 3, 5)


def _silent(k=2, **more):
    return TwoFeaturePatches(k=k, sigma_n=0.0, balanced=True, **more)


def plan(steps=1000, m=100, d=100, eps=1.2, step=10.0, eta=0.1):
    curves = (robust_features, nonrobust_features)
    laws = (FeatureRecursion(), GrowthLaw())
    exact = (*laws, Worst(off_feature_drift), OffDiagonalGrowth())
    common = dict(steps=steps, eta=eta, probes=curves, record=10)
    for k in CLASSES:
        yield Run(
            family=STD,
            at={"k": Read("data.k")},
            data=_silent(k, d=d if k == 2 else 20),
            network=SmoothedCNN(m=m if k == 2 else min(m, 30)),
            n=k,
            folds=exact,
            **common,
        )
    yield Run(
        family=VARIED,
        data=TwoFeaturePatches(
            k=3, d=20, P=9, n_robust=2, sigma_n=0.0, strengths="uniform", spread=0.3
        ),
        network=SmoothedCNN(m=20),
        n=30,
        folds=(FeatureRecursion(),),
        **{**common, "steps": steps // 2},
    )
    yield Run(
        family=NOISY,
        data=TwoFeaturePatches(d=d),
        network=SmoothedCNN(m=20),
        n=20,
        folds=(NoiseUpdate(),),
        **{**common, "steps": steps // 4, "probes": (*curves, foreign_robust, foreign_nonrobust)},
    )
    attack = MarginStep(radius=eps, step=step)
    for family, dimension in ((ADV, d), (CLOSED, 4)):
        yield Run(
            family=family,
            data=_silent(d=dimension),
            network=SmoothedCNN(m=m),
            attack=attack,
            n=2,
            folds=laws,
            **common,
        )
    few = SmoothedCNN(m=min(m, 10))  # k·m < d − 2k: the initial weights do not span everything
    large = SmoothedCNN(m=min(m, 10), sigma0=d**-0.5)  # σ0 = 1/√d of Assumption B.3
    for family, network, by, length in (
        (OURS, few, attack, steps // 2),
        (PRINTED, large, MarginStep(radius=eps, step=1e3), steps // 10),
        (PRINTED, large, MarginStep(radius=eps, step=1e3, clip="patch"), steps // 10),
    ):
        yield Run(
            family=family,
            at={"clip": Read("attack.clip")} if family == PRINTED else {},
            data=_silent(d=d),
            network=network,
            attack=by,
            n=2,
            folds=(Worst(weights_off_span), Worst(attacked_off_span), Worst(printed_attack_error)),
            **{**common, "steps": length},
        )


checks = {
    "rnrf.lem5.1.recursion": each(
        where((STD, VARIED)), lambda run: identity(last("recursion_error", run), 1e-12)
    ),
    "rnrf.lemD.2.decomp": each(
        STD, lambda run: identity(last("worst(off_feature_drift)", run), 0.0)
    ),
    "rnrf.lemD.7.offdiag": every(
        each(STD, lambda run: at_most(last("off_diagonal_growth", run), 0.0)),
        level(largest_over_start("foreign_robust").on(where(NOISY)), 0, 2),
        level(largest_over_start("foreign_nonrobust").on(where(NOISY)), 0, 2),
    ),
    "rnrf.lemD.8.poly": each(STD, lambda run: level(above("growth_law_error", 0.05).on(run), 0, 0)),
    "rnrf.lemE.4": identity(last("noise_update_error", NOISY), 1e-12),
    "rnrf.lem5.2.poly": level(last("growth_law_error", ADV), 0, 0.2),
    "rnrf.lemD.16.decomp": every(
        identity(last("worst(weights_off_span)", OURS), 1e-10),
        identity(last("worst(weights_off_span)", PATCH), 1e-10),
        identity(last("worst(weights_off_span)", ELEMENT), 1e-10),
    ),
    "rnrf.lemD.17.advex": every(
        identity(last("worst(printed_attack_error)", OURS), 1e-10),
        identity(last("worst(printed_attack_error)", ELEMENT), 1e-10),
    ),
    "rnrf.lemD.17.advex.corrected": identity(last("worst(attacked_off_span)", PATCH), 1e-10),
    "rnrf.lemD.18.recursion": identity(last("recursion_error", ADV), 1e-12),
    "rnrf.lemD.18.recursion.corrected": identity(last("recursion_error", CLOSED), 1e-12),
}
