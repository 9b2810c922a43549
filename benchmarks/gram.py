"""Gram coordinates against the plain computation: n = 100, m = 1000, 20 attack steps, float32, with
biases and a trained top layer. On CUDA also a hundred runs side by side, with and without the
kernels, and the attack's error against double precision."""

import argparse
import time
from dataclasses import replace

import torch

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import Perceptron
from adversarium.training import ENGINES, Problem, Recipe, train
from adversarium.training.engines import gram_attack, gram_kernels
from adversarium.training.problem import AnyProblem

GOALS = ((1_000, 1), (4_000, 6), (18_000, 25))  # d, ratio that two cores must show
PROTOTYPE = {1_000: 12.1, 9_000: 20.3, 18_000: 27.2}  # ms an iteration, plain, on one H200


def problem(d: int, steps: int, device: str, seeds: int = 1, mu: float = 10.0) -> AnyProblem:
    """A training of BOAT's Figure 1."""
    attack = PGD(p=2, radius=0.1 * mu, steps=20, step=0.02 * mu, best=False)
    recipe = Recipe(n=100, steps=steps, eta=0.1)
    data, network = Clusters(d=d, mu=mu), Perceptron(m=1000)
    return Problem(data, network, attack, recipe, tuple(range(seeds)), device, torch.float32)


def seconds(name: str, given: AnyProblem) -> float:
    """Seconds an iteration, set-up left out."""
    engine = ENGINES[name]
    states = train(engine, (given,))
    next(states)  # t = 0: data, weights and Gram matrices are there
    began = time.perf_counter()
    for state in states:
        last = state
    engine.split(last)[0].risk().sum().item()
    return (time.perf_counter() - began) / (given.recipe.steps + 1)


def side_by_side() -> None:
    """A hundred replicas on one CUDA device: microseconds a replica and iteration."""
    given = problem(4_000, 100, "cuda", seeds=100)
    quick = []
    for kernels in (False, True):
        before, gram_kernels.triton = gram_kernels.triton, gram_kernels.triton if kernels else None
        seconds("gram", replace(given, recipe=replace(given.recipe, steps=2)))  # compiles
        quick.append(1e6 * seconds("gram", given) / 100)
        gram_kernels.triton = before
    *_, last = train(ENGINES["gram"], (replace(given, recipe=replace(given.recipe, steps=20)),))
    at = last.at
    some = [t[::25].double() for t in (at.K, at.H, at.top.a, at.top.b, at.top.c, at.fixed.y,
                                       at.fixed.radius, at.fixed.stride)]  # fmt: skip
    K, H, a, b, c, y, radius, stride = some
    top = gram_attack.Top(a, b, c)
    exact = gram_attack.climbed(
        given.network, K, H, top, y, given.attack, radius, stride
    )[1]  # fmt: skip
    off = float((at.attacked[1][::25] - exact).norm() / exact.norm())
    print(
        f"100 replicas side by side: {quick[0]:.0f} µs a replica-iteration by products, "
        f"{quick[1]:.0f} by kernels (a prototype: 259 eager, 174 compiled, 68 with "
        f"TF32 compiled); {quick[0] / quick[1]:.1f} × faster; K E off by {off:.1e} (goal 1e-5)"
    )


def main() -> None:
    """Prints one line a dimension."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    goals = ((1_000, 1), (9_000, 1), (18_000, 1)) if device != "cpu" else GOALS
    for d, goal in goals:
        for name in ("gram", "full"):  # warm up
            seconds(name, problem(d, 1, device))
        cheap = seconds("gram", problem(d, 20, device))
        plain = seconds("full", problem(d, 5, device))
        before = f" (a prototype: plain {PROTOTYPE[d]} ms)" if device != "cpu" else ""
        print(
            f"d = {d}: plain {1e3 * plain:.1f} ms, Gram {1e3 * cheap:.1f} ms an iteration; Gram is "
            f"{plain / cheap:.1f} × faster (goal {goal} ×){before}",
            flush=True,
        )
    if device.startswith("cuda"):
        side_by_side()


if __name__ == "__main__":
    main()
