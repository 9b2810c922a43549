"""What grows with the dimension d in RNRF: Lemmas D.9 (no noise), E.7 and E.11 (noise).

Paper: when B reaches ϱ/β, A is still Õ(1/√d); at the end of standard training B = Θ(log d) and the
rest Õ(1/√d); at the end of adversarial training A = Θ(log d) and B = Õ(d^(−c₀)), η̃ = d^(c₀).
Reading: Figure 3 at other d, with σ0 = 0.1/√d, σ_n = 1/√d, η̃ = √d a point (c₀ = ½) and a time that
grows like √d; for Lemma E.7 the sizes of Assumption B.3 (σ0 = 1/√d, ϱ = 1/log d, m = log²d).
Cost: quick 30 s (2 cores).
"""

import math
from dataclasses import replace

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.dimension_readings import (
    ASSUMED,
    ATTACKED,
    STANDARD,
    highest,
    least_stage,
    over_bound,
)
from adversarium.papers.rnrf.readings import A, B, at_threshold, over_classes
from adversarium.papers.rnrf.regime import gates
from adversarium.plans import Read, Run, Table, each, every, exponent, in_regime, level, where
from adversarium.probes import (
    foreign_nonrobust,
    foreign_robust,
    nonrobust_features,
    robust_features,
)

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

SIZES = (50, 100, 200, 400, 800)
quick = dict(seeds=5, sizes=SIZES[:-1])
paper = dict(
    seeds=30,
    sizes=(100, 200, 400, 800, 1600),
    theory=(400, 800, 1600, 3200),
    attacked=(50, 100, 200, 400),
    n=100,
)

UPPER = (math.inf, 0.15)  # an upper bound: only growth speaks against it
STEP_SIZE = 0.05  # what finite steps may add to a bound for η → 0


def _noisy(d):
    return TwoFeaturePatches(d=d, sigma_n=d**-0.5, balanced=True)


def _small(d, m):
    return SmoothedCNN(m=m, sigma0=0.1 / d**0.5)


def _longer(d, t):
    """A time that grows like √d, t at d = 100."""
    return math.ceil(t * (d / 100) ** 0.5)


def plan(sizes=SIZES, theory=SIZES, attacked=(25, 50, 100, 200), n=6, m=100, eta=0.1, steps=1000):
    features = (robust_features, nonrobust_features, foreign_robust, foreign_nonrobust)
    common = dict(at={"d": Read("data.d")}, eta=eta, probes=features, dtype="float32")
    for d in sizes:
        yield Run(
            family=STANDARD,
            data=replace(_noisy(d), sigma_n=0.0),
            network=_small(d, m),
            n=2,
            steps=_longer(d, steps * 3 // 10),
            record=_longer(d, 2),
            **common,
        )
    for d in theory:
        width = min(m, math.ceil(math.log(d) ** 2))
        yield Run(
            family=ASSUMED,
            data=_noisy(d),
            network=SmoothedCNN(m=width, rho=1 / math.log(d), sigma0=d**-0.5),
            n=n,
            steps=max(1, steps * d // 1000),
            record=max(1, steps * d // 4000),
            **common,
        )
    for d in attacked:
        yield Run(
            family=ATTACKED,
            data=_noisy(d),
            network=_small(d, m),
            attack=MarginStep(radius=1.2, step=d**0.5),
            n=n,
            steps=_longer(d, steps),
            record=_longer(d, 20),
            **common,
        )


def _root(d):
    """1/√d."""
    return d**-0.5


def _polylog(d):
    """polylog(d)/√d, read as log²d/√d."""
    return math.log(d) ** 2 / d**0.5


def _flat(name, number, family, tolerance, per):
    """A number of a family of runs grows with d like `per` does."""
    return exponent(f"slope in d of {name}", number, "d", where(family), 0, tolerance, per)


checks = {
    "rnrf.lemD.9.dominance": every(
        each(STANDARD, lambda run: level(over_bound.on(run), 0, 1 + STEP_SIZE)),
        _flat("A(T)√d", at_threshold(A, reached=B), STANDARD, 0.15, _root),
    ),
    "rnrf.lemE.7.final": every(
        _flat("max B/log d", over_classes(B), ASSUMED, 0.15, math.log),
        _flat("max A·√d/log²d", over_classes(A), ASSUMED, UPPER, _polylog),
        _flat("max C over t·√d/log²d", highest("foreign_robust"), ASSUMED, UPPER, _polylog),
        _flat("max D over t·√d/log²d", highest("foreign_nonrobust"), ASSUMED, UPPER, _polylog),
        in_regime(least_stage, 1.0),
    ),
    "rnrf.lemE.11": every(
        _flat("max A/log d", over_classes(A), ATTACKED, 0.2, math.log),
        exponent("slope in d = η̃² of max B", over_classes(B), "d", where(ATTACKED), -0.5, 0.1),
    ),
}

_names = {A: "max A", B: "max B", "foreign_robust": "max C", "foreign_nonrobust": "max D"}

figures = (
    Table(
        name="dimension",
        title="Correlations at the end, by dimension",
        y=tuple(_names),
        names=_names,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
