"""Theorem 5.1 of CONV and its consequences: descent without projection, against certified optima.

Paper: for any attack and smooth σ, with α = O(ε), m = Ω(R⁴/ε²) and T = Θ(√m/α), min_t L_A comes
within ε of the smallest L_* in B(R). The paper also states case 2 of the proof, footnote 13 and
Corollary 5.1, and that stronger attacks and larger R are better. It leaves attacks that are not
used in training as an open question (§7). "unbounded slopes" has an activation with unbounded
slope and d up to 500 m, which the theorem permits.
Reading: ε = αG²/2 + cR²/(2√m(1 − 1/S_T)) at T = √m/(cα), with c = C2 and G measured. The reference
is the certified lower bound of the optimum. A run is judged if ε is smaller than the possible
decrease from the initial loss. The data are arcs of a circle and caps in dimensions 5 and 10, as
finite sets, so L_* is exact.
Cost: quick 25 s (one core); paper at most 12 min on 16 cores.
"""

import itertools

from adversarium.networks import Erf, QuadraticReLU, Shifted, SmoothedReLU
from adversarium.plans import Read, Trial

from ...theory.certified_descent import CAPS
from ...theory.convergence import (
    descent_gap,
    descent_to_eps,
    descent_until_exit,
    orthogonal_times,
    radii_compared,
    transfer_losses,
)
from ...theory.counterexamples import steep_slopes
from ...theory.regime import gates as gates
from ...theory.rules import refuse_unknown

RULES = ("exact", "identity", "anti", "random", "cycle", "fgsm")
ATTACKS = (*RULES, "worst_of", "switch", "pgd")
EVALUATION_ATTACKS = (
    "identity",
    "anti",
    "random",
    "fgsm",
    "worst_of",
    "pgd",
    "switch",
    "exact",
    "pgd-100",
)
OTHER_ACTIVATIONS = ("quadratic ReLU", "erf", "shifted")
MEMBERS = (1, 2, 3, 5, 9)  # number of points of every set that the training attack may use
# ε → R such that some W in B(R) has L_* ≤ ε/2
RADIUS_FOR_EPS = {
    0.3: 1.65,
    0.2: 2.05,
    0.15: 2.35,
    0.1: 2.65,
    0.075: 2.9,
}
STARTS = 27  # per seed and attack at ε = 0.3; attacks share their starts
FREQUENCY_STARTS = 45  # per seed, to test a frequency of 0.99: 900 starts in 20 seeds


SMOOTHED = SmoothedReLU(b=2.0)
ACTIVATIONS = dict(
    zip(OTHER_ACTIVATIONS, (QuadraticReLU(), Erf(), Shifted(b=4.0, c=0.5)), strict=True)
)
RADII_1_TO_4 = (1.0, 2.0, 3.0, 4.0)
RADII = {
    64: RADII_1_TO_4[:1],
    256: RADII_1_TO_4[:2],
    1024: RADII_1_TO_4[:3],
    4096: RADII_1_TO_4,
    16384: RADII_1_TO_4,
}

VERSIONS = {descent_gap: 3, radii_compared: 2}

quick = dict(seeds=5, widths=(256,), widest=(), alphas=(0.4,), attacks=("exact", "identity"),
             rules=("exact", "identity"), variant_widths=(),
             exit_radii=(0.1,), exit_sizes=(), compared=(), members=(4, 8), eps=(0.3,), starts=1,
             frequency_starts=1, transfer_widths=(64,), radii=(0.2,), nested_widths=(),
             transfer_attacks=("exact", "identity", "anti"), matrix_attacks=(),
             steps=150)  # fmt: skip
paper = dict(seeds=20)


