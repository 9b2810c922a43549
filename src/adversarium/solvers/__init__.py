"""Solvers: exact optima that the theorems speak of."""

from adversarium.solvers.max_margin import max_margin

__all__ = ["max_margin"]
