"""Training: risks, recipes, and engines that run several problems together, step by step."""

from adversarium.training.engines import ENGINES, AnyEngine, choose, linear_step
from adversarium.training.loop import train
from adversarium.training.objectives import LOSSES, Risk, Smoothed
from adversarium.training.problem import Problem, side_by_side
from adversarium.training.recipe import (
    SGD,
    Adam,
    CropFlip,
    GradientDescent,
    Piecewise,
    Recipe,
    Triangular,
)
from adversarium.training.states import WeightState

__all__ = [
    "ENGINES",
    "LOSSES",
    "SGD",
    "Adam",
    "AnyEngine",
    "CropFlip",
    "GradientDescent",
    "Piecewise",
    "Problem",
    "Recipe",
    "Risk",
    "Smoothed",
    "Triangular",
    "WeightState",
    "choose",
    "linear_step",
    "side_by_side",
    "train",
]
