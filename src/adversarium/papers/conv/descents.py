"""Theorem 5.1 of CONV and what follows from it: unprojected descent against certified optima.

Paper: for any attack and smooth σ, α = O(ε), m = Ω(R⁴/ε²), T = Θ(√m/α): min_t L_A comes within ε of
the least L_* in B(R); case 2 of the proof; footnote 13; Corollary 5.1; stronger attacks and larger
R are better; other attacks are an open question (§7).
Reading: ε = αG²/2 + cR²/(2√m(1 − 1/S_T)) at T = √m/(cα), c = C2, G measured; the reference is the
certified lower end of the optimum. Judged where ε is less than what the start has to gain. Arcs of
a circle, caps in R⁵ and R¹⁰, finite sets: L_* is exact.
Cost: quick 25 s (one core); paper at most 12 min on 16 cores.
"""

import itertools

from adversarium.networks import Erf, QuadraticReLU, Shifted, SmoothedReLU
from adversarium.papers.conv.descents_checks import (
    ATTACKS,
    MEMBERS,
    NEEDED,
    OFTEN,
    OTHERS,
    RULES,
    STARTS,
    UNDER,
    checks,
)
from adversarium.papers.conv.descents_figures import figures
from adversarium.papers.conv.rules import refuse_unknown
from adversarium.plans import Read, Trial
from adversarium.trials import (
    converging,
    leaving,
    orthogonal_times,
    radii_compared,
    reaching,
    transferred,
)

__all__ = ["checks", "figures", "paper", "plan", "quick"]

SMOOTHED = SmoothedReLU(b=2.0)
ACTIVATIONS = dict(zip(OTHERS, (QuadraticReLU(), Erf(), Shifted(b=4.0, c=0.5)), strict=True))
FOUR = (1.0, 2.0, 3.0, 4.0)
RADII = {64: FOUR[:1], 256: FOUR[:2], 1024: FOUR[:3], 4096: FOUR, 16384: FOUR}

VERSIONS = {converging: 3, radii_compared: 2}

quick = dict(seeds=5, widths=(256,), widest=(), alphas=(0.4,), attacks=("exact", "identity"),
             rules=("exact", "identity"), more=(),
             leave=(0.1,), faster=(), compared=(), members=(4, 8), eps=(0.3,), starts=1,
             often=1, far=(64,), radii=(0.2,), nested=(),
             against=("exact", "identity", "anti"), met=(),
             steps=150)  # fmt: skip
paper = dict(seeds=20)


def plan(
    widths=(64, 256, 1024, 4096), widest=(16384,), alphas=(0.025, 0.1, 0.4), attacks=ATTACKS,
    rules=RULES, more=(256, 1024, 4096),
    leave=(0.1, 0.3, 0.9), faster=((64, 0.1), (256, 1.0), (1024, 3.0), (4096, 0.1)),
    compared=(4096,), members=(4, 8, 16, 32), eps=tuple(NEEDED),
    starts=STARTS, often=OFTEN, far=(64, 256, 1024), radii=(0.1, 0.2, 0.4),
    nested=(64, 256, 1024), steps=1500, against=RULES,
    met=ATTACKS,
):  # fmt: skip
    def trial(family, function, at, **parameters):
        return Trial(family=family, at=at, function=function, parameters=parameters,
                     version=VERSIONS.get(function, 1))  # fmt: skip

    refuse_unknown({*attacks, *rules, *against, *met})
    s = SMOOTHED
    sizes = [*itertools.product(widths, alphas), *((m, 0.1) for m in widest)]
    for rule, (m, alpha) in itertools.product(attacks, sizes):
        at = {"A": Read("rule"), "m": Read("m"), "α": Read("alpha")}
        yield trial("circle", converging, at, activation=s, rule=rule, m=m, alpha=alpha,
                    radii=RADII.get(m, (1.0,)))  # fmt: skip
    for rule, m in itertools.product(("exact", "identity"), more):
        at = {"A": Read("rule"), "m": Read("m")}
        of = dict(rule=rule, m=m, alpha=0.1, radii=RADII.get(m, (1.0,)))
        for name, other in ACTIVATIONS.items():
            yield trial("activations", converging, {**at, "s": name}, activation=other, **of)
        for data in ("d = 5", "d = 10"):
            place = {**at, "data": Read("data")}
            yield trial("caps", converging, place, activation=s, data=data, **of)
        yield trial("start on a sphere", converging, at, activation=QuadraticReLU(), sphere=True,
                    **of)  # fmt: skip
    for R, rule in itertools.product(leave, rules):
        if (R, rule) == (0.9, "anti"):  # stays in B(3R)
            continue
        at = {"R": Read("R"), "A": Read("rule")}
        yield trial("leaving", leaving, at, activation=s, rule=rule, m=1024, alpha=0.1, R=R)
    ways = {"smoothed ReLU": s, **{k: ACTIVATIONS[k] for k in OTHERS[:2]}}
    for (name, way), (m, alpha) in itertools.product(ways.items(), faster):
        there = {"s": name, "m": Read("m"), "α": Read("alpha")}
        yield trial("leaving, more", leaving, there, activation=way, rule="exact", m=m, alpha=alpha,
                    R=0.1)  # fmt: skip
    for m in compared:
        at = {"m": Read("m")}
        yield trial("radii", radii_compared, at, activation=s, m=m, radii=(1.0, 2.0, 3.0))
        yield trial("radii, ReLU", radii_compared, {"m": Read("m")}, activation=None, m=16 * m,
                    radii=(0.5, 1.0, 2.0))  # fmt: skip
    for rule, K in itertools.product(("cycle", "exact"), members):
        at = {"A": Read("rule"), "K": Read("K")}
        yield trial("orthogonal", orthogonal_times, at, activation=s, rule=rule, K=K, m=1024,
                    alpha=0.2, eps=0.2)  # fmt: skip
    for rule, small in itertools.product(rules, eps):
        at = {"A": Read("rule"), "1/ε": round(1 / small, 3)}
        if small < 0.15 and rule != "identity":  # a quarter of an hour a start
            continue
        count = starts if small == max(NEEDED) else 1
        yield trial("reaching", reaching, at, activation=s, rule=rule, eps=small,
                    R=NEEDED.get(small, 2.0), starts=count)  # fmt: skip
    for small in eps[:1]:
        yield trial("often", reaching, {"1/ε": round(1 / small, 3)}, activation=s, rule="exact",
                    eps=small, R=NEEDED.get(small, 2.0), starts=often)  # fmt: skip
    for m, radius, rule in itertools.product(far, radii, against):
        at = {"m": Read("m"), "radius": Read("radius"), "A": Read("rule")}
        yield trial("transfer", transferred, at, activation=s, rule=rule, m=m, alpha=1.0,
                    steps=steps, radius=radius)  # fmt: skip
    for rule in met:
        of = dict(activation=s, rule=rule, m=1024, alpha=1.0, steps=steps, radius=0.2, others=UNDER)
        yield Trial(family="matrix", at={"A": Read("rule")}, function=transferred, parameters=of,
                    version=2)  # fmt: skip
    for m, count in itertools.product(nested, MEMBERS):
        at = {"m": Read("m"), "K": Read("members")}
        yield trial("nested", transferred, at, activation=s, rule="exact", m=m, alpha=1.0,
                    steps=8 * steps // 3, radius=0.2, members=count)  # fmt: skip
