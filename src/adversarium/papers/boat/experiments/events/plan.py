"""The high-probability events in BOAT's proofs, without any training (Lemmas B.3, B.4, B.19;
Propositions B.18, B.20, B.23).

Paper: with probability at least 1 − δ the noise vectors are long and nearly orthogonal, the Gram
matrix of the data is well conditioned for all points of the balls at once, every clean point is on
its side of μ, and few labels are flipped; the initial weights are spread evenly.
Reading: frequencies over draws at C = 2, 4, 8, 16, judged at C = 8 and 16. The family L has a small
attack, A has α = ‖μ‖; `near` and `far` flip the nearest or farthest points at L's sizes. Constants
must not grow with n or d. Probabilities are exact where possible; for Proposition B.20, a linear
programme gives the smallest one over all distributions. C5 is also judged at equality, ‖μ‖² = C
log(n/δ).
Cost: quick 7 s (2 cores).
"""

import itertools

from adversarium.plans import Profile, Read, Table, Trial, where

from ...theory.cluster_events import (
    flip_tails,
    init_events,
    large_variances,
    least_upper_mass,
    noise_tails,
    signal_tails,
    training_events,
)
from ...theory.families import ARMS, FAMILIES, small_attack
from ...theory.regime import gates as gates

DRAWS = 60  # per seed
ARM = "arm {}"
ALL = "all laws"


RUNGS = (2, 4, 8, 16)
RATIOS = (1e-4, 1e-2, 1.0, 4.0)  # values of m/d

quick = dict(seeds=5, rungs=(8,), families=("L", "A"), flips=(), arms=(), ratios=(1e-2, 4.0))
paper = dict(seeds=10)


def plan(
    rungs=RUNGS, families=("L", "A"), arms=("n", "d"), flips=("near", "far"), ratios=RATIOS,
    draws=DRAWS,
):  # fmt: skip
    for C, family in itertools.product(rungs, families):
        yield _events(family, C, FAMILIES[family](C), draws)
    for C, flip in itertools.product(rungs, flips):
        yield _events(flip, C, small_attack(C), draws, flip=flip)
    for arm in arms:
        for sizes in ARMS[arm]:
            yield _events(ARM.format(arm), 8.0, sizes, draws, at={arm: Read(arm)})
    for C in rungs:
        sizes = small_attack(C)
        parameters = dict(m=sizes.m, d=sizes.d, draws=draws)
        at = {"C": C}
        yield Trial(family="first weights", at=at, function=init_events, parameters=parameters)
    for ratio in ratios:
        m = 40 if ratio < 1 else 400
        parameters = dict(m=m, d=round(m / ratio), draws=draws)
        at = {"m/d": ratio}
        yield Trial(family="shapes", at=at, function=init_events, parameters=parameters)
    for n in (50, 200, 1000):
        at = {"n": Read("n")}
        yield Trial(family="C5", at=at, function=signal_tails, parameters=dict(n=n), exact=True)
    for beta in (0.03, 0.1, 0.3):
        at = {"beta": Read("beta")}
        yield Trial(family="C7", at=at, function=flip_tails, parameters=dict(beta=beta), exact=True)
    for d, kappa in itertools.product((20, 100, 1000), (0.05, 0.15, 0.3)):
        at = {"d": Read("d"), "κ": Read("kappa")}
        parameters = dict(d=d, kappa=kappa)
        yield Trial(
            family="variances", at=at, function=large_variances, parameters=parameters, version=2
        )
    for c in (1.25, 1.65, 2.0, 4.0, 8.0, 16.0):
        at, given = {"c": Read("c")}, dict(c=c)
        yield Trial(
            family=ALL, at=at, function=least_upper_mass, parameters=given, version=2, exact=True
        )
    for d in (1, 4, 40, 400, 1600):
        at = {"d": Read("d")}
        yield Trial(
            family="one vector", at=at, function=noise_tails, parameters=dict(d=d), exact=True
        )


def _events(family, C, sizes, draws, at=None, **more):
    parameters = dict(
        n=sizes.n, d=sizes.d, m=sizes.m, mu=sizes.mu, alpha=sizes.ratio * sizes.mu,
        beta=min(0.1, 1 / C), C=float(C), draws=draws, **more,
    )  # fmt: skip
    coordinates = {"C": C} if at is None else at
    return Trial(family=family, at=coordinates, function=training_events, parameters=parameters)


figures = (
    Table(
        name="events",
        title="Lemma B.4: in how many draws each event is true",
        y=("C1", "C2", "C3", "C4", "C5", "C6", "C7", "joint", "cross", "top", "bottom"),
        runs=(where("L"), where("A"), where("near"), where("far")),
        names={
            "cross": "max|⟨ξ_i, ξ_j⟩|/√(d log(n/δ))",
            "top": "λ_max(ΞΞᵀ)/d",
            "bottom": "(√λ_min(XXᵀ) − α√n)/√d",
        },
        caption=f"C1 to C7: how many of {DRAWS} draws per seed; mean over seeds with its interval.",
    ),
    Profile(
        name="C5",
        title="Lemma B.4 (C5): the exact probability where ‖μ‖² = C log(n/δ)",
        y=("kept",),
        runs=tuple(where("C5", n=n) for n in (50, 200, 1000)),
        names={"kept": "P[all clean points within ‖μ‖²/2]"},
        x_label="C",
        y_label="probability",
        caption="δ = 0.1: 0.9 is claimed for large C; it is reached at C = 6.1, 6.3, 6.5.",
    ),
)
