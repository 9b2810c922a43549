"""CGRO's exact coordinates against autograd in full space, d = 1,000 and 10,000; sets E and A
whole."""

import time
from dataclasses import replace

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.experiments.cgro.thm4_1 import SETS, patch_run
from adversarium.networks import CubicCNN
from adversarium.sweeps.run import run_block
from adversarium.training import ENGINES, Rule, Setting


def seconds(name: str, d: int, steps: int) -> float:
    """Seconds a step of ten seeds, set-up left out."""
    data = PatchData(d=d, P=4, alpha=d**0.249, sigma=d**-0.509)
    parts = (
        data,
        CubicCNN(m=10, sigma0=d**-0.5),
        GTA(gamma=0.99),
        Rule(n=20, steps=steps, eta=0.01),
    )
    setting = Setting(*parts, tuple(range(10)))
    states = next(e for e in ENGINES if e.name == name).states(setting)
    next(states)
    began = time.perf_counter()
    for state in states:
        last = state
    last.risk()
    return (time.perf_counter() - began) / steps


def main() -> None:
    """Prints one line a dimension, then set E."""
    for d in (1_000, 10_000):
        seconds("full", d, 2)  # warm up
        cheap, plain = seconds("signal_noise", d, 300), seconds("full", d, 10)
        print(
            f"d = {d}, ten seeds: autograd {1e3 * plain:.1f} ms, exact coordinates "
            f"{1e3 * cheap:.2f} ms a step; {plain / cheap:.0f} × faster",
            flush=True,
        )
    for name, seeds in (("E", 1), ("E", 10), ("A", 10)):
        run = patch_run(f"set {name}", *SETS[name])
        began = time.perf_counter()
        run_block(replace(run, final=()), tuple(range(seeds)))
        spent = time.perf_counter() - began
        print(f"set {name}, {seeds} seed(s), {run.steps:,} steps with its folds: {spent:.1f} s")


if __name__ == "__main__":
    main()
