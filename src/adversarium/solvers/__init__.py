"""Solvers for the exact optima in the papers' theorems."""

from adversarium.solvers.max_margin import max_margin
from adversarium.solvers.robust_optimum import robust_optimum
from adversarium.solvers.shortest import shortest

__all__ = ["max_margin", "robust_optimum", "shortest"]
