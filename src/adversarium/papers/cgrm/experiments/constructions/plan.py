"""CGRM's explicit classifier f_adv (§3, App. A), which memorises only small-margin points.

Paper: f_adv has robust training error 0, clean test error 0 and robust test error Ω(μ) (Prop. 3.2);
a ReLU network with Õ(μNd + poly d) parameters is close to it (Theorem 3.3).
Reading: l_inf balls of radius δ = 0.2 on the fattened cells {0.1, 0.9}^{D−1} (classes 0.7 apart); a
share μ of the points has heights ½ ± 0.05, the others ½ ± 0.4. Robust errors are evaluated at every
corner of the l_inf cell and by a gradient attack. Data with smooth heights and uniform coordinates
would not be well separated.
Cost: quick 45 s (2 cores).
"""

from adversarium.constructions.counting import law_of_a_sample, vc_orders
from adversarium.constructions.explicit import closeness, memorising
from adversarium.constructions.gate_errors import distances
from adversarium.constructions.planes import boundary
from adversarium.constructions.sizes import ball_counts, complexity_order, shattered
from adversarium.plans import (
    Read,
    Trial,
)

# numbers of balls and dimensions; for fewer balls, what does not grow with them is a large part
COUNTED_N, COUNTED_D = (32, 64, 128, 256), (32, 64, 128, 256)
COVERING_N = (20, 80, 320, 1280)  # numbers of training points in the covering experiment
SHATTERED = ((4, 4), (8, 8), (16, 16))  # (points, dimensions)
PLACE = {"d": Read("D"), "N": Read("n")}

quick = dict(D=8, n=12, grid=151, seeds=5)
paper = dict(D=10, n=40, grid=201, seeds=20)


def plan(D=8, n=12, grid=151):
    yield Trial(family="boundary", function=boundary, parameters=dict(grid=grid), version=4)
    for d in (4, 16, 64):
        yield Trial(family="distance", at={"d": d}, function=distances, parameters=dict(sizes=(d,)))
    for family, network in (("f_adv", False), ("network", True)):
        parameters = dict(D=D, n=n, network=network)
        yield Trial(family=family, at=PLACE, function=memorising, parameters=parameters)
    for points_covering in COVERING_N:
        few_cells = dict(D=3, n=points_covering, network=False, looked=100)
        yield Trial(family="covering", at=PLACE, function=memorising, parameters=few_cells)
        yield Trial(
            family="law",
            at=PLACE,
            function=law_of_a_sample,
            parameters=dict(D=3, n=points_covering),
        )
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
