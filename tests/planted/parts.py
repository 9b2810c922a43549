"""Broken parts that several papers use: engines, attacks, balls."""

import copy
import math
from dataclasses import replace

from adversarium.attacks import strong_attacks
from adversarium.constructions import Balls
from adversarium.training.problem import AnyProblem
from tests.planted.bugs import Plant, misled, swapped, together


def _still(original, self, loss, batch, t, rng):
    return batch.x


def still(attack: type) -> Plant:
    """An attack that does not move any point."""
    return swapped(attack, "__call__", _still)


def _half_ball(original, self, x):
    return original(replace(self, delta=self.delta / 2), x)


BLIND_SUITE = together(*map(still, dict.fromkeys(map(type, strong_attacks(math.inf, 1.0, k=3)))))
HALF_BALLS = swapped(Balls, "inside", _half_ball)


def misstepping(engine: str, factor: float) -> Plant:
    """An engine that uses another step size than the recipe says."""

    def change(setting: AnyProblem) -> AnyProblem:
        recipe = copy.copy(setting.recipe)
        object.__setattr__(recipe, "eta", factor * setting.recipe.eta)  # past the door's check
        return replace(setting, recipe=recipe)

    return misled(engine, change)
