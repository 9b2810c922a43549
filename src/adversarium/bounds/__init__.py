"""The numbers that the theorems promise or ask for: plain floats in, plain floats out."""

from adversarium.bounds.boat import permitted_constants

__all__ = ["permitted_constants"]
