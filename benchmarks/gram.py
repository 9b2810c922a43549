"""Gram coordinates against the plain computation: n = 100, m = 1000, 20 attack steps, float32."""

import argparse
import time

import torch

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import TwoLayer
from adversarium.training import ENGINES, Rule, Setting, train


def seconds(name: str, d: int, steps: int, device: str) -> float:
    """Seconds an iteration, set-up left out."""
    attack = PGD(p=2, radius=1.0, steps=20, step=0.2, best=False)
    rule = Rule(n=100, steps=steps, eta=0.1)
    network = TwoLayer(m=1000, omega=1e-3)
    setting = Setting(Clusters(d=d, mu=10.0), network, attack, rule, (0,), device, torch.float32)
    engine = ENGINES[name]
    states = train(engine, (setting,))
    next(states)  # t = 0: data, weights and Gram matrices are there
    began = time.perf_counter()
    for state in states:
        last = state
    engine.apart(last)[0].risk().sum().item()
    return (time.perf_counter() - began) / (steps + 1)


def main() -> None:
    """Prints one line a dimension."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    for d, goal in ((1_000, 1), (4_000, 6), (18_000, 25)):
        for name in ("gram", "full"):  # warm up
            seconds(name, d, 1, options.device)
        cheap = seconds("gram", d, 20, options.device)
        plain = seconds("full", d, 5, options.device)
        print(
            f"d = {d}: plain {plain:.3f} s, Gram {cheap:.3f} s an iteration; Gram is "
            f"{plain / cheap:.1f} × faster (goal {goal} ×)",
            flush=True,
        )


if __name__ == "__main__":
    main()
