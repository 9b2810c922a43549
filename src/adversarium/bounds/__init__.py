"""The numbers that the theorems promise or ask for: plain floats in, plain floats out."""

from adversarium.bounds.boat import permitted_constants
from adversarium.bounds.rnrf import Hypothesis, two_feature_assumptions

__all__ = ["Hypothesis", "permitted_constants", "two_feature_assumptions"]
