"""Descents of CONV with and without projection, over t and for several R.

Paper: the projection onto B(R) is not needed. This is proven for two layers and conjectured for the
deep network of eq. (1).
Reading: descents without projection are compared with projected ones on the same data from the same
start, mostly in balls that the free descent leaves; in larger balls the two coincide. The data are
arcs of a circle and, for the deep network, also six caps in dimension 5.
Cost: quick 6 s (one core); paper 4 min on 16 cores.
"""

import itertools
from typing import Any

from adversarium.networks import SmoothedReLU
from adversarium.plans import Lines, Profile, Read, Trial, end, where

from ...theory.convergence import free_and_projected
from ...theory.depths import deep_paths
from ...theory.projected_descent import held_deep_descent, held_descent
from ...theory.regime import gates as gates
from ...theory.rules import refuse_unknown

SHARES = (0.5, 1.0, 2.0)  # radius of the ball/largest distance of the free descent from W_0
RADII = (0.5, 1.0, 2.0, 4.0, 8.0)
DEPTHS = (1, 2, 3)


SMOOTHED = SmoothedReLU(b=2.0)
FREE = "no projection"

quick = dict(seeds=5, free=(16,), deep=(), m=64, radii=(0.5, 2.0), widths=(64,), depths=(3,),
             rules=(), steps=20)  # fmt: skip
paper = dict(seeds=20)


def plan(
    free=(64, 256, 1024), deep=(64, 128, 256, 512), m=1024, radii=RADII, widths=(64, 128, 256, 512),
    depths=DEPTHS, rules=("identity", "fgsm"), steps=400,
):  # fmt: skip
    at: dict[str, Any]
    refuse_unknown(rules)

    def trial(family, function, at, **parameters):
        return Trial(family=family, at=at, function=function, parameters=parameters)

    for width, rule in itertools.product(free, ("exact", "identity", "cycle")):
        at = {"m": Read("m"), "A": Read("rule")}
        yield trial("free", free_and_projected, at, activation=SMOOTHED, rule=rule, m=width,
                    alpha=0.1, shares=SHARES)  # fmt: skip
    for width, H in itertools.product(deep, (1, 2, 4)):
        yield trial("deep", deep_paths, {"m": Read("m"), "H": Read("H")}, m=width, H=H)
    for R in (*radii, None):
        of = dict(activation=SMOOTHED, rule="exact", m=m, alpha=0.1, R=R)
        at = {"R": FREE if R is None else Read("R")}
        yield trial("by time" if R is None else "by time, held", held_descent, at, **of)
    sizes = [("exact", *size) for size in itertools.product(widths, depths)]
    sizes += itertools.product(rules, widths[:2], depths[-1:])
    for (rule, width, H), R in itertools.product(sizes, (*radii, None)):
        at = {"R": FREE if R is None else Read("R"), "A": Read("rule"), "m": Read("m"),
              "H": Read("H")}  # fmt: skip
        yield trial("six caps" if R is None else "six caps, held", held_deep_descent, at, m=width,
                    H=H, rule=rule, R=R, steps=steps)  # fmt: skip


DEEP = dict(A="exact", m=256, H=2)
NAMES = {
    "L_A": "L_A(W_t)",
    "distance": "distance from W_0",
    "held": "share of steps on the edge of B(R)",
}

figures = (
    Profile(
        name="free",
        title="Remark 5.1: descent without projection against descent in a ball",
        y=("free − projected",),
        runs=(where("free", A="exact"),),
        names={"free − projected": "smallest L_A: free − projected"},
        x_label="radius of the ball/largest distance of the free descent",
        y_label="difference of the smallest L_A",
        caption="Exact attack; in balls that contain the free descent, the two coincide. Mean and "
        "range (band) over seeds.",
    ),
    Profile(
        name="time",
        title="Descent of the two-layer network in balls B(R) and without projection",
        y=tuple(NAMES),
        runs=(where("by time, held"), where("by time")),
        by=("R",),
        names=NAMES,
        x_label="t",
        caption="Four arcs of a circle, m = 1024, α = 0.1, exact attack. In small balls, every "
        "step is projected and L_A stalls at the ball's optimum; large balls are never left. "
        "Mean and range (band) over seeds.",
    ),
    Profile(
        name="time-deep",
        title="Descent of the deep network in balls B(R) and without projection, H = 2, m = 256",
        y=tuple(NAMES),
        runs=(where("six caps, held", **DEEP), where("six caps", **DEEP)),
        by=("R",),
        names={**NAMES, "distance": "√m times the distance of the farthest layer"},
        x_label="t",
        caption="Six caps in dimension 5 with six points each, α = 0.2/(mH), exact attack. Mean "
        "and range (band) over seeds.",
    ),
    Lines(
        name="radii-deep",
        title="The smallest L_A of the deep network in B(R), exact attack",
        numbers=(end("least L_A"),),
        x="R",
        by=("H", "m"),
        runs=tuple(where("six caps, held", A="exact", m=m) for m in (64, 512)),
        y_label="least L_A of 400 steps",
        log_y=True,
        caption="Six caps in dimension 5. Under the exact attack L_A = L_*, so each point is also "
        "an upper bound of min L_* over B(R). Mean and 99 % interval over seeds.",
    ),
    Lines(
        name="attacks-deep",
        title="The smallest L_A of the deep network in B(R) under three attacks, H = 3",
        numbers=(end("least L_A"),),
        x="R",
        by=("A", "m"),
        runs=tuple(where("six caps, held", m=m, H=3) for m in (64, 128)),
        y_label="least L_A of 400 steps",
        log_y=True,
        caption="Six caps in dimension 5; L_A is the loss under the training attack. Mean and "
        "99 % interval over seeds.",
    ),
)
