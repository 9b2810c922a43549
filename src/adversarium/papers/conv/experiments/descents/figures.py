"""Figures of Theorem 5.1 of CONV and its consequences."""

import numpy as np

from adversarium.plans import Heat, Lines, Profile, Reading, Rows, end, where

from .plan import ATTACKS, EVALUATION_ATTACKS

# evaluation attacks in the order of the rows, which are training attacks
COLUMNS = (*(rule for rule in ATTACKS if rule in EVALUATION_ATTACKS), "pgd-100")
TIME_DEPENDENT = ("random", "cycle", "switch", "exact")


def _promised(run: Rows) -> np.ndarray:
    """Return the guarantee of Theorem 5.1 of CONV at the best R."""
    guarantee: np.ndarray = run.last("promised").min(-1)
    return guarantee


def _gap(run: Rows) -> np.ndarray:
    """Return the certified gap divided by ε at the smallest R."""
    gap: np.ndarray = run.last("gap/ε")[..., 0]
    return gap


figures = (
    Profile(
        name="optima",
        title="Certified bounds of the smallest robust loss in B(R)",
        y=("low", "high"),
        runs=(where("radii"), where("radii, ReLU")),
        names={"low": "lower bound", "high": "upper bound"},
        x_label="R",
        y_label="smallest L_* in B(R)",
        caption="Four arcs of a circle; the two-layer network and one hidden ReLU layer. Mean and "
        "range (band) over seeds.",
    ),
    Lines(
        name="attacks",
        title="Theorem 5.1: the smallest L_A under nine attacks, and its guarantee",
        numbers=(
            end("least L_A"),
            Reading("least L_* in B(R) + ε at the best R", _promised, ("promised",)),
        ),
        x="m",
        by=("A",),
        runs=(where("circle", α=0.1),),
        y_label="L_A",
        log_y=True,
        caption="Four arcs of a circle, α = 0.1, T = √m/(cα); L_* in B(R) is taken as its "
        "certified upper bound. Mean and 99 % interval over seeds.",
    ),
    Lines(
        name="gap",
        title="Theorem 5.1: the certified gap divided by ε, at R = 1, α = 0.4",
        numbers=(Reading("gap/ε", _gap, ("gap/ε",)),),
        x="m",
        by=("A",),
        runs=(where("circle", α=0.4),),
        y_label="(smallest L_A − smallest L_* in B(1))/ε",
        levels={"allowed": 1.0},
        caption="Four arcs of a circle; L_* in B(1) is taken as its lower bound. Values below 0: "
        "L_A under the training attack is smaller than any L_* in B(1).",
    ),
    Profile(
        name="promised",
        title="Theorem 5.1: the guarantee for the smallest L_A, exact attack, α = 0.1",
        y=("promised",),
        runs=tuple(where("circle", A="exact", α=0.1, m=m) for m in (256, 1024, 4096, 16384)),
        names={"promised": "upper bound of the smallest L_* in B(R), plus ε"},
        x_label="R",
        y_label="bound on the smallest L_A",
        caption="Four arcs of a circle. A larger ball has a smaller optimum and a larger ε: the "
        "best R grows with m. Mean and range (band) over seeds.",
    ),
    Lines(
        name="varying",
        title="Theorem 5.1 is about the smallest L_A; the last and the mean L_A, α = 0.1",
        numbers=(end("least L_A"), end("last L_A"), end("mean L_A")),
        x="m",
        by=("A",),
        runs=tuple(where("circle", α=0.1, A=rule) for rule in TIME_DEPENDENT),
        y_label="L_A",
        log_y=True,
        caption="L_A at t = 0 … T. The attacks random, cycle and switch vary with t; under the "
        "first two, the last L_A exceeds the smallest. Mean and 99 % interval over seeds.",
    ),
    Heat(
        name="matrix",
        title="§7: the loss after training against one attack (rows), under another (columns)",
        numbers=tuple(end(f"under {other}", other) for other in COLUMNS),
        rows=("A",),
        runs=(where("matrix"),),
        x_label="evaluation attack",
        y_label="training attack",
        value_label="loss",
        caption="m = 1024, arcs of radius 0.2, 1,500 steps, α = 1; means over seeds. random: mean "
        "over the points of a set; pgd-100: 100 steps of ascent on entire arcs, never in training.",
    ),
    Lines(
        name="transfer",
        title="§7: training and exact robust loss after training against one attack, m = 1024",
        numbers=(end("L_A"), end("L_*")),
        x="radius",
        by=("A",),
        runs=(where("transfer", m=1024),),
        x_label="radius of the arcs",
        y_label="loss",
        log_y=True,
        caption="L_A: loss under the training attack, 0 up to rounding (not drawn) for identity "
        "and anti; L_*: exact robust loss. 1,500 steps, α = 1. Mean and 99 % interval over "
        "seeds.",
    ),
)
