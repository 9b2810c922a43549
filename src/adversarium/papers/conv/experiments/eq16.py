"""Eq. (16) of CONV: one step of adversarial training, compared with arbitrary weights.

Paper: ‖W_{t+1} − W_*‖² ≤ (1 + cα/√m)‖W_t − W_*‖² + 2α(L_*(W_*) − L_A(W_t)) + α²‖∇L_A(W_t)‖² for
every attack A. With the explicit constant c = Lip·C2 it holds for every W_ref, not only the
optimum.
Cost: quick 9 s (one core).
"""

import itertools
import math

from adversarium.attacks import FiniteAttack
from adversarium.data import SpherePoints
from adversarium.measure.errors import risk
from adversarium.networks import SmoothedReLU, TwoLayer
from adversarium.plans import (
    AtMost,
    Bars,
    CountedAs,
    Curves,
    Each,
    Every,
    Hypothesis,
    Parts,
    Profile,
    Quantity,
    Read,
    Run,
    Trial,
    last,
    where,
)
from adversarium.training import Risk

from ..theory.one_step import one_step
from ..theory.projected_descent import slacks_of_descent
from ..theory.regime import gates as gates
from ..theory.regret import WorstRegret, worst_loss
from ..theory.rules import refuse_unknown

RULES = ("exact", "anti", "random", "cycle", "fgsm", "worst_of", "switch")
TOLERANCE = 1e-8
ANY_WEIGHTS = "any W, any W_ref"
SLACK_FAMILY = "slacks"
SLACK_ATTACKS = ("exact", "identity", "fgsm", "random")
SLACK_NAMES = ("curvature", "attack", "convexity", "sum")

quick = dict(m=(256,), rules=RULES, seeds=5, along=("exact",), best=(3.0,))
paper = dict(m=(64, 256, 1024), rules=RULES, seeds=20)


def plan(m, rules, alpha=0.1, b=2.0, d=2, radius=0.2, along=SLACK_ATTACKS, best=(1.0, 3.0)):
    activation = SmoothedReLU(b=b)
    refuse_unknown(along)
    for width in m:
        for rule in (*rules, "identity"):
            yield Run(
                family="training",
                at={"A": rule, "m": Read("network.m")},
                data=SpherePoints(d=d, radius=radius, K=9),
                network=TwoLayer(m=width, omega=1.0, activation=activation),
                attack=None if rule == "identity" else FiniteAttack(rule=rule),
                risk=Risk(loss="pseudo_huber"),
                n=4,
                steps=round(math.sqrt(width) / (activation.C2 * alpha)),
                eta=alpha,
                probes=(risk, worst_loss),
                folds=tuple(WorstRegret(R) for R in (0.3, 3.0)),
            )
        of = {"m": width, "b": b}
        at = {"m": Read("m")}
        yield Trial(family=ANY_WEIGHTS, at=at, function=one_step, parameters=of, version=2)
        for rule, R in itertools.product(along, best):
            of = dict(activation=activation, rule=rule, m=width, alpha=alpha, R=R)
            at = {"A": Read("rule"), "R": Read("R"), "m": Read("m")}
            yield Trial(family=SLACK_FAMILY, at=at, function=slacks_of_descent, parameters=of)


NEAR_EXCESS, FAR_EXCESS = (WorstRegret(R).name for R in (0.3, 3.0))
EXCESS_STEPS = tuple(WorstRegret(R).step_name for R in (0.3, 3.0))


def _no_violation(run):
    """Check eq. (16) of CONV at every step of a run, with a near and a far comparator."""
    return Every(
        AtMost(last(NEAR_EXCESS, run), TOLERANCE), AtMost(last(FAR_EXCESS, run), TOLERANCE)
    )


def _negative(quantity):
    """Return a quantity with the opposite sign."""
    return Quantity(f"−{quantity.name}", lambda rows: -quantity.of(rows), quantity.needs)


checks = {
    "conv.eq16": CountedAs(
        "inequality",
        Parts(
            {
                "at every step of every run": Each(where("training"), _no_violation),
                ANY_WEIGHTS: Each(
                    where(ANY_WEIGHTS),
                    lambda run: Every(
                        AtMost(last("largest_excess", run), TOLERANCE),
                        AtMost(_negative(last("smallest_slack", run)), TOLERANCE),
                        AtMost(last("slack_mismatch", run), TOLERANCE),
                    ),
                ),
                "three slacks at every step, against the certified upper end's W": Each(
                    where(SLACK_FAMILY),
                    lambda run: Every(
                        *(
                            AtMost(_negative(last(f"least {name}", run)), TOLERANCE)
                            for name in SLACK_NAMES
                        )
                    ),
                ),
                "the step with the least room, reported": Each(
                    where("training"),
                    lambda run: Hypothesis("inequality", *(last(n, run) for n in EXCESS_STEPS)),
                ),
            }
        ),
    ),
}

figures = (
    Bars(
        name="excess",
        title="Eq. (16): left minus right side, worst step of each run",
        y=(NEAR_EXCESS, FAR_EXCESS),
        runs=(where("training"),),
        names={NEAR_EXCESS: r"$\|W_{ref} - W_0\| = 0.3$", FAR_EXCESS: r"$\|W_{ref} - W_0\| = 3$"},
        y_label="LHS − RHS",
        levels={"refuted above 0": 0.0},
        caption="Largest value of all steps; mean and 99 % interval over seeds. All lie below 0: "
        "the inequality holds at every step for every attack.",
    ),
    Profile(
        name="slacks",
        title="Eq. (16): the slack of each step of its proof, divided by 2α",
        y=SLACK_NAMES[:3],
        runs=tuple(where(SLACK_FAMILY, A=rule, R=3, m=1024) for rule in SLACK_ATTACKS),
        names={
            "curvature": "curvature: c/(2√m) times |W − W_ref|², minus the linearisation error",
            "attack": "attack: L_*(W_ref) − L_A(W_ref)",
            "convexity": "convexity of the loss",
        },
        stack=True,
        x_label="step t",
        y_label="(right − left side)/(2α)",
        caption="Four arcs of a circle, m = 1024; W_ref attains the certified upper bound of min "
        "L_* over B(3). Means over seeds, stacked: their sum is the slack of eq. (16).",
    ),
    Curves(
        name="losses",
        title="Surrogate and exact robust loss",
        y=("risk", "worst_loss"),
        runs=(where("training"),),
        names={"risk": r"$L_A(W_t)$", "worst_loss": r"$L_*(W_t)$"},
        x_label="step t",
        y_label="loss",
        caption="Mean and range (band) over seeds. After training against a weak "
        "attack, the exact robust loss L_* is larger than the surrogate L_A.",
    ),
)
