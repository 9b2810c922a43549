"""Seeds as an axis against a loop over seeds, for every engine: seconds and ratio in one run."""

import argparse
import time

import torch

from adversarium.attacks import GTA, PGD, MarginStep
from adversarium.data import Clusters, Digits, PatchData, TwoFeaturePatches
from adversarium.networks import CubicCNN, Module, SmoothedCNN, TwoLayer, small_cnn
from adversarium.training import SGD, Problem, Recipe, choose, train

CASES = {
    "signal_noise (CGRO set E, 500 steps)": (
        PatchData(d=200, P=3, alpha=3.741, sigma=0.0674),
        CubicCNN(m=8, sigma0=0.0707),
        GTA(gamma=0.98665),
        Recipe(n=10, steps=500, eta=0.05),
    ),
    "gram (BOAT, m=64, 100 steps)": (
        Clusters(d=8000, mu=13.0),
        TwoLayer(m=64, omega=1e-6),
        PGD(p=2, radius=1.7, steps=20, after=1),
        Recipe(n=20, steps=100, eta=0.0025),
    ),
    "full (RNRF Figure 3, 20 steps)": (
        TwoFeaturePatches(),
        SmoothedCNN(),
        MarginStep(radius=1.2, step=10.0),
        Recipe(n=100, steps=20, eta=0.1),
    ),
    "sgd (digits, 10 steps)": (
        Digits(),
        Module(build=small_cnn, options={"width": 16}),
        PGD(radius=0.1, steps=5, start="uniform", loss="cross_entropy", box=(0.0, 1.0)),
        Recipe(n=300, steps=10, eta=0.05, optimiser=SGD(batch=50)),
    ),
}


def seconds(parts: tuple, seeds: tuple[int, ...], device: str) -> float:
    """The time of one run, the drawing of data left out."""
    engine, _ = choose(*parts)
    problem = Problem(*parts, seeds, device, torch.float32)
    _ = problem.train, problem.W0
    began = time.perf_counter()
    *_, state = train(engine, (problem,))
    engine.split(state)[0].risk().sum().item()
    return time.perf_counter() - began


def main() -> None:
    """Prints one line a case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    n = options.seeds
    for name, parts in CASES.items():
        seconds(parts, (0,), options.device)  # warm up
        one = seconds(parts, (0,), options.device)
        axis = seconds(parts, tuple(range(n)), options.device)
        loop = sum(seconds(parts, (s,), options.device) for s in range(n))
        print(
            f"{name}: one seed {one:.2f} s, {n} seeds as an axis {axis:.2f} s "
            f"({axis / one:.1f} × one), in a loop {loop:.2f} s; "
            f"the axis is {loop / axis:.1f} × faster",
            flush=True,
        )


if __name__ == "__main__":
    main()
