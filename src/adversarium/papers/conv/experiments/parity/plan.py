"""Kernels and parity of CONV's two-layer networks: Def. 5.1, Remark 5.1, Lemma C.3, Corollary C.1.

Paper: the tangent kernel of a smooth activation is rich enough to fit any compatible data. That of
the quadratic ReLU contains all smooth even functions, and training it reaches any ε.
Reading: the closed form of K = r·κ(r) is compared with integrals. If the even or odd part of K is a
polynomial, some functions of this parity cannot be fitted at any width. Assumption C.1 is read in
three ways: word for word (one label only), for the same x (antipodes with equal labels allowed),
and as in its footnote (no x_i = ±x_j, i ≠ j).
Cost: quick 14 s (one core); paper 3 min on 16 cores.
"""

import itertools
from typing import Any

from adversarium.networks import Erf, QuadraticReLU, ReLU, Shifted, SmoothedReLU, Softplus, Tanh
from adversarium.plans import Heat, Profile, Read, Table, Trial, end, where

from ...theory.kernels import (
    harmonics,
    kernel_forms,
    lifted_gram,
    parities,
    parity_floor,
    trained_on_one_label,
    trained_parities,
    unreachable,
)

DATA = ("even", "odd", "even, lifted", "odd, lifted")


ACTIVATIONS = {
    "ReLU": ReLU(),
    "smoothed ReLU": SmoothedReLU(b=2.0),
    "softplus": Softplus(b=2.0),
    "quadratic ReLU": QuadraticReLU(),
    "erf": Erf(),
    "tanh": Tanh(),
    "shifted": Shifted(b=4.0, c=0.5),
}
CLOSED = ("ReLU", "smoothed ReLU", "quadratic ReLU", "erf", "shifted")

quick = dict(seeds=5, widths=(16, 64), sizes=(4, 8), most=41, draws=50, trained=(64,),
             steps=15)  # fmt: skip
paper = dict(seeds=10, widths=(16, 64, 256, 1024, 4096), sizes=(4, 8, 16, 32), most=81, draws=5000)


def plan(widths, sizes, most, draws, trained=(64, 1024), steps=3000):
    at: dict[str, Any]
    of: dict[str, Any]
    for name, activation in ACTIVATIONS.items():
        at, of = {"s": name}, {"activation": activation}
        yield Trial(family="parity", at=at, function=parities, parameters=of, exact=True,
                    version=2)  # fmt: skip
        for points in (6, 8):
            points_at = {"s": name, "points": Read("points")}
            yield Trial(family="left out", at=points_at, function=unreachable,
                        parameters=dict(**of, points=points), exact=True)  # fmt: skip
        if name in CLOSED:
            yield Trial(family="forms", at=at, function=kernel_forms,
                        parameters=dict(**of, draws=draws))  # fmt: skip
    for name, d in itertools.product(("quadratic ReLU", "ReLU"), (2, 3, 5)):
        of = dict(activation=ACTIVATIONS[name], d=d, most=most)
        at = {"s": name, "d": Read("d")}
        yield Trial(family="harmonics", at=at, function=harmonics, parameters=of, exact=True)
    for d in (2, 3, 5):
        of = dict(activation=ACTIVATIONS["shifted"], d=d, most=20)
        yield Trial(family="harmonics, shifted", at={"d": Read("d")}, function=harmonics,
                    parameters=of, exact=True)  # fmt: skip
    for m, d in itertools.product(widths, (2, 3, 5)):
        at = {"m": Read("m"), "d": Read("d")}
        yield Trial(family="floor", at=at, function=parity_floor, parameters=dict(m=m, d=d),
                    version=2)  # fmt: skip
    for n, d in itertools.product(sizes, (2, 3, 5, 8)):
        of = dict(activation=QuadraticReLU(), n=n, d=d)
        at = {"n": Read("n"), "d": Read("d")}
        yield Trial(family="lifted", at=at, function=lifted_gram, parameters=of)
    yield Trial(family="not lifted", function=lifted_gram,
                parameters=dict(activation=QuadraticReLU(), n=8, d=2, lift=0.0))  # fmt: skip
    for m in widths:
        at = {"m": Read("m")}
        yield Trial(family="one label", at=at, function=trained_on_one_label, parameters=dict(m=m),
                    version=2)  # fmt: skip
    for name, m in itertools.product(ACTIVATIONS, trained):
        alpha, lifted = (0.05, 0.2) if name == "quadratic ReLU" else (1.0, 1.0)
        of = dict(activation=ACTIVATIONS[name], m=m, alpha=alpha, lifted=lifted, steps=steps)
        yield Trial(family="trained", at={"s": name, "m": Read("m")}, function=trained_parities,
                    parameters=of)  # fmt: skip


figures = (
    Profile(
        name="harmonics",
        title="Coefficients of the tangent kernel on the circle, by degree",
        y=("coefficients",),
        runs=(where("harmonics", s="quadratic ReLU", d=2), where("harmonics", s="ReLU", d=2)),
        names={"coefficients": "coefficient of degree k"},
        x_label="degree k",
        y_label="coefficient of K",
        log_y=True,
        caption="Zeros are not drawn: even degrees from 4 on (quadratic ReLU), odd ones from 3 on "
        "(ReLU). Without a bias, no network of any width can learn these degrees.",
    ),
    Heat(
        name="trained",
        title="Loss after descent on points whose antipodes have equal or opposite labels",
        numbers=tuple(map(end, DATA)),
        rows=("s",),
        by=("m",),
        runs=(where("trained"),),
        x_label="data",
        y_label="activation",
        value_label="loss after 3,000 steps",
        caption="Labels (−1)^k on eight points of a circle, antipodes with equal labels (even), "
        "or on six, with opposite labels (odd); lifted: [x, 1]/√2. Means over seeds. 0.41 "
        "is 0.41421, the lower bound for every width; other losses are still decreasing.",
    ),
    Table(
        name="parity",
        title="Kernels whose even or odd part is a polynomial",
        y=("odd − linear", "even − r²", "even", "whole"),
        runs=(where("parity"),),
        names={"whole": "1: neither part is a polynomial"},
        caption="Largest differences over r; 0 means that this part of K is a polynomial.",
    ),
)
