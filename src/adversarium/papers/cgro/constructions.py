"""CGRO's explicit classifiers (§5, App. D): a memorising ReLU network, and what a robust one needs.

Paper: a network with poly(D) + Õ(ND) parameters has clean test error 0, robust training error 0 and
robust test error Ω(1) (Theorem 5.2); a robust one needs exp(Ω(D)) parameters (Theorem 5.3).
Reading: l_inf balls of radius δ = .2 about points over the cells {0.1, 0.9}^{D−1}, heights ½ ± .05;
robust errors over every corner of the l_inf cell and by a gradient attack, whichever is worse.
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
    not_testable,
    present,
    where,
)
from adversarium.probes import Error
from adversarium.training import Adam
from adversarium.trials import classifiers, memorising_counts, ray, regions, shattering
from adversarium.trials import gates as gate_errors

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

COUNTED = {"N": (4, 8, 16, 32), "D": (4, 8, 16, 32)}  # what is swept, the other one is 8
COUNTED_AT = {"norm": Read("norm"), "gate": Read("gate"), "N": Read("n"), "D": Read("D")}
KINDS = (("linf", "product"), ("linf", "exact"), ("l2", "product"))  # norm, gate
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
TRAINED = (3, 4, 5)  # D

quick = dict(seeds=5)
paper = dict(seeds=10)


def plan(dimensions=(6, 10), stages=8, widths=WIDTHS, steps=2000):
    yield Trial(family="gates", function=gate_errors, parameters=dict(stages=stages))
    yield Trial(family="regions", function=regions, version=3)
    yield Trial(family="C(μ)", function=shattering)
    at = {"D": Read("D")}
    for D in dimensions:
        parameters = dict(D=D)
        yield Trial(
            family="classifiers", at=at, function=classifiers, parameters=parameters, version=4
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
    """The errors of one classifier: clean 0, robust 0 on what it memorised, and large elsewhere."""

    def errors(trial):
        return every(
            level(last(f"{name}.clean_test", trial), 0, 0),
            level(last(f"{name}.robust_train", trial), 0, 0),
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

checks = {
    "cgro.eq.C": counted_as("existence", each("classifiers", _memorising("f_S"))),
    "cgro.thm5.2": counted_as(
        "existence",
        every(
            each("classifiers", _memorising("product")),
            each("classifiers", _memorising("exact")),
            _where_built("l2.clean_test", _memorising("l2")),
            *_linear,
        ),
    ),
    "cgro.lemD.2": existence(last("square", "gates")),
    "cgro.lemD.3": existence(last("product", "gates")),
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
    "cgro.thm5.3.points": _where_built(
        "lower_bound", lambda trial: existence(last("lower_bound", trial))
    ),
    "cgro.thm5.3.widths": level(width_doublings, 0.5),
}
