"""CGRO's explicit classifiers (§5, App. D): a memorising ReLU network, and what a robust one needs.

Paper: a network with poly(D) + Õ(ND) parameters has clean test error 0, robust training error 0 and
robust test error Ω(1) (Theorem 5.2); a robust one needs exp(Ω(D)) parameters (Theorem 5.3).
Reading: l_inf balls of radius δ = .2 about points over the cells {0.1, 0.9}^{D−1}, heights ½ ± .05;
"robust" is certified over the whole ball, "broken" found at a corner of the l_inf cell or by a
gradient attack.
Cost: quick 40 s (2 cores).
"""

import itertools
import math

from adversarium.attacks import PGD, strong_attacks
from adversarium.data import HyperplaneCells
from adversarium.networks import Perceptron
from adversarium.papers.cgro.constructions_figures import DELTA, figures
from adversarium.papers.cgro.constructions_readings import width_doublings
from adversarium.papers.cgro.regime import gates
from adversarium.plans import (
    Need,
    Read,
    Run,
    Trial,
    Where,
    Why,
    at_most,
    counted_as,
    each,
    every,
    existence,
    exponent,
    last,
    level,
    no_growth,
    not_testable,
    parts,
    present,
    where,
)
from adversarium.probes import Error
from adversarium.training import Adam
from adversarium.trials import (
    classifiers,
    gate_sizes,
    memorising_counts,
    product_gate,
    ray,
    regions,
    shattered_cells,
    shattering,
    square_gate,
)

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

COUNTED = {"N": (4, 8, 16, 32), "D": (4, 8, 16, 32)}  # what is swept, the other one is 8
COUNTED_AT = {"norm": Read("norm"), "gate": Read("gate"), "N": Read("n"), "D": Read("D")}
KINDS = (("linf", "product"), ("linf", "exact"), ("l2", "product"))  # norm, gate
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
TRAINED = (3, 4, 5)  # D
BUILT = ((3, 2), (6, 4), (6, 16), (12, 4))  # D, N
STAGES, SIZES = (2, 4, 8, 16), (4, 8, 16, 32, 64)  # of a gate: its error, its size
SHATTERED = (3, 6, 12)  # D

quick = dict(seeds=5)
paper = dict(seeds=10)


def plan(built=BUILT, stages=STAGES, sizes=SIZES, shattered=SHATTERED, widths=WIDTHS, steps=2000):
    for s in stages:
        at, one = {"s": Read("s")}, dict(s=s)
        yield Trial(family="square", at=at, function=square_gate, parameters=one)
        yield Trial(family="product", at=at, function=product_gate, parameters=one)
    for s in sizes:
        at, one = {"s": Read("s")}, dict(s=s)
        yield Trial(family="gate sizes", at=at, function=gate_sizes, parameters=one)
    yield Trial(family="regions", function=regions, version=3)
    yield Trial(family="C(μ)", function=shattering)
    at = {"D": Read("D")}
    for D in shattered:
        yield Trial(family="points", at=at, function=shattered_cells, parameters=dict(D=D))
    at = {"D": Read("D"), "N": Read("memorised")}
    for D, N in built:
        parameters = dict(D=D, memorised=N, looked=2)
        yield Trial(
            family="classifiers", at=at, function=classifiers, parameters=parameters, version=5
        )
    for (norm, gate), swept in itertools.product(KINDS, COUNTED):
        place: dict = {"swept": swept, **COUNTED_AT}
        for size in COUNTED[swept]:
            n, D = (size, 8) if swept == "N" else (8, size)
            parameters = dict(norm=norm, gate=gate, n=n, D=D)
            yield Trial(
                family="parameters", at=place, function=memorising_counts, parameters=parameters
            )
    yield Trial(family="ray", function=ray)
    for D, m in itertools.product(TRAINED, widths):
        yield _trained(D, m, steps)


