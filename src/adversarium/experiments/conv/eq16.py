"""Eq. (16) of CONV: one step of adversarial training against any comparator.

Paper: ‖W_{t+1} − W_*‖² ≤ (1 + cα/√m)‖W_t − W_*‖² + 2α(L_*(W_*) − L_A(W_t)) + α²‖∇L_A(W_t)‖² for
every attack A; with explicit constants c = Lip·C2 it holds for every W_ref, not only the optimum.
Cost: quick 10 s, paper 60 s (2 cores).
"""

import math

import torch

from adversarium.attacks import FiniteAttack
from adversarium.attacks.finite import chosen
from adversarium.data import SpherePoints
from adversarium.experiments.checks import at_most, each, every, last
from adversarium.experiments.spec import Bars, Curves, Run, Trial
from adversarium.networks import SmoothedReLU, TwoLayer
from adversarium.probes import RegretExcess, Worst, path_length, risk, worst_loss
from adversarium.probes.regret import robust_loss
from adversarium.rng import integers, normal
from adversarium.training import Risk
from adversarium.training.objectives import pseudo_huber

RULES = ("exact", "anti", "random", "cycle", "fgsm", "worst_of", "switch")
TOLERANCE = 1e-8

quick = dict(m=(256,), rules=RULES, seeds=5)
paper = dict(m=(256, 1024, 4096), rules=RULES, seeds=20)


def plan(m, rules, alpha=0.1, b=2.0, d=2, radius=0.2):
    activation = SmoothedReLU(b=b)
    for width in m:
        for rule in (*rules, "identity"):
            yield Run(
                label=f"{rule}, m={width}",
                data=SpherePoints(d=d, radius=radius, K=9),
                network=TwoLayer(m=width, omega=1.0, activation=activation),
                attack=None if rule == "identity" else FiniteAttack(rule=rule),
                risk=Risk(loss="pseudo_huber"),
                n=4,
                steps=round(math.sqrt(width) / (activation.C2 * alpha)),
                eta=alpha,
                probes=(risk, worst_loss, path_length),
                folds=tuple(Worst(RegretExcess(R)) for R in (0.3, 3.0)),
            )
    yield Trial(label="any W, any W_ref", function=one_step, parameters={"m": 64, "b": b})


def one_step(rng, m, b):
    """The excess LHS − RHS of eq. (16) of CONV after one step from a random W, with a random
    member of every set as the attack, a random step size and comparators near and far: the
    largest of 40 draws, each relative to its right-hand side, and the smallest."""
    network = TwoLayer(m=m, omega=1.0, activation=SmoothedReLU(b=b))
    excess = []
    for _ in range(40):
        batch = SpherePoints(d=3, radius=0.3, K=5).sample(4, rng)
        scale = 3 * float(torch.rand((), generator=rng))
        alpha = 5 * float(torch.rand((), generator=rng))
        W = network.init(rng, (3,), 1) + scale * normal((m, 3), rng) / math.sqrt(m)
        W_ref = W + 10 ** (2 * float(torch.rand((), generator=rng)) - 1) * normal((m, 3), rng)
        x = chosen(batch.options, integers(5, (4,), rng))
        loss = lambda W, x=x, y=batch.y: pseudo_huber(network.f(W, x), y).mean()
        g = torch.func.grad(loss)(W)
        growth = 1 + network.activation.C2 * alpha / math.sqrt(m)
        gap = robust_loss(network, W_ref, batch, "pseudo_huber") - loss(W)
        near = (W - W_ref).square().sum()
        right = growth * near + 2 * alpha * gap + (alpha * g).square().sum()
        left = (W - alpha * g - W_ref).square().sum()
        excess.append(float((left - right) / near))
    return {"largest_excess": max(excess), "smallest_excess": min(excess)}


_trial = "any W, any W_ref"

checks = {
    "conv.eq16": every(
        each(
            lambda run: every(
                at_most(last("worst(eq16_excess(R=0.3))", run), TOLERANCE),
                at_most(last("worst(eq16_excess(R=3))", run), TOLERANCE),
            ),
            where=lambda label: label != _trial,
        ),
        at_most(last("largest_excess", _trial), TOLERANCE),
    ),
}

_excess = {
    "worst(eq16_excess(R=0.3))": r"$\|W_{ref} - W_0\| = 0.3$",
    "worst(eq16_excess(R=3))": r"$\|W_{ref} - W_0\| = 3$",
}
_losses = {"risk": r"$L_A(W_t)$", "worst_loss": r"$L_*(W_t)$"}
_labels = tuple(f"{rule}, m=256" for rule in (*RULES, "identity"))

figures = (
    Bars(
        name="excess",
        title="Eq. (16): left minus right side, worst step of each run",
        y=tuple(_excess),
        of=_labels,
        names=_excess,
        y_label="LHS − RHS",
        levels={"refuted above 0": 0.0},
        caption="Mean and 99 % interval over seeds of the worst step of a run. All lie below 0: "
        "the inequality holds at every step for every attack.",
    ),
    Curves(
        name="losses",
        title="Surrogate and exact robust loss",
        y=tuple(_losses),
        of=("exact, m=256", "random, m=256", "anti, m=256"),
        names=_losses,
        x_label="step t",
        y_label="loss",
        caption="Mean over seeds, band: smallest to largest seed. Trained against a weak "
        "attack, the exact robust loss L_* stays above the surrogate L_A.",
    ),
)
