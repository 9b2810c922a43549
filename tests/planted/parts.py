"""Broken parts that several papers run on: engines, ascents, balls."""

import copy
from dataclasses import replace

from adversarium.attacks import APGD, PGD
from adversarium.constructions import Balls
from adversarium.training.setting import AnySetting
from tests.planted.bugs import Plant, misled, swapped, together


def _still(original, self, loss, batch, t, rng):
    return batch.x


def still(attack: type) -> Plant:
    """An attack that moves nothing."""
    return swapped(attack, "__call__", _still)


def _half_ball(original, self, x):
    return original(replace(self, delta=self.delta / 2), x)


BLIND_ASCENTS = together(still(APGD), still(PGD))
HALF_BALLS = swapped(Balls, "inside", _half_ball)


def misstepping(engine: str, factor: float) -> Plant:
    """An engine that takes steps of another size than the rule says."""

    def change(setting: AnySetting) -> AnySetting:
        rule = copy.copy(setting.rule)
        object.__setattr__(rule, "eta", factor * setting.rule.eta)  # past the door's check
        return replace(setting, rule=rule)

    return misled(engine, change)
