"""The numbers that the theorems promise or ask for: plain floats in, plain floats out."""

from adversarium.bounds.boat import (
    lazy_accuracies,
    least_robust_error,
    permitted_constants,
    robust_floor,
)
from adversarium.bounds.cgrm import (
    few_points_error,
    not_exact,
    threshold_window,
    tilted_log_error,
)
from adversarium.bounds.cgro import (
    critical_n,
    flatness_factor,
    memory_time,
    phase_two_level,
    shattering_constant,
    signal_time,
)
from adversarium.bounds.gates import Gate
from adversarium.bounds.rnrf import two_feature_assumptions

__all__ = [
    "Gate",
    "critical_n",
    "few_points_error",
    "flatness_factor",
    "memory_time",
    "not_exact",
    "lazy_accuracies",
    "least_robust_error",
    "permitted_constants",
    "robust_floor",
    "phase_two_level",
    "shattering_constant",
    "signal_time",
    "threshold_window",
    "tilted_log_error",
    "two_feature_assumptions",
]
