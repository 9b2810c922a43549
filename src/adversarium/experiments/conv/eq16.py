"""Eq. (16) of CONV: one step of adversarial training against any comparator.

Paper: ‖W_{t+1} − W_*‖² ≤ (1 + cα/√m)‖W_t − W_*‖² + 2α(L_*(W_*) − L_A(W_t)) + α²‖∇L_A(W_t)‖² for
every attack A; with explicit constants c = Lip·C2 it holds for every W_ref, not only the optimum.
Cost: quick 8 s (2 cores).
"""

import math

import torch

from adversarium.attacks import FiniteAttack
from adversarium.attacks.finite import chosen
from adversarium.data import SpherePoints
from adversarium.experiments.checks import at_most, each, every, last, measure
from adversarium.experiments.spec import Bars, Curves, Run, Trial
from adversarium.networks import SmoothedReLU, TwoLayer
from adversarium.networks.two_layer import signs
from adversarium.probes import WorstRegret, path_length, risk, worst_loss
from adversarium.probes.regret import robust_loss
from adversarium.rng import integers, normal, uniform
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
                folds=tuple(WorstRegret(R) for R in (0.3, 3.0)),
            )
    yield Trial(
        label="any W, any W_ref", function=one_step, parameters={"m": 64, "b": b}, version=2
    )


def one_step(rng, m, b):
    """Eq. (16) of CONV after one step from a random W, with a random member of every set as the
    attack, a random step size and comparators near and far, and its right minus left side split
    into three slacks (curvature, attack, loss), as in the proof in App. B of CONV. Of 40 draws,
    relative to ‖W − W_ref‖²: the largest excess, the smallest slack, the largest |sum − slack|."""
    network = TwoLayer(m=m, omega=1.0, activation=SmoothedReLU(b=b))
    excess, slacks, mismatch = [], [], []
    for _ in range(40):
        batch = SpherePoints(d=3, radius=0.3, K=5).sample(4, rng)
        scale, alpha = 3 * float(uniform((), rng)), 5 * float(uniform((), rng))
        W = network.init(rng, (3,), 1) + scale * normal((m, 3), rng) / math.sqrt(m)
        W_ref = W + 10 ** (2 * float(uniform((), rng)) - 1) * normal((m, 3), rng)
        x = chosen(batch.options, integers(5, (4,), rng))
        loss = lambda W, x=x, y=batch.y: pseudo_huber(network.f(W, x), y).mean()
        g = torch.func.grad(loss)(W)
        near = (W - W_ref).square().sum()
        growth = 1 + network.activation.C2 * alpha / math.sqrt(m)
        gap = robust_loss(network, W_ref, batch, "pseudo_huber") - loss(W)
        right = growth * near + 2 * alpha * gap + (alpha * g).square().sum()
        left = (W - alpha * g - W_ref).square().sum()
        # the three slacks, each of which the proof shows to be non-negative
        f, f_ref = network.f(W, x), network.f(W_ref, x)
        slope = (f - batch.y) / (1 + (f - batch.y).square()).sqrt()
        gate = signs(m, W) * network.activation.slope(x @ W.mT) / math.sqrt(m)
        linear = (gate * (x @ (W_ref - W).mT)).sum(-1)  # ⟨∇f(W, x), W_ref − W⟩
        curvature = (growth - 1) * near + 2 * alpha * (slope * (f_ref - f - linear)).mean()
        attack = 2 * alpha * (robust_loss(network, W_ref, batch, "pseudo_huber") - loss(W_ref))
        convex = pseudo_huber(f_ref, batch.y) - pseudo_huber(f, batch.y) - slope * (f_ref - f)
        parts = torch.stack([curvature, attack, 2 * alpha * convex.mean()]) / near
        excess.append(float((left - right) / near))
        slacks.append(float(parts.min()))
        mismatch.append(abs(float(parts.sum() - (right - left) / near)))
    return {
        "largest_excess": max(excess),
        "smallest_slack": min(slacks),
        "slack_mismatch": max(mismatch),
    }


_trial = "any W, any W_ref"
_minus = lambda q: measure(f"−{q.name}", lambda rows: -q.of(rows))

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
        at_most(_minus(last("smallest_slack", _trial)), TOLERANCE),
        at_most(last("slack_mismatch", _trial), TOLERANCE),
    ),
}

_excess = {
    "worst(eq16_excess(R=0.3))": r"$\|W_{ref} - W_0\| = 0.3$",
    "worst(eq16_excess(R=3))": r"$\|W_{ref} - W_0\| = 3$",
}
_losses = {"risk": r"$L_A(W_t)$", "worst_loss": r"$L_*(W_t)$"}

figures = (
    Bars(
        name="excess",
        title="Eq. (16): left minus right side, worst step of each run",
        y=tuple(_excess),
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
        names=_losses,
        x_label="step t",
        y_label="loss",
        caption="Mean over seeds, band: smallest to largest seed. Trained against a weak "
        "attack, the exact robust loss L_* stays above the surrogate L_A.",
    ),
)
