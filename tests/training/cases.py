"""A small run of every engine. `python -m tests.training.cases cuda` checks the replica axis on a
device where no test runner is installed."""

import sys

import torch
from torch import nn

from adversarium.attacks import FGSM, GTA, PGD, MarginStep, NoisyFGSM
from adversarium.data import Clusters, Digits, MarginMixture, PatchData, TwoFeaturePatches
from adversarium.networks import CubicCNN, MixedLearner, Module, SmoothedCNN, TwoLayer, small_cnn
from adversarium.sockets import Placing
from adversarium.training import ENGINES, SGD, CropFlip, Problem, Recipe, Risk, train


def parts(name: str):
    """Data, network, attack and recipe of a small run of every engine."""
    match name:
        case "signal_noise":
            return (
                PatchData(d=20, P=3, alpha=2.0, sigma=0.2),
                CubicCNN(m=4, sigma0=0.2),
                GTA(gamma=0.9),
                Recipe(n=6, steps=60, eta=0.05, risk=Risk(lam=0.4)),
            )
        case "gram" | "law":
            return (
                Clusters(d=60, mu=4.0, beta=0.1),
                TwoLayer(m=10, omega=0.01),
                PGD(p=2, radius=0.6, steps=8, after=1),
                Recipe(n=9, steps=25, eta=0.05),
            )
        case "linear":
            return (
                MarginMixture(d=15, alpha=2.0, beta=0.5, mu=0.3),
                MixedLearner(),
                FGSM(p=2, radius=0.3),
                Recipe(n=20, steps=40, eta=0.1, risk=Risk(loss="exponential", log=True)),
            )
        case "full":
            return (
                TwoFeaturePatches(k=2, d=12, P=5),
                SmoothedCNN(m=6, sigma0=0.05),
                MarginStep(radius=1.2, step=10.0),
                Recipe(n=20, steps=25, eta=0.5),
            )
        case "sgd":
            attack = PGD(radius=0.1, steps=3, start="uniform", loss="cross_entropy", box=(0.0, 1.0))
            return (
                Digits(),
                Module(build=small_cnn, options={"width": 3}),
                attack,
                Recipe(n=60, steps=12, eta=0.05, optimiser=SGD(batch=20)),
            )
        case "captured":
            optimiser = SGD(batch=20, weight_decay=1e-3, augment=CropFlip(pad=1), average=0.9)
            return (
                Digits(),
                Module(build=small_cnn, options={"width": 3}),
                NoisyFGSM(radius=0.1, box=(0.0, 1.0)),
                Recipe(n=60, steps=12, eta=0.05, optimiser=optimiser),
            )


def placed(name: str, problem):
    """Return a problem in the coordinates of its engine, if the engine uses special ones."""
    engine = ENGINES[name]
    return engine.placed(problem) if isinstance(engine, Placing) else problem


def normalised(shape: tuple[int, ...], k: int, width: int = 3) -> nn.Module:
    """Return a small network with batch normalisation, which has buffers in addition to weights."""
    return nn.Sequential(
        nn.Conv2d(shape[0], width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(4 * width, k),
    )


def finals(name, problems):
    """Return the last states of problems that run side by side."""
    engine = ENGINES[name]
    *_, joined = train(engine, [placed(name, problem) for problem in problems])
    return engine.split(joined)


def final(name, problem):
    """Return the last state of one problem."""
    (state,) = finals(name, (problem,))
    return state


def weights(state):
    """Return the weights as tensors by name."""
    return state.W if isinstance(state.W, dict) else {"W": state.W}


def length(state):
    """Return ‖W‖_F of all weights, one number per seed."""
    squares = [w.double().flatten(1).square().sum(-1) for w in weights(state).values()]
    return torch.stack(squares).sum(0).sqrt()


def gap(state, other):
    """Return the largest difference between the weights (and buffers) of two states."""
    pairs = zip(weights(state).values(), weights(other).values(), strict=True)
    return max(
        float((a.double().cpu() - b.double().cpu()).abs().max()) for a, b in pairs if a.numel()
    )


def largest_difference(given, name: str, device: str, seeds: int = 10) -> tuple[float, float]:
    """Return the largest differences: seeds together and alone on a device, and device and CPU."""
    together = final(name, Problem(*given, tuple(range(seeds)), device))
    apart = across = 0.0
    for seed in range(seeds):
        mine = together.full.replica(seed)
        alone = final(name, Problem(*given, (seed,), device))
        apart = max(apart, gap(mine, alone))
        on_cpu = alone if device == "cpu" else final(name, Problem(*given, (seed,)))
        across = max(across, gap(mine, on_cpu))
    return apart, across


if __name__ == "__main__":
    for engine in ENGINES:
        apart, across = largest_difference(parts(engine), engine, sys.argv[1])
        print(f"{engine}: ten seeds against single ones {apart:.1e}, CPU {across:.1e}")
