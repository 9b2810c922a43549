"""Theorem 5.1 of CONV and what follows from it: unprojected descent against certified optima.

Paper: for any attack and smooth σ, α = O(ε), m = Ω(R⁴/ε²), T = Θ(√m/α): min_t L_A comes within ε of
the least L_* in B(R); case 2 of the proof; footnote 13; Corollary 5.1; stronger attacks and larger
R are better; no projection is needed; other attacks are an open question (§7).
Reading: ε = αG²/2 + cR²/(2√m(1 − 1/S_T)) at T = √m/(cα), c = C2, G measured; the reference is the
certified lower end of the optimum. Judged where ε is less than what the start has to gain. Arcs of
a circle, caps in R⁵ and R¹⁰, finite sets: L_* is exact.
Cost: quick 25 s (2 cores); paper 6 min on 16 cores.
"""

import itertools

from adversarium.networks import Erf, QuadraticReLU, Shifted, SmoothedReLU
from adversarium.papers.conv.descents_checks import (
    MEMBERS,
    NEEDED,
    OFTEN,
    OTHERS,
    RULES,
    SHARES,
    STARTS,
    checks,
)
from adversarium.plans import Bars, Profile, Read, Trial, where
from adversarium.trials import (
    converging,
    deep_paths,
    free_and_projected,
    leaving,
    orthogonal_times,
    radii_compared,
    reaching,
    transferred,
)

__all__ = ["checks", "figures", "paper", "plan", "quick"]

SMOOTHED = SmoothedReLU(b=2.0)
ACTIVATIONS = dict(zip(OTHERS, (QuadraticReLU(), Erf(), Shifted(b=4.0, c=0.5)), strict=True))
RADII = {64: (1.0,), 256: (1.0, 2.0), 1024: (1.0, 2.0, 3.0), 4096: (1.0, 2.0, 3.0, 4.0)}

quick = dict(seeds=5, widths=(256,), alphas=(0.4,), rules=("exact", "identity"), more=(),
             leave=(0.1,), compared=(), members=(4, 8), eps=(0.3,), starts=1,
             often=1, far=(64,), radii=(0.2,), nested=(), free=(16,), deep=(),
             against=("exact", "identity", "anti"),
             steps=150)  # fmt: skip
paper = dict(seeds=20)


def plan(
    widths=(64, 256, 1024, 4096), alphas=(0.025, 0.1, 0.4), rules=RULES, more=(256, 1024, 4096),
    leave=(0.1, 0.3, 0.9), compared=(4096,), members=(4, 8, 16, 32), eps=tuple(NEEDED),
    starts=STARTS, often=OFTEN, far=(64, 256, 1024), radii=(0.1, 0.2, 0.4),
    nested=(64, 256, 1024), free=(64, 256, 1024), deep=(64, 128, 256, 512), steps=1500,
    against=RULES,
):  # fmt: skip
    def trial(family, function, at, **parameters):
        return Trial(family=family, at=at, function=function, parameters=parameters)

    s = SMOOTHED
    for rule, m, alpha in itertools.product(rules, widths, alphas):
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
    for m, count in itertools.product(nested, MEMBERS):
        at = {"m": Read("m"), "K": Read("members")}
        yield trial("nested", transferred, at, activation=s, rule="exact", m=m, alpha=1.0,
                    steps=8 * steps // 3, radius=0.2, members=count)  # fmt: skip
    for m, rule in itertools.product(free, ("exact", "identity", "cycle")):
        at = {"m": Read("m"), "A": Read("rule")}
        yield trial("free", free_and_projected, at, activation=s, rule=rule, m=m, alpha=0.1,
                    shares=SHARES)  # fmt: skip
    for m, H in itertools.product(deep, (1, 2, 4)):
        yield trial("deep", deep_paths, {"m": Read("m"), "H": Read("H")}, m=m, H=H)


figures = (
    Profile(
        name="optima",
        title="Certified ends of the least robust loss in B(R)",
        y=("low", "high"),
        runs=(where("radii"), where("radii, ReLU")),
        names={"low": "lower end", "high": "upper end"},
        x_label="R",
        y_label="least L_* in B(R)",
        caption="Four arcs of a circle; the two-layer network and one hidden ReLU layer. Mean over "
        "seeds, band: smallest to largest.",
    ),
    Profile(
        name="gap",
        title="Theorem 5.1: the certified gap over ε, exact attack, α = 0.4",
        y=("gap/ε",),
        runs=(where("circle", A="exact", α=0.4),),
        names={"gap/ε": "(least L_A − least L_* in B(R))/ε"},
        x_label="R",
        y_label="gap/ε",
        caption="Four arcs of a circle, T = √m/(cα); the theorem allows 1. Below 0: L_A under the "
        "attack of training is lower than any L_* of B(R). Mean over seeds, band: smallest to "
        "largest.",
    ),
    Profile(
        name="free",
        title="Remark 5.1: descent without projection against descent in a ball",
        y=("free − projected",),
        runs=(where("free", A="exact"),),
        names={"free − projected": "least L_A, free less projected"},
        x_label="radius of the ball over the length of the free path",
        y_label="difference of least L_A",
        caption="Exact attack; in balls as large as the path both are one descent. Mean over "
        "seeds, band: smallest to largest.",
    ),
    Bars(
        name="transfer",
        title="§7: what training against one attack leaves to another",
        y=("L_A", "L_*"),
        runs=(where("transfer", radius=0.2),),
        names={"L_A": "loss under the training attack", "L_*": "exact robust loss"},
        y_label="loss",
        caption="After 1,500 steps, α = 1; arcs of radius 0.2. Mean and 99 % interval over seeds.",
    ),
)
