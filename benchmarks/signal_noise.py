"""CGRO's exact coordinates against autograd in full space, d = 1,000 and 10,000; set E whole, set A
in part (whole with --whole)."""

import argparse
import time
from dataclasses import replace

import torch

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.networks import CubicCNN
from adversarium.plans.loading import load
from adversarium.plans.run import Run
from adversarium.runs.compute import compute
from adversarium.runs.jobs import Unit, resolve
from adversarium.training import ENGINES, Problem, Recipe, train


def seconds(name: str, d: int, steps: int) -> float:
    """Seconds a step of ten seeds, set-up left out."""
    data = PatchData(d=d, P=4, alpha=d**0.249, sigma=d**-0.509)
    parts = (
        data,
        CubicCNN(m=10, sigma0=d**-0.5),
        GTA(gamma=0.99),
        Recipe(n=20, steps=steps, eta=0.01),
    )
    engine, problem = ENGINES[name], Problem(*parts, tuple(range(10)))
    states = train(engine, (problem,))
    next(states)
    began = time.perf_counter()
    for state in states:
        last = state
    engine.split(last)[0].risk()
    return (time.perf_counter() - began) / steps


def one_set(name: str, seeds: int, share: float) -> str:
    """How long a share of the steps of a set of Theorem 4.1 takes, with its curves and folds."""
    (run,) = load("cgro.thm4.1").tasks("quick", sets=(name,), scaling=())
    assert isinstance(run, Run)
    short = replace(run, final=(), steps=round(share * run.steps))
    began = time.perf_counter()
    unit = Unit((resolve(short),), (tuple(range(seeds)),), "cpu", torch.get_num_threads())
    failures = compute(unit).failures
    assert not failures, failures
    spent = time.perf_counter() - began
    return f"set {name}, {seeds} seed(s), {short.steps:,} steps with its folds: {spent:.1f} s"


def main() -> None:
    """Prints one line a dimension, then the sets."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--whole", action="store_true", help="all 400,000 steps of set A")
    options = parser.parse_args()
    for d in (1_000, 10_000):
        seconds("full", d, 2)  # warm up
        cheap, plain = seconds("signal_noise", d, 300), seconds("full", d, 10)
        print(
            f"d = {d}, ten seeds: autograd {1e3 * plain:.1f} ms, exact coordinates "
            f"{1e3 * cheap:.2f} ms a step; {plain / cheap:.0f} × faster",
            flush=True,
        )
    for name, seeds, share in (("E", 1, 1.0), ("E", 10, 1.0), ("A", 10, 0.05)):
        print(one_set(name, seeds, 1.0 if options.whole else share), flush=True)


if __name__ == "__main__":
    main()
