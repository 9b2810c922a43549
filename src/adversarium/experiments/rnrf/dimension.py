"""What grows with the dimension d in RNRF: Lemmas D.9 (no noise), E.7 and E.11 (noise).

Paper: when B reaches ϱ/β, A is still Õ(1/√d); at the end of standard training B = Θ(log d) and the
rest Õ(1/√d); at the end of adversarial training A = Θ(log d) and B = Õ(d^(−c₀)), η̃ = d^(c₀).
Reading: Figure 3 at other d, with σ0 = 0.1/√d, σ_n = 1/√d, η̃ = √d a point (c₀ = ½) and a time that
grows like √d; for Lemma E.7 the sizes of Assumption B.3 (σ0 = 1/√d, ϱ = 1/log d, m = log²d).
"""

import math
from dataclasses import replace

import numpy as np

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.experiments import checks as rules
from adversarium.experiments.checks import exponent, level, measure
from adversarium.experiments.rnrf.measures import classes, scale, when
from adversarium.experiments.spec import Run, Table
from adversarium.networks import SmoothedCNN
from adversarium.probes import (
    foreign_nonrobust,
    foreign_robust,
    nonrobust_features,
    robust_features,
    scales,
)

SIZES = (50, 100, 200, 400, 800)
quick = dict(seeds=5, sizes=SIZES[:-1])
paper = dict(
    seeds=30,
    sizes=(100, 200, 400, 800, 1600),
    theory=(400, 800, 1600, 3200),
    attacked=(50, 100, 200, 400),
    n=100,
)

EARLY, THEORY, ATTACKED = "standard", "Assumption B.3", "attacked"
UPPER = (math.inf, 0.15)  # an upper bound: only growth speaks against it
STEP_SIZE = 0.05  # what finite steps may add to a bound for η → 0


def plan(sizes=SIZES, theory=SIZES, attacked=(25, 50, 100, 200), n=6, m=100, eta=0.1, steps=1000):
    features = (robust_features, nonrobust_features, foreign_robust, foreign_nonrobust)
    common = dict(eta=eta, probes=features, final=(scales,), dtype="float32")
    noisy = lambda d: TwoFeaturePatches(d=d, sigma_n=d**-0.5, balanced=True)
    small = lambda d: SmoothedCNN(m=m, sigma0=0.1 / d**0.5)
    longer = lambda d, t: math.ceil(t * (d / 100) ** 0.5)
    for d in sizes:
        yield Run(
            label=f"{EARLY}, d = {d}",
            data=replace(noisy(d), sigma_n=0.0),
            network=small(d),
            n=2,
            steps=longer(d, steps * 3 // 10),
            record=longer(d, 2),
            **common,
        )
    for d in theory:
        width = min(m, math.ceil(math.log(d) ** 2))
        yield Run(
            label=f"{THEORY}, d = {d}",
            data=noisy(d),
            network=SmoothedCNN(m=width, rho=1 / math.log(d), sigma0=d**-0.5),
            n=n,
            steps=max(1, steps * d // 1000),
            record=max(1, steps * d // 4000),
            **common,
        )
    for d in attacked:
        yield Run(
            label=f"{ATTACKED}, d = {d}",
            data=noisy(d),
            network=small(d),
            attack=MarginStep(radius=1.2, step=d**0.5),
            n=n,
            steps=longer(d, steps),
            record=longer(d, 20),
            **common,
        )


def _sizes(family):
    """The runs of a family by their dimension."""
    return lambda rows: {
        label: float(label.rsplit(" ", 1)[1]) for label in rows if label.startswith(family)
    }


def _both(rows):
    return (classes({"": rows}, "", p)[1] for p in ("robust_features", "nonrobust_features"))


def _over_bound(label):
    """The largest over classes of A(T)/A(0) over its bound 1/(1 − S A(0)/B(0)), T the first time
    with B ≥ ϱ/β; classes with S A(0) ≥ B(0), which Lemma B.2 leaves out, do not count."""

    def of(rows):
        A, B = _both(rows[label])
        start = scale(rows, label, "S")[:, None] * A[:, 0] / B[:, 0]
        high = scale(rows, label, "rho/beta")[:, None, None] <= B
        share = when(A, high) / A[:, 0] * (1 - start)
        return np.where(start < 1, share, -np.inf).max(-1)

    return measure(f"A(T)/A(0) over 1/(1 − S A(0)/B(0)), {label}", of)


def _at_rho(rows):
    """max A when B reaches ϱ/β, mean over classes."""
    A, B = _both(rows)
    return when(A, scale({"": rows}, "", "rho/beta")[:, None, None] <= B).mean(-1)


def _end(probe):
    """The last value, mean over classes."""
    return lambda rows: (rows.last(f"{probe}[0]") + rows.last(f"{probe}[1]")) / 2


def _highest(probe):
    """The largest value at any record time (the last may be negative)."""
    return lambda rows: rows.curve(probe)[1].max(1)


def _polylog(d):
    """polylog(d)/√d, read as log²d/√d."""
    return math.log(d) ** 2 / d**0.5


def _stage(rows):
    """The smallest over runs of ϱ/(β max B(0)): only above 1 is there a polynomial stage."""
    margins = [
        scale(rows, label, "rho/beta") / classes(rows, label, "nonrobust_features")[1][:, 0].max(-1)
        for label in _sizes(THEORY)(rows)
    ]
    return np.min(margins, axis=0)


checks = {
    "rnrf.lemD.9.dominance": rules.every(
        rules.each(
            lambda label: level(_over_bound(label), 0, 1 + STEP_SIZE),
            lambda label: label.startswith(EARLY),
        ),
        exponent("slope in d of A(T)√d", _at_rho, _sizes(EARLY), 0, 0.15, lambda d: d**-0.5),
    ),
    "rnrf.lemE.7.final": rules.every(
        exponent(
            "slope in d of max B/log d",
            _end("nonrobust_features"),
            _sizes(THEORY),
            0,
            0.15,
            math.log,
        ),
        *(
            exponent(f"slope in d of {name}·√d/log²d", of, _sizes(THEORY), 0, UPPER, _polylog)
            for name, of in (
                ("max A", _end("robust_features")),
                ("max C over t", _highest("foreign_robust")),
                ("max D over t", _highest("foreign_nonrobust")),
            )
        ),
        rules.in_regime(measure("least ϱ/(β max B(0))", _stage), 1.0),
    ),
    "rnrf.lemE.11": rules.every(
        exponent(
            "slope in d of max A/log d", _end("robust_features"), _sizes(ATTACKED), 0, 0.2, math.log
        ),
        exponent(
            "slope in d = η̃² of max B", _end("nonrobust_features"), _sizes(ATTACKED), -0.5, 0.1
        ),
    ),
}

_names = {
    "robust_features[0]": "max A, class 1",
    "nonrobust_features[0]": "max B, class 1",
    "foreign_robust": "max C",
    "foreign_nonrobust": "max D",
}

figures = (
    Table(
        name="dimension",
        title="Correlations at the end, by dimension",
        y=tuple(_names),
        names=_names,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
