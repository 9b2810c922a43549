"""Eq. (16) of CONV: one step of adversarial training against any comparator.

Paper: ‖W_{t+1} − W_*‖² ≤ (1 + cα/√m)‖W_t − W_*‖² + 2α(L_*(W_*) − L_A(W_t)) + α²‖∇L_A(W_t)‖² for
every attack A; with explicit constants c = Lip·C2 it holds for every W_ref, not only the optimum.
Cost: quick 9 s (one core).
"""

import itertools
import math

from adversarium.attacks import FiniteAttack
from adversarium.data import SpherePoints
from adversarium.networks import SmoothedReLU, TwoLayer
from adversarium.papers.conv.rules import refuse_unknown
from adversarium.plans import (
    Bars,
    Curves,
    Profile,
    Quantity,
    Read,
    Run,
    Trial,
    at_most,
    counted_as,
    each,
    every,
    last,
    parts,
    setting,
    where,
)
from adversarium.probes import WorstRegret, path_length, risk, worst_loss
from adversarium.training import Risk
from adversarium.trials import one_step, slacks_of_descent

RULES = ("exact", "anti", "random", "cycle", "fgsm", "worst_of", "switch")
TOLERANCE = 1e-8
ANY = "any W, any W_ref"
BEST = "slacks"
SLACKS = ("exact", "identity", "fgsm", "random")
LEAST = ("curvature", "attack", "convexity", "sum")

quick = dict(m=(256,), rules=RULES, seeds=5, along=("exact",), best=(3.0,))
paper = dict(m=(64, 256, 1024), rules=RULES, seeds=20)


def plan(m, rules, alpha=0.1, b=2.0, d=2, radius=0.2, along=SLACKS, best=(1.0, 3.0)):
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
                probes=(risk, worst_loss, path_length),
                folds=tuple(WorstRegret(R) for R in (0.3, 3.0)),
            )
        of = {"m": width, "b": b}
        at = {"m": Read("m")}
        yield Trial(family=ANY, at=at, function=one_step, parameters=of, version=2)
        for rule, R in itertools.product(along, best):
            of = dict(activation=activation, rule=rule, m=width, alpha=alpha, R=R)
            at = {"A": Read("rule"), "R": Read("R"), "m": Read("m")}
            yield Trial(family=BEST, at=at, function=slacks_of_descent, parameters=of)


NEAR, FAR = (WorstRegret(R).name for R in (0.3, 3.0))
STEPS = tuple(WorstRegret(R).step_name for R in (0.3, 3.0))


def _no_violation(run):
    """Eq. (16) at every step of a run, with a near and a far comparator."""
    return every(at_most(last(NEAR, run), TOLERANCE), at_most(last(FAR, run), TOLERANCE))


def _minus(quantity):
    return Quantity(f"−{quantity.name}", lambda rows: -quantity.of(rows), quantity.needs)


checks = {
    "conv.eq16": counted_as(
        "inequality",
        parts(
            {
                "at every step of every run": each("training", _no_violation),
                ANY: each(
                    ANY,
                    lambda run: every(
                        at_most(last("largest_excess", run), TOLERANCE),
                        at_most(_minus(last("smallest_slack", run)), TOLERANCE),
                        at_most(last("slack_mismatch", run), TOLERANCE),
                    ),
                ),
                "three slacks at every step, against the certified upper end's W": each(
                    BEST,
                    lambda run: every(
                        *(at_most(_minus(last(f"least {name}", run)), TOLERANCE) for name in LEAST)
                    ),
                ),
                "the step with the least room, told": each(
                    "training", lambda run: setting("inequality", *(last(n, run) for n in STEPS))
                ),
            }
        ),
    ),
}

figures = (
    Bars(
        name="excess",
        title="Eq. (16): left minus right side, worst step of each run",
        y=(NEAR, FAR),
        runs=(where("training"),),
        names={NEAR: r"$\|W_{ref} - W_0\| = 0.3$", FAR: r"$\|W_{ref} - W_0\| = 3$"},
        y_label="LHS − RHS",
        levels={"refuted above 0": 0.0},
        caption="Mean and 99 % interval over seeds of the worst step of a run. All lie below 0: "
        "the inequality holds at every step for every attack.",
    ),
    Profile(
        name="slacks",
        title="Eq. (16): what each step of its proof leaves, over 2α",
        y=LEAST[:3],
        runs=tuple(where(BEST, A=rule, R=3, m=1024) for rule in SLACKS),
        names={
            "curvature": "curvature: c/(2√m) times the squared distance",
            "attack": "attack: L_* of the optimum less its L_A",
            "convexity": "convexity of the loss",
        },
        stack=True,
        x_label="step t",
        y_label="right less left side, over 2α",
        caption="Four arcs of a circle, m = 1024, against the weights of the certified upper end "
        "in B(3). Means over seeds, stacked: the sum is the room in eq. (16).",
    ),
    Curves(
        name="losses",
        title="Surrogate and exact robust loss",
        y=("risk", "worst_loss"),
        runs=(where("training"),),
        names={"risk": r"$L_A(W_t)$", "worst_loss": r"$L_*(W_t)$"},
        x_label="step t",
        y_label="loss",
        caption="Mean over seeds, band: smallest to largest seed. Trained against a weak "
        "attack, the exact robust loss L_* stays above the surrogate L_A.",
    ),
)
