"""Solvers: exact optima that the theorems speak of."""

from adversarium.solvers.max_margin import max_margin
from adversarium.solvers.robust_optimum import Optimum, robust_optimum
from adversarium.solvers.shortest import Shortest, shortest

__all__ = ["Optimum", "Shortest", "max_margin", "robust_optimum", "shortest"]
