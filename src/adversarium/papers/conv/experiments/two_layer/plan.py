"""App. B of CONV: inequalities of the two-layer network at any weights and along a descent.

Paper: f is 0 at the initial weights. Its gradient is Lipschitz with constant C2/√m. The loss is
convex up to O(1/√m)|W − W'|², eq. (14). Gradients are O(1), eq. (15). Eq. (17) sums the steps of
descent. All of this extends to certified training (§2).
Reading: constants are explicit, Lip = 1 (pseudo-Huber). Bounds are tested at random weights and at
the pairs of weights at which they are sharp. If |s'| is bounded, gradients are trivially O(1), so
this is judged for the quadratic ReLU; the first inequality of eq. (15) is also judged for softplus.
Certified losses are interval bounds: every unit has its own input of norm at most 1 + ρ.
Cost: quick 28 s (one core).
"""

import itertools

from adversarium.networks import Erf, QuadraticReLU, Shifted, SmoothedReLU, Softplus, Tanh
from adversarium.plans import Lines, Read, Trial, end, where

from ...theory.descents import certified_step, level_kept, regret_of_descent
from ...theory.paired import (
    curvature_pairs,
    gradient_formula,
    gradient_lipschitz,
    gradient_sizes,
    reversed_step,
    spectral_not_frobenius,
    vanishing_start,
)
from ...theory.regime import gates as gates

ACTIVATIONS = ("smoothed ReLU", "softplus", "quadratic ReLU", "erf", "tanh", "shifted")
RULES = ("exact", "anti", "random", "cycle", "fgsm", "identity")


SMOOTH = dict(zip(ACTIVATIONS, (SmoothedReLU(b=2.0), Softplus(b=2.0), QuadraticReLU(), Erf(),
                                Tanh(), Shifted(b=4.0, c=0.5)), strict=True))  # fmt: skip
STEPS = (1e-1, 1e-2, 1e-3, 1e-4)

quick = dict(seeds=5, widths=(16, 64), sizes=(64, 128, 256), alpha=(0.1,), runs=(16,), climbs=5)
paper = dict(seeds=20, widths=(16, 64, 256, 1024, 4096), sizes=(256, 512, 1024, 2048, 4096),
             alpha=(0.5, 0.1, 0.02), runs=(16, 64, 256, 1024), climbs=400)  # fmt: skip


def plan(widths, sizes, alpha, runs, climbs):
    def trial(family, function, at, **parameters):
        version = 2 if function is regret_of_descent else 1
        return Trial(family=family, at=at, function=function, parameters=parameters,
                     version=version)  # fmt: skip

    for (name, s), m in itertools.product(SMOOTH.items(), widths):
        at = {"s": name, "m": Read("m")}
        yield trial("start", vanishing_start, at, activation=s, m=m, d=5)
        yield trial("gradient", gradient_formula, at, activation=s, m=m, d=5)
        yield trial("Lipschitz", gradient_lipschitz, at, activation=s, m=m, d=5)
        yield trial("curvature", curvature_pairs, at, activation=s, m=m, d=5)
    for m, step in itertools.product(widths, STEPS):
        at = {"m": Read("m"), "1/t": round(1 / step)}
        s = SMOOTH["smoothed ReLU"]
        yield trial("reversed", reversed_step, at, activation=s, m=m, d=5, step=step)
    for m, share, r, sphere in itertools.product(sizes, (1 / 16, 1 / 4, 1), (0.25, 1.0), (0, 1)):
        at = {"s": "quadratic ReLU", "m": Read("m"), "d/m": Read("share"), "r": Read("r"),
              "sphere": sphere}  # fmt: skip
        s = SMOOTH["quadratic ReLU"]
        yield trial("sizes", gradient_sizes, at, activation=s, m=m, share=share, r=r,
                    sphere=bool(sphere))  # fmt: skip
    for m in sizes:
        at = {"m": Read("m")}
        s = SMOOTH["softplus"]
        yield trial("sizes, softplus", gradient_sizes, at, activation=s, m=m, share=0.25, r=1.0)
    for rule, m, step in itertools.product(RULES, runs, alpha):
        at = {"A": Read("rule"), "m": Read("m"), "α": Read("alpha")}
        s = SMOOTH["smoothed ReLU"]
        of = dict(activation=s, rule=rule, m=m, alpha=step)
        yield trial("descents", regret_of_descent, at, **of)
        if rule in ("exact", "identity"):
            yield trial("descents in a small ball", regret_of_descent, at, **of, R=0.1)
    for step in (0.16, 0.08, 0.04, 0.02):
        yield trial("level kept", level_kept, {"1/α": round(1 / step, 3)}, m=max(runs), alpha=step)
    for rho, m in itertools.product((0.1, 0.5, 1.0), runs):
        at = {"ρ": Read("rho"), "m": Read("m")}
        s = SMOOTH["smoothed ReLU"]
        yield trial("certified", certified_step, at, activation=s, m=m, rho=rho, tries=2,
                    climbs=climbs)  # fmt: skip
    for m in widths[:4]:
        yield trial("balls", spectral_not_frobenius, {"m": Read("m")}, m=m)


figures = (
    Lines(
        name="certified",
        title="§2: the curvature constant that a certified step needs, relative to c",
        numbers=(
            end("use", "found by ascent"),
            end("allowed", "(1 + ρ)²"),
        ),
        x="ρ",
        by=("m",),
        runs=(where("certified"),),
        log_x=False,
        y_label="in units of c",
        levels={"c, as the paper has it": 1.0},
        caption="Mean and 99 % interval over seeds; above 1, the constant c is too small.",
    ),
)
