"""Hand-written gradients against autograd: RNRF's training step at Figure 3's size."""

import time

import torch

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.training import Problem, Recipe, choose, train


def seconds(by_hand: bool, adversarial: bool, steps: int = 20) -> float:
    """Seconds a step of five seeds."""
    attack = MarginStep(radius=1.2, step=10.0) if adversarial else None
    parts = (
        TwoFeaturePatches(),
        SmoothedCNN(by_hand=by_hand),
        attack,
        Recipe(n=100, steps=steps, eta=0.1),
    )
    problem = Problem(*parts, tuple(range(5)), "cpu", torch.float32)
    _ = problem.train, problem.W0
    engine, _ = choose(*parts)
    began = time.perf_counter()
    *_, state = train(engine, (problem,))
    engine.split(state)[0].risk()
    return (time.perf_counter() - began) / steps


def main() -> None:
    """Prints the ratio for both trainings."""
    for adversarial in (False, True):
        seconds(True, adversarial, 3)
        hand, auto = seconds(True, adversarial), seconds(False, adversarial)
        name = "adversarial" if adversarial else "standard"
        print(
            f"{name} step, five seeds: by hand {1e3 * hand:.0f} ms, autograd {1e3 * auto:.0f} ms; "
            f"by hand is {auto / hand:.2f} × faster"
        )


if __name__ == "__main__":
    main()
