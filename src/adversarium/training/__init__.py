"""Training: risks, rules, and engines that run several settings together, step by step."""

from adversarium.training.engines import ENGINES, AnyEngine, choose, linear_step
from adversarium.training.loop import train
from adversarium.training.objectives import LOSSES, Risk
from adversarium.training.rules import (
    SGD,
    Adam,
    CropFlip,
    GradientDescent,
    Piecewise,
    Rule,
    Triangular,
)
from adversarium.training.setting import Setting, side_by_side
from adversarium.training.states import WeightState

__all__ = [
    "CropFlip",
    "Piecewise",
    "Triangular",
    "ENGINES",
    "LOSSES",
    "SGD",
    "Adam",
    "AnyEngine",
    "GradientDescent",
    "Risk",
    "Rule",
    "Setting",
    "WeightState",
    "choose",
    "linear_step",
    "side_by_side",
    "train",
]
