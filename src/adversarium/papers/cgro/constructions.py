"""CGRO's explicit classifiers (§5, App. D): a memorising ReLU network, and what a robust one needs.

Paper: a network with poly(D) + Õ(ND) parameters has clean test error 0, robust training error 0 and
robust test error Ω(1) (Theorem 5.2); a robust one needs exp(Ω(D)) parameters (Theorem 5.3).
Reading: l_inf balls of radius δ = .2 about points over the cells {0.1, 0.9}^{D−1}, heights ½ ± .05;
"robust" is certified over the whole ball, "broken" found at a corner of the l_inf cell or by a
gradient attack.
Cost: quick 35 s (2 cores).
"""

import itertools
import math

from adversarium.attacks import PGD, strong_attacks
from adversarium.data import HyperplaneCells
from adversarium.networks import Perceptron
from adversarium.papers.cgro.constructions_checks import KINDS, checks
from adversarium.papers.cgro.constructions_figures import DELTA, figures
from adversarium.papers.cgro.regime import gates
from adversarium.plans import Read, Run, Trial
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
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
TRAINED = (3, 4, 5)  # D
BUILT = ((3, 2), (6, 4), (6, 16), (12, 4))  # D, N
STAGES, SIZES = (2, 4, 8, 16), (4, 8, 16, 32, 64)  # of a gate: its error, its size
SHATTERED = (2, 5, 9)  # D

quick = dict(seeds=5, built=BUILT[:2], shattered=(2, 5), widths=(1, 16), steps=200)
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
        yield Trial(
            family="points", at=at, function=shattered_cells, parameters=dict(D=D), version=2
        )
    at = {"D": Read("D"), "N": Read("memorised")}
    for D, N in built:
        parameters = dict(D=D, memorised=N, looked=2)
        yield Trial(
            family="classifiers", at=at, function=classifiers, parameters=parameters, version=7
        )
    parameters = dict(D=4, memorised=7, looked=1)  # of 8 cells
    yield Trial(
        family="almost all cells", at=at, function=classifiers, parameters=parameters, version=7
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
