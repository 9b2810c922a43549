"""A small run of every engine. `python -m tests.training.cases cuda` checks the replica axis on a
device where no test runner is installed."""

import sys

from adversarium.attacks import FGSM, GTA, PGD, MarginStep
from adversarium.data import Clusters, Digits, MarginMixture, PatchData, TwoFeaturePatches
from adversarium.networks import CubicCNN, MixedLearner, Module, SmoothedCNN, TwoLayer, small_cnn
from adversarium.training import ENGINES, SGD, Risk, Rule, Setting


def parts(name: str):
    """Data, network, attack and rule of a small run of every engine."""
    match name:
        case "signal_noise":
            return (
                PatchData(d=20, P=3, alpha=2.0, sigma=0.2),
                CubicCNN(m=4, sigma0=0.2),
                GTA(gamma=0.9),
                Rule(n=6, steps=60, eta=0.05, risk=Risk(lam=0.4)),
            )
        case "gram":
            return (
                Clusters(d=60, mu=4.0, beta=0.1),
                TwoLayer(m=10, omega=0.01),
                PGD(p=2, radius=0.6, steps=8, after=1),
                Rule(n=9, steps=25, eta=0.05),
            )
        case "linear":
            return (
                MarginMixture(d=15, alpha=2.0, beta=0.5, mu=0.3),
                MixedLearner(),
                FGSM(p=2, radius=0.3),
                Rule(n=20, steps=40, eta=0.1, risk=Risk(loss="exponential", log=True)),
            )
        case "full":
            return (
                TwoFeaturePatches(k=2, d=12, P=5),
                SmoothedCNN(m=6, sigma0=0.05),
                MarginStep(radius=1.2, step=10.0),
                Rule(n=20, steps=25, eta=0.5),
            )
        case "sgd":
            attack = PGD(radius=0.1, steps=3, start="uniform", loss="cross_entropy", box=(0.0, 1.0))
            return (
                Digits(),
                Module(build=small_cnn, options={"width": 3}),
                attack,
                Rule(n=60, steps=12, eta=0.05, optimiser=SGD(batch=20)),
            )


def final(name, setting):
    engine = next(e for e in ENGINES if e.name == name)
    *_, state = engine.states(setting)
    return state


def weights(state):
    return state.W if isinstance(state.W, dict) else {"W": state.W}


def largest_difference(name: str, device: str) -> tuple[float, float]:
    """Ten seeds against ten single runs on a device, and against the CPU: largest differences."""
    together = weights(final(name, Setting(*parts(name), tuple(range(10)), device)))
    apart = across = 0.0
    for seed in range(10):
        alone = weights(final(name, Setting(*parts(name), (seed,), device)))
        on_cpu = weights(final(name, Setting(*parts(name), (seed,))))
        for key in together:
            apart = max(apart, float((together[key][seed] - alone[key][0]).abs().max()))
            across = max(across, float((together[key][seed].cpu() - on_cpu[key][0]).abs().max()))
    return apart, across


if __name__ == "__main__":
    for engine in ENGINES:
        apart, across = largest_difference(engine.name, sys.argv[1])
        print(f"{engine.name}: ten seeds against single ones {apart:.1e}, CPU {across:.1e}")
