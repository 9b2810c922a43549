"""The modified training of Theorems 4.2 and 6.2 of CGRM, and plain training of the same model.

Paper: train w_0 on the large margins, add one unit w_i = (I − w_0 w_0ᵀ)x_i for every small-margin
point: the 0–1 adversarial training loss vanishes (4.2). Clean risk minimisation, then indicators on
the attackable points: robust training error 0, clean error ≲ √(poly(d)/N) (6.2).
Reading: l2 balls, a_i = y_i, ‖w_0‖ = 1, b = d/2. Set M: d = 200, N = 400, μ = 0.2, α = 5, β = 0.5,
δ = 2. Theorem 6.2 on margins spread over [0.02, 3] in d = 20; max margin is the risk minimiser, and
the limit of the adversarial training of the last step.
Cost: quick 30 s (2 cores).
"""

from adversarium.attacks import FGSM, strong_attacks
from adversarium.data import MarginMixture
from adversarium.networks import MixedLearner
from adversarium.papers.cgrm.modified_figures import figures
from adversarium.papers.cgrm.regime import gates
from adversarium.plans import Read, Run, Trial, each, every, exponent, last, level, ordering, where
from adversarium.probes import (
    Error,
    active_units,
    direction_error,
    robust_train_error,
    train_error,
    unit_drift,
)
from adversarium.training import Risk
from adversarium.trials import generic_training, modified_training

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

#        name                       d    N     δ    b/d
SETS = (("M",                       200, 400,  2.0, 0.5),
        ("M with b below",          200, 400,  2.0, 0.25),
        ("M with b above",          200, 400,  2.0, 0.75),
        ("M with few points",       200, 100,  2.0, 0.5),
        ("M with a large radius",   200, 400,  4.5, 0.5),
        ("d smaller",               60,  300,  2.0, 0.5),
        ("d smallest",              30,  100,  2.0, 0.5))  # fmt: skip
LARGE = (("d larger, with b below", 400, 1000, 2.0, 0.25),)
SAMPLES = (100, 200, 400, 800, 1600)
M, ABOVE, FEW = (
    where("modified", set=name) for name in ("M", "M with b above", "M with few points")
)
SPREAD = where("spread margins")
PLACE = {"d": Read("data.d"), "N": Read("N"), "δ": Read("delta"), "b": Read("b")}

quick = dict(seeds=5)
paper = dict(large=True, seeds=20)


def plan(alpha=5.0, beta=0.5, mu=0.2, large=False, samples=SAMPLES, steps=300):
    if not 0 < mu < 1 or min(samples) < 10:
        raise ValueError(f"needs 0 < mu < 1 and samples >= 10, got mu={mu} and {samples}.")
    for name, d, N, delta, share in (*SETS, *(LARGE if large else ())):
        data = MarginMixture(d=d, alpha=alpha, beta=beta, mu=mu)
        yield Trial(
            family="modified",
            at={"set": name, **PLACE},
            function=modified_training,
            parameters=dict(data=data, N=N, delta=delta, b=share * d),
            version=3,
        )
    for N in samples:
        yield Trial(
            family="spread margins",
            at={"N": Read("N")},
            function=generic_training,
            parameters=dict(N=N),
            version=3,
        )
    for b in (100.0, 0.0):  # above all data, and not
        yield Run(
            family="plain training",
            at={"b": Read("network.b")},
            data=MarginMixture(d=200, alpha=alpha, beta=beta, mu=mu),
            network=MixedLearner(m=80, b=b, sigma0=0.01),
            attack=FGSM(p=2, radius=2.0),
            risk=Risk(loss="exponential", log=True),
            n=400,
            steps=steps,
            eta=0.02,
            probes=(direction_error, active_units, unit_drift, train_error, robust_train_error),
            final=(
                Error(on="train", attacks=strong_attacks(2, 2.0, 1), name="strong_train_error"),
            ),
        )


def _robustly_trained(run):
    return level(last("adversarial_train", run), 0, 0)


checks = {
    "cgrm.thm4.2": every(
        level(last("robust_train", M), 0, 0),
        level(last("inside", M), 1, 1),
        level(last("robust_train", ABOVE), 0.001),
        level(last("inside", ABOVE), 0, 0),
        level(last("margin_error", M), 0, 0.1),
    ),
    "cgrm.thm4.2.target": every(
        level(last("w_0_error", M), 0, 0.1),
        level(last("w_i_error", M), 0, 0.1),
        ordering(last("w_0_error", FEW), than=last("w_0_error", M)),
        ordering(last("w_i_error", FEW), than=last("w_i_error", M)),
    ),
    "cgrm.thm4.2.cgrm": every(
        level(last("clean_test", M), 0, 0),
        level(last("robust_small", M), 1, 1),
        level(last("robust_large", M), 0, 0),
    ),
    "cgrm.thm6.2": every(
        exponent("power of N in the clean error", "clean_error", "N", SPREAD, -0.75, 0.25),
        each(SPREAD, _robustly_trained),
    ),
}
