"""A training of BOAT's theory in law (n = 20, m = 64, 20 attack steps, float64) at d up to 10⁶,
against the same on drawn points in Gram coordinates: draws included, one thread."""

import time

import torch

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import TwoLayer
from adversarium.training import ENGINES, Problem, Recipe, train

STEPS = 100


def seconds(engine: str, d: int) -> float:
    """Seconds of a run of one seed, its draws included."""
    mu = 2.0 * d**0.25
    attack = PGD(p=2, radius=0.1 * mu, steps=20, after=1)
    data, network = Clusters(d=d, mu=mu), TwoLayer(m=64, omega=1e-9)
    recipe = Recipe(n=20, steps=STEPS, eta=20 / d)
    chosen = ENGINES[engine]
    problem = chosen.placed(Problem(data, network, attack, recipe, (0,), "cpu", torch.float64))
    began = time.perf_counter()
    for state in train(chosen, (problem,)):
        last = state
    chosen.split(last)[0].risk().sum().item()
    return time.perf_counter() - began


def main() -> None:
    """Prints one line a dimension."""
    torch.set_num_threads(1)
    seconds("law", 1000)  # warm up
    for d in (1_000, 100_000, 1_000_000):
        law = seconds("law", d)
        drawn = f", drawn {(gram := seconds('gram', d)):.2f} s; {gram / law:.1f} × faster"
        print(f"d = {d:,}, {STEPS} steps: in law {law:.2f} s{drawn} (goal: 1 s at a million)")


if __name__ == "__main__":
    main()