def plan(
    widths=(64, 256, 1024, 4096), widest=(16384,), alphas=(0.025, 0.1, 0.4), attacks=ATTACKS,
    rules=RULES, variant_widths=(256, 1024, 4096), dimensions=(64, 32_000),
    exit_radii=(0.1, 0.3, 0.9), exit_sizes=((64, 0.1), (256, 1.0), (1024, 3.0), (4096, 0.1)),
    compared=(4096,), members=(4, 8, 16, 32), eps=tuple(RADIUS_FOR_EPS),
    starts=STARTS, frequency_starts=FREQUENCY_STARTS, transfer_widths=(64, 256, 1024),
    radii=(0.1, 0.2, 0.4), nested_widths=(64, 256, 1024), steps=1500, transfer_attacks=RULES,
    matrix_attacks=ATTACKS,
):  # fmt: skip
    def trial(family, function, at, **parameters):
        return Trial(family=family, at=at, function=function, parameters=parameters,
                     version=VERSIONS.get(function, 1))  # fmt: skip

    refuse_unknown({*attacks, *rules, *transfer_attacks, *matrix_attacks})
    s = SMOOTHED
    sizes = [*itertools.product(widths, alphas), *((m, 0.1) for m in widest)]
    for rule, (m, alpha) in itertools.product(attacks, sizes):
        at = {"A": Read("rule"), "m": Read("m"), "α": Read("alpha")}
        yield trial("circle", descent_gap, at, activation=s, rule=rule, m=m, alpha=alpha,
                    radii=RADII.get(m, (1.0,)))  # fmt: skip
    for rule, m in itertools.product(("exact", "identity"), variant_widths):
        at = {"A": Read("rule"), "m": Read("m")}
        of = dict(rule=rule, m=m, alpha=0.1, radii=RADII.get(m, (1.0,)))
        for name, other in ACTIVATIONS.items():
            yield trial("activations", descent_gap, {**at, "s": name}, activation=other, **of)
        for data in ("d = 5", "d = 10"):
            d, n = (int(CAPS[data][k]) for k in (0, 1))
            caps_at = {**at, "data": Read("data"), "n": n, "d": d}
            yield trial("caps", descent_gap, caps_at, activation=s, data=data, **of)
        yield trial("start on a sphere", descent_gap, at, activation=QuadraticReLU(), sphere=True,
                    **of)  # fmt: skip
    for d, sphere in itertools.product(dimensions, (False, True)):
        at = {"d": Read("d"), "sphere": Read("sphere")}
        yield trial("unbounded slopes", steep_slopes, at, m=64, d=d, eps=0.1, sphere=sphere)
    for R, rule in itertools.product(exit_radii, rules):
        if (R, rule) == (0.9, "anti"):  # never leaves B(3R)
            continue
        at = {"R": Read("R"), "A": Read("rule")}
        yield trial("leaving", descent_until_exit, at, activation=s, rule=rule, m=1024, alpha=0.1,
                    R=R)  # fmt: skip
    activations = {"smoothed ReLU": s, **{k: ACTIVATIONS[k] for k in OTHER_ACTIVATIONS[:2]}}
    for (name, activation), (m, alpha) in itertools.product(activations.items(), exit_sizes):
        sizes_at = {"s": name, "m": Read("m"), "α": Read("alpha")}
        yield trial("leaving, more", descent_until_exit, sizes_at, activation=activation,
                    rule="exact", m=m, alpha=alpha, R=0.1)  # fmt: skip
    for m in compared:
        at = {"m": Read("m")}
        yield trial("radii", radii_compared, at, activation=s, m=m, radii=(1.0, 2.0, 3.0))
        yield trial("radii, ReLU", radii_compared, {"m": Read("m")}, activation=None, m=16 * m,
                    radii=(0.5, 1.0, 2.0))  # fmt: skip
    for rule, K in itertools.product(("cycle", "exact"), members):
        at = {"A": Read("rule"), "K": Read("K")}
        yield trial("orthogonal", orthogonal_times, at, activation=s, rule=rule, K=K, m=4096,
                    alpha=0.2, eps=0.2)  # fmt: skip
    for rule, small in itertools.product(rules, eps):
        at = {"A": Read("rule"), "1/ε": round(1 / small, 3)}
        if small < 0.15 and rule != "identity":  # takes a quarter of an hour per start
            continue
        count = starts if small == max(RADIUS_FOR_EPS) else 1
        yield trial("reaching", descent_to_eps, at, activation=s, rule=rule, eps=small,
                    R=RADIUS_FOR_EPS.get(small, 2.0), starts=count)  # fmt: skip
    for small in eps[:1]:
        at = {"1/ε": round(1 / small, 3)}
        yield trial("often", descent_to_eps, at, activation=s, rule="exact", eps=small,
                    R=RADIUS_FOR_EPS.get(small, 2.0), starts=frequency_starts)  # fmt: skip
    for m, radius, rule in itertools.product(transfer_widths, radii, transfer_attacks):
        at = {"m": Read("m"), "radius": Read("radius"), "A": Read("rule")}
        yield trial("transfer", transfer_losses, at, activation=s, rule=rule, m=m, alpha=1.0,
                    steps=steps, radius=radius)  # fmt: skip
    for rule in matrix_attacks:
        of = dict(
            activation=s,
            rule=rule,
            m=1024,
            alpha=1.0,
            steps=steps,
            radius=0.2,
            others=EVALUATION_ATTACKS,
        )
        at = {"A": Read("rule")}
        yield Trial(family="matrix", at=at, function=transfer_losses, parameters=of, version=2)
    for m, count in itertools.product(nested_widths, MEMBERS):
        at = {"m": Read("m"), "K": Read("members")}
        yield trial("nested", transfer_losses, at, activation=s, rule="exact", m=m, alpha=1.0,
                    steps=8 * steps // 3, radius=0.2, members=count)  # fmt: skip
