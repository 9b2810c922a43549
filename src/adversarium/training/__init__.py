"""Training: risks, rules, and engines that yield states t = 0 … steps, seeds as an axis."""

from adversarium.training.engines import ENGINES, Engine, choose
from adversarium.training.linear import linear_step
from adversarium.training.max_margin import max_margin
from adversarium.training.objectives import LOSSES, Risk
from adversarium.training.rules import SGD, Adam, GradientDescent, Rule
from adversarium.training.states import Setting, State

__all__ = [
    "ENGINES",
    "LOSSES",
    "SGD",
    "Adam",
    "Engine",
    "GradientDescent",
    "Risk",
    "Rule",
    "Setting",
    "State",
    "choose",
    "linear_step",
    "max_margin",
]
