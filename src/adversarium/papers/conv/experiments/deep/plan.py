"""Theorem 4.1 of CONV: projected descent of the deep ReLU network, against certified optima.

Paper: for any attack, m ≥ Θ(R⁹H¹⁶/ε⁷), α = O(ε/(mH²)) and T = Θ(R²/(mεα)) steps, min_t L_A comes
within ε of the smallest L_* in B(R). Footnote 4: this holds for other losses too. Depth can only
make the bound worse (§7).
Reading: all constants are 1. For H = 1, m × d coordinates represent the network exactly and the
largest linearisation error within B(R) is known, so the optimum is certified. The order of T in H
is judged on one point with a large label in a tiny ball, where the hypothesis holds at every H,
compared with explicit weights in B(R). The inequalities of the proof are tested at weights whose
layers all move.
Cost: quick 28 s (one core); paper 3 min on 16 cores.
"""

import itertools
from typing import Any

from adversarium.networks import SmoothedReLU
from adversarium.plans import Lines, Powers, Read, Trial, end, where

from ...theory.convergence import descent_gap, hidden_converging
from ...theory.counterexamples import printed_sign
from ...theory.depths import depth_times, proof_steps
from ...theory.regime import gates as gates
from ...theory.rules import refuse_unknown

# (m, R, ε) with R⁹/(ε⁷m) ≤ 1
SIZES = ((1280, 0.5, 0.15), (4608, 1.0, 0.3), (78336, 1.0, 0.2), (589824, 1.0, 0.15),
         (65536, 2.0, 0.5), (18432, 2.0, 0.6))  # fmt: skip
ATTACKS = ("exact", "identity", "anti", "cycle", "fgsm")
SETS = {"one arc": (1, 2), "two arcs": (2, 2), "d = 8": (2, 8), "d = 32": (4, 32)}  # name → n, d
DEPTHS = (1, 2, 4, 8, 16)
LOGISTIC = (64, 256, 1024)
LOGISTIC_SIZES = (SIZES[0], (5632, 0.5, 0.12), SIZES[2], SIZES[4])
TINY = 1e-9  # R at which the lemmas' τH⁶(log m)³ ≤ 1 holds up to H = 16


quick = dict(seeds=5, sizes=SIZES[:1], attacks=("exact", "identity"), sets=(), depths=(1, 2, 4),
             layers=(1, 2, 4), widths=(64, 128, 256), logistic=(64,))  # fmt: skip
paper = dict(seeds=20)


def plan(
    sizes=SIZES, attacks=ATTACKS, sets=tuple(SETS), depths=DEPTHS, layers=(1, 2, 4, 8, 16),
    widths=(64, 128, 256, 512, 1024), logistic=LOGISTIC,
):  # fmt: skip
    at: dict[str, Any]
    refuse_unknown(attacks)

    def hidden(family, at, **parameters):
        return Trial(family=family, at=at, function=hidden_converging, parameters=parameters,
                     version=2)  # fmt: skip

    for (m, R, eps), rule in itertools.product(sizes, attacks):
        at = {"R": Read("R"), "ε": Read("eps"), "A": Read("rule")}
        yield hidden("one layer", at, rule=rule, m=m, R=R, eps=eps)
    for data in sets:
        n, d = SETS[data]
        at = {"data": Read("data"), "n": n, "d": d}
        yield hidden("other sets", at, rule="exact", m=78336, R=1.0, eps=0.2, data=data)
    for m, R, eps in LOGISTIC_SIZES if len(sizes) > 1 else sizes:
        at = {"A": Read("rule"), "R": Read("R"), "ε": Read("eps")}
        yield hidden("logistic", at, rule="exact", m=m, R=R, eps=eps, loss="cross_entropy")
    for rule in attacks[:2]:
        for m in logistic:
            of = dict(activation=SmoothedReLU(b=2.0), rule=rule, m=m, alpha=0.1, radii=(1.0, 2.0),
                      loss="cross_entropy")  # fmt: skip
            yield Trial(family="logistic, two layers", at={"A": Read("rule"), "m": Read("m")},
                        function=descent_gap, parameters=of, version=3)  # fmt: skip
    for H in depths:
        yield Trial(family="depths", at={"H": Read("H")}, function=depth_times,
                    parameters=dict(m=1024, H=H, R=1e-5))  # fmt: skip
    for H in layers:
        yield Trial(family="proof over H", at={"H": Read("H")}, function=proof_steps,
                    parameters=dict(m=256, H=H, R=1e-5, draws=20), version=2)  # fmt: skip
        yield Trial(family="gradients over H", at={"H": Read("H")}, function=proof_steps,
                    parameters=dict(m=256, H=H, R=TINY, draws=20), version=2)  # fmt: skip
    for m in widths:
        yield Trial(family="proof over m", at={"m": Read("m")}, function=proof_steps,
                    parameters=dict(m=m, H=2, R=1e-3, draws=20), version=2)  # fmt: skip
    for m, R, eps in ((1280, 0.5, 0.15), (4608, 1.0, 0.3)):
        at = {"R": Read("R"), "ε": Read("eps")}
        yield Trial(family="printed sign", at=at, function=printed_sign,
                    parameters=dict(m=m, R=R, eps=eps))  # fmt: skip


figures = (
    Lines(
        name="gap-deep",
        title="Theorem 4.1, H = 1: the certified gap divided by ε",
        numbers=(end("gap/ε"),),
        x="ε",
        by=("A", "R"),
        runs=tuple(where("one layer", A=rule) for rule in ("exact", "fgsm")),
        log_x=False,
        y_label="(smallest L_A − smallest L_* in B(R))/ε",
        levels={"allowed": 1.0},
        caption="Widths with R⁹/(ε⁷m) ≤ 1; mean and 99 % interval over all seeds, including those "
        "in which ε is vacuous.",
    ),
    Powers(
        name="depth",
        title="Theorem 4.1: the number of steps to ε divided by the published T",
        number=end("t mεα/R²"),
        sweeps={"H": where("depths")},
        claimed={"H": 0},
        y_label="t mεα/R²",
        caption="One point, large label, R = 10⁻⁵ (R = Ω(1) requires widths that cannot be run): "
        "the time grows like H, a factor that the published T lacks.",
    ),
)
