"""Explicit ReLU networks: building blocks, and the memorising classifiers of the papers."""

from adversarium.constructions.classifiers import Balls, linear_clean
from adversarium.constructions.parts import (
    absolute,
    clip,
    distance,
    largest,
    least,
    product,
    soft_indicator,
    square,
    tooth,
)
from adversarium.constructions.relu import (
    affine,
    deepened,
    depth,
    in_parallel,
    load,
    on_same_input,
    parameters,
    save,
    then,
)

__all__ = [
    "Balls",
    "absolute",
    "affine",
    "clip",
    "deepened",
    "depth",
    "distance",
    "in_parallel",
    "largest",
    "least",
    "linear_clean",
    "load",
    "on_same_input",
    "parameters",
    "product",
    "save",
    "soft_indicator",
    "square",
    "then",
    "tooth",
]
