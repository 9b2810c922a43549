"""CGRO's explicit classifiers (§5, App. D): a memorising ReLU network, and the size of a robust
one.

Paper: a network with poly(D) + Õ(ND) parameters has clean test error 0, robust training error 0 and
robust test error Ω(1) (Theorem 5.2); a robust one needs exp(Ω(D)) parameters (Theorem 5.3).
Reading: l_inf balls of radius δ = 0.2 around points over the cells {0.1, 0.9}^{D−1}, heights ½ ±
0.05. A point is robust if it is certified over its entire ball; it is misclassified under attack if
a corner of the l_inf cell or a gradient attack shows it.
Cost: quick 35 s (2 cores).
"""

import itertools
import math

from adversarium.attacks import PGD, strong_attacks
from adversarium.constructions.counting import shattering
from adversarium.constructions.explicit import classifiers, ray, shattered_cells
from adversarium.constructions.gate_errors import gate_sizes, product_gate, square_gate
from adversarium.constructions.planes import regions
from adversarium.constructions.sizes import memorising_counts
from adversarium.data import HyperplaneCells
from adversarium.measure.errors import Error
from adversarium.networks import Perceptron
from adversarium.plans import Read, Run, Trial
from adversarium.training import Adam

from ...theory.regime import gates as gates

DELTA, R = 0.2, 0.8  # δ, and the distance between the classes

KINDS = (("linf", "product"), ("linf", "exact"), ("l2", "product"))  # (norm, gate)


# values of the varied size; the other size is 8
COUNTED = {"N": (4, 8, 16, 32), "D": (4, 8, 16, 32)}
COUNTED_AT = {"norm": Read("norm"), "gate": Read("gate"), "N": Read("n"), "D": Read("D")}
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
TRAINED = (3, 4, 5)  # values of D
BUILT = ((3, 2), (6, 4), (6, 16), (12, 4))  # (D, N)
# stages of a gate, for its error and for its size
STAGES, SIZES = (2, 4, 8, 16), (16, 32, 64, 128, 256)
SHATTERED = (2, 5, 9)  # values of D

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
    yield Trial(family="C(μ)", function=shattering, version=2)
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
    parameters = dict(D=4, memorised=7, looked=1)  # 7 of the 8 cells
    yield Trial(
        family="almost all cells", at=at, function=classifiers, parameters=parameters, version=7
    )
    for (norm, gate), swept in itertools.product(KINDS, COUNTED):
        coordinates: dict = {"swept": swept, **COUNTED_AT}
        for size in COUNTED[swept]:
            n, D = (size, 8) if swept == "N" else (8, size)
            parameters = dict(norm=norm, gate=gate, n=n, D=D)
            yield Trial(
                family="parameters",
                at=coordinates,
                function=memorising_counts,
                parameters=parameters,
            )
    yield Trial(family="ray", function=ray)
    for D, m in itertools.product(TRAINED, widths):
        yield _trained(D, m, steps)


def _trained(D, m, steps):
    """Return adversarial training of a network of width m on all 2^{D−1} points of a random
    labelling."""
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
