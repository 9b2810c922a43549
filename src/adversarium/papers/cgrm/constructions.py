"""CGRM's explicit classifier f_adv (§3, App. A): only small-margin points are memorised.

Paper: f_adv has robust training error 0, clean test error 0 and robust test error Ω(μ) (Prop. 3.2);
a ReLU network with Õ(μNd + poly d) parameters is close to it (Theorem 3.3).
Reading: l_inf balls of radius δ = 0.2 over the smeared cells {0.1, 0.9}^{D−1} (classes 0.7 apart),
a share μ of heights ½ ± 0.05, the others ½ ± 0.4; robust errors over every corner of the l_inf cell
and by a gradient attack. Smooth heights over uniform coordinates would not be well separated.
Cost: quick 25 s (2 cores).
"""

from adversarium.plans import (
    Read,
    Reading,
    Table,
    Trial,
    at_most,
    every,
    existence,
    exponent,
    identity,
    last,
    level,
    ordering,
    where,
)
from adversarium.trials import (
    ball_counts,
    boundary,
    closeness,
    complexity_order,
    distances,
    memorising,
    vc_orders,
)

COUNTED_N, COUNTED_D = (8, 16, 32, 64), (16, 32, 64, 128)  # balls and dimensions
CROWDS = (5, 20, 80, 320, 1280)  # training points of the covering experiment
ORDERED = (6, 8)  # the D of the trial `complexity_order`
BALLS, DIMENSIONS = where("more balls"), where("more dimensions")
PLACE = {"D": Read("D"), "N": Read("n")}

quick = dict(seeds=5)
paper = dict(seeds=20)


def plan(D=10, n=40, grid=201):
    yield Trial(family="boundary", function=boundary, parameters=dict(grid=grid), version=3)
    yield Trial(family="distance", function=distances)
    yield Trial(family="f_adv", at=PLACE, function=memorising, parameters=dict(D=D, n=n))
    for crowd in CROWDS:
        few_cells = dict(D=3, n=crowd, network=False)
        yield Trial(family="covering", at=PLACE, function=memorising, parameters=few_cells)
    yield Trial(family="closeness", at=PLACE, function=closeness, parameters=dict(D=6, n=40))
    counted = {"balls": Read("n"), "D": Read("D")}
    for size in COUNTED_N:
        parameters = dict(n=size, D=8)
        yield Trial(family="more balls", at=counted, function=ball_counts, parameters=parameters)
    for size in COUNTED_D:
        parameters = dict(n=8, D=size)
        yield Trial(
            family="more dimensions", at=counted, function=ball_counts, parameters=parameters
        )
    yield Trial(family="order", function=complexity_order)
    yield Trial(family="VC", function=vc_orders)


def _errors(name):
    """Errors of f_adv, or of its network: robust test error μ, the others 0."""
    return every(
        level(last(f"{name}.robust_small", "f_adv"), 0.9),  # with no large one: within [.9, 1] μ
        level(last(f"{name}.robust_large", "f_adv"), 0, 0),
        level(last(f"{name}.robust_train", "f_adv"), 0, 0),
        level(last(f"{name}.clean_test", "f_adv"), 0, 0),
    )


def _more(what, than, D):
    """A network in dimension D has more parameters than another."""
    return ordering(last(f"{what}, D = {D}", "order"), than=last(f"{than}, D = {D}", "order"))


def _short_of_one(D):
    """1 − the standard bound √(Complexity/N), Complexity the parameters of the network that fits N
    perturbed points."""
    name = f"bound, D = {D}"
    short = Reading(f"1 − √(parameters/N), D = {D}", lambda rows: 1 - rows.last(name), (name,))
    return short.on(where("order"))


checks = {
    "cgrm.prop3.1": identity(last("all", "boundary"), 0.0),
    "cgrm.prop3.1.corrected": identity(last("right", "boundary"), 0.0),
    "cgrm.prop3.2": _errors("f_adv"),
    "cgrm.thm3.3": existence(last("everywhere", "closeness")),
    "cgrm.thm3.3.corrected": every(
        existence(last("off_shells", "closeness")),
        exponent("power of the number of balls", "memory", "balls", BALLS, 1, 0.15),
        exponent("power of D", "memory", "D", DIMENSIONS, 1, 0.15),
    ),
    "cgrm.lemA.4": existence(last("exact", "distance")),
    "cgrm.cor3.4": _errors("network"),
    "cgrm.complexity-order": every(
        *(
            _more(more, less, D)
            for D in ORDERED
            for less, more in (("clean", "CGRM"), ("CGRM", "robust"))
        )
    ),
    "cgrm.std-bound": every(*(at_most(_short_of_one(D), 0.0) for D in ORDERED)),
    "cgrm.lemA.7": at_most(last("power", "VC"), 0.0),
}

ERRORS = {
    "f_adv.robust_train": "robust train error",
    "f_adv.clean_test": "clean test error",
    "f_adv.robust_test/mu": "robust test error/μ",
    "network.robust_train": "robust train error, network",
    "network.clean_test": "clean test error, network",
    "network.robust_test/mu": "robust test error/μ, network",
}

figures = (
    Table(
        name="errors",
        title="f_adv and its network: errors",
        y=tuple(ERRORS),
        runs=(where("f_adv"), where("covering")),
        names=ERRORS,
        caption="First row D = 10, N = 40. The others: D = 3, four cells; once N points cover the "
        "cells, memorising covers the test points and the robust test error falls below μ.",
    ),
    Table(
        name="counts",
        title="Parameters of the CGRM network",
        y=("parameters", "memory", "per ball and dimension"),
        runs=(BALLS, DIMENSIONS),
        caption="Balls swept at D = 8, D swept with 8 balls.",
    ),
    Table(
        name="order",
        title="Clean < CGRM < robust: nonzero parameters",
        y=tuple(f"{what}, D = {D}" for D in ORDERED for what in ("clean", "CGRM", "robust")),
        runs=(where("order"),),
        caption="CGRM: 8 balls; robust: every one of the 2^(D−1) cells is memorised.",
    ),
)
