"""Explicit ReLU networks: parts that compose, and the papers' memorising classifiers."""

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
    apart,
    beside,
    carried,
    depth,
    load,
    parameters,
    save,
    then,
)

__all__ = [
    "Balls",
    "absolute",
    "affine",
    "apart",
    "beside",
    "carried",
    "clip",
    "depth",
    "distance",
    "largest",
    "least",
    "linear_clean",
    "load",
    "parameters",
    "product",
    "save",
    "soft_indicator",
    "square",
    "then",
    "tooth",
]
