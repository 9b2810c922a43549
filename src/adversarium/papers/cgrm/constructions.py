"""CGRM's explicit classifier f_adv (§3, App. A): only small-margin points are memorised.

Paper: f_adv has robust training error 0, clean test error 0 and robust test error Ω(μ) (Prop. 3.2);
a ReLU network with Õ(μNd + poly d) parameters is close to it (Theorem 3.3).
Reading: l_inf balls of radius δ = 0.2 over the smeared cells {0.1, 0.9}^{D−1} (classes 0.7 apart),
a share μ of heights ½ ± 0.05, the others ½ ± 0.4; robust errors over every corner of the l_inf cell
and by a gradient attack. Smooth heights over uniform coordinates would not be well separated.
Cost: quick 30 s (2 cores).
"""

from adversarium.papers.cgrm.constructions_checks import (
    clean_is_smaller,
    errors,
    no_longer,
    no_room,
    per_size,
    vacuous,
)
from adversarium.papers.cgrm.constructions_figures import figures
from adversarium.plans import (
    Read,
    Trial,
    Why,
    at_most,
    each,
    existence,
    identity,
    last,
    not_testable,
    parts,
    where,
)
from adversarium.trials import (
    ball_counts,
    boundary,
    closeness,
    complexity_order,
    distances,
    law_of_a_sample,
    memorising,
    shattered,
    vc_orders,
)

__all__ = ["checks", "figures", "paper", "plan", "quick"]

COUNTED_N, COUNTED_D = (8, 16, 32, 64), (16, 32, 64, 128)  # balls and dimensions
CROWDS = (20, 80, 320, 1280)  # training points of the covering experiment
SHATTERED = ((4, 4), (8, 8), (16, 16))  # points and dimensions
BALLS, DIMENSIONS = where("more balls"), where("more dimensions")
PLACE = {"d": Read("D"), "N": Read("n")}

quick = dict(D=8, n=12, grid=151, seeds=5)
paper = dict(D=10, n=40, grid=201, seeds=20)


def plan(D=8, n=12, grid=151):
    yield Trial(family="boundary", function=boundary, parameters=dict(grid=grid), version=3)
    for d in (4, 16, 64):
        yield Trial(family="distance", at={"d": d}, function=distances, parameters=dict(sizes=(d,)))
    for family, network in (("f_adv", False), ("network", True)):
        parameters = dict(D=D, n=n, network=network)
        yield Trial(family=family, at=PLACE, function=memorising, parameters=parameters)
    for crowd in CROWDS:
        few_cells = dict(D=3, n=crowd, network=False, looked=100)
        yield Trial(family="covering", at=PLACE, function=memorising, parameters=few_cells)
        yield Trial(family="law", at=PLACE, function=law_of_a_sample, parameters=dict(D=3, n=crowd))
    yield Trial(
        family="closeness", at=PLACE, function=closeness, parameters=dict(D=6, n=40), version=2
    )
    sizes = [("more balls", n, 4) for n in COUNTED_N] + [
        ("more dimensions", 8, d) for d in COUNTED_D
    ]
    for family, balls, d in sizes:
        yield Trial(
            family=family,
            at=PLACE,
            function=ball_counts,
            parameters=dict(n=balls, D=d),
            version=2,
        )
    for points, d in SHATTERED:
        yield Trial(
            family="shattered",
            at=PLACE,
            function=shattered,
            parameters=dict(n=points, D=d, labellings=2),
        )
    yield Trial(family="order", function=complexity_order)
    yield Trial(family="VC", function=vc_orders)


def _exact(run):
    return existence(last("exact", run))


checks = {
    "cgrm.prop3.1": identity(last("all", "boundary"), 0.0),
    "cgrm.prop3.1.corrected": identity(last("right", "boundary"), 0.0),
    "cgrm.prop3.2": parts(
        {**errors("f_adv"), "robust test error Ω(μ), N → ∞ at fixed d": no_longer}
    ),
    "cgrm.prop3.2.corrected": parts(errors("f_adv")),
    "cgrm.thm3.3": existence(last("everywhere", "closeness")),
    "cgrm.thm3.3.corrected": parts(
        {
            "close off the ramp shells": existence(last("off_shells", "closeness")),
            "size a ball": per_size("balls", "N", BALLS),
            "size a dimension": per_size("dimensions", "d", DIMENSIONS),
        }
    ),
    "cgrm.lemA.4": each("distance", _exact),
    "cgrm.cor3.4": parts(
        {
            **errors("network"),
            "robust test error Ω(μ), N → ∞ at fixed d": no_room,
        }
    ),
    "cgrm.complexity-order": not_testable(
        "ordering",
        Why.ALL_NETWORKS,
        "robust networks that were built bound their size from above only (cgrm.thm3.5); that the "
        "memory grows with N and the clean classifier does not is a claim of its own",
    ),
    "cgrm.complexity-order.memory": clean_is_smaller,
    "cgrm.std-bound": each("shattered", vacuous),
    "cgrm.lemA.7": at_most(last("power", "VC"), 0.0),
}