def _trained(D, m, steps):
    """Adversarial training of a network of width m on all 2^{D−1} points of a random labelling."""
    data = HyperplaneCells(D=D, each=True, labelling=None)
    strong = strong_attacks(math.inf, DELTA, k=1, steps=20)
    return Run(
        family="trained",
        at={"D": Read("data.D"), "m": Read("network.m")},
        data=data,
        network=Perceptron(m=m),
        attack=PGD(radius=DELTA, steps=8, start="uniform", loss="risk"),
        optimiser=Adam(batch=data.cells),
        n=data.cells,
        steps=steps,
        eta=0.1,
        final=(Error(on="train", attacks=strong, name="robust_error"),),
        record=(0,),
    )


def _memorising(name):
    """The errors of one classifier: clean 0, robust 0 on what it memorised (a certificate), and
    large elsewhere (found by attacks)."""

    def errors(trial):
        return every(
            at_most(last(f"{name}.clean_test", trial), 0),
            at_most(last(f"{name}.robust_train", trial), 0, last(f"{name}.uncertified", trial)),
            level(last(f"{name}.robust_test", trial), 0.5, 1),
        )

    return errors


def _where_built(number, make):
    """The check of every trial that has a number: those of D ≤ 8 build more than the others."""

    def checks(rows):
        built = [trial.task for trial in rows.where(where("classifiers")) if number in trial.series]
        return [make(Where(task.family, task.coordinates)) for task in built]

    return present("existence", checks, "needs some D <= 8", Need(where("classifiers")))


def _counted(norm, gate, swept, tolerance):
    """Parameters over N D log(D/ε): no power of what is swept."""
    runs = where("parameters", norm=norm, gate=gate, swept=swept)
    told = f"power of {swept} in parameters/(ND log(D/ε)) ({norm} {gate})"
    return exponent(told, "share", swept, runs, 0.0, tolerance)


_linear = [
    _counted(*kind, swept, tolerance)
    for kind in KINDS
    for swept, tolerance in (("N", 0.1), ("D", (math.inf, 0.1)))
]


def _stages(*names):
    """Numbers that do not grow with the stages of a gate."""
    told = "power of s in {}"
    return [no_growth(told.format(name), name, "s", where("gate sizes")) for name in names]


checks = {
    "cgro.eq.C": counted_as("existence", each("classifiers", _memorising("f_S"))),
    "cgro.thm5.2": counted_as(
        "existence",
        parts(
            {
                "errors 0, 0 and Ω(1)": every(
                    each("classifiers", _memorising("product")),
                    each("classifiers", _memorising("exact")),
                    _where_built("l2.clean_test", _memorising("l2")),
                ),
                "poly(D) + Õ(ND) parameters": every(*_linear),
            }
        ),
    ),
    "cgro.lemD.2": counted_as(
        "existence",
        parts(
            {
                "sup error 4^−(s+1)": each(
                    "square", lambda s: level(last("square", s), 1 - 1e-4, 1 + 1e-4, always=True)
                ),
                "O(log(1/ε)) weights and layers": every(*_stages("weights", "layers")),
            }
        ),
    ),
    "cgro.lemD.3": counted_as(
        "existence",
        parts(
            {
                "error ≤ 6B²4^−(s+1)": each("product", lambda s: at_most(last("error", s), 6.0)),
                "0 on the axes": each("product", lambda s: at_most(last("axes", s), 0.0)),
                "O(log²(B/ε)) parameters": every(*_stages("parameters")),
            }
        ),
    ),
    "cgro.propD.5": every(
        at_most(last("regions/2^n", "regions"), 1.0), at_most(last("spread", "regions"), 1e-12)
    ),
    "cgro.thm5.3": not_testable(
        "existence",
        Why.ALL_NETWORKS,
        "every network of at most M_D parameters is meant; its counting, its point set and the "
        "widths that training needs are claims of their own",
    ),
    "cgro.thm5.3.counting": existence(last("table", "C(μ)")),
    "cgro.thm5.3.points": counted_as(
        "existence",
        every(
            each("points", lambda D: existence(last("realised", D))),
            each("points", lambda D: at_most(last("closed_form", D), 1e-9)),
        ),
    ),
    "cgro.thm5.3.widths": level(width_doublings, 0.5),
}
