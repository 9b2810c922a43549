"""Measurements of a state: `probe(state, scene)`; folds see every step."""

from adversarium.probes.bracket import CertifiedError, bracket, certified_margin
from adversarium.probes.errors import (
    Error,
    risk,
    robust_train_error,
    strong_attacks,
    train_error,
    worst_margin,
)
from adversarium.probes.features import (
    largest_signal,
    least_memorised,
    median_memorised,
    most_memorised,
    nonrobust_feature,
    nonrobust_features,
    robust_feature,
    robust_features,
    true_feature,
)
from adversarium.probes.folds import FirstTime, Total, Worst
from adversarium.probes.regret import RegretExcess, path_length, worst_loss
from adversarium.probes.scene import Scene

__all__ = [
    "CertifiedError",
    "Error",
    "FirstTime",
    "RegretExcess",
    "Scene",
    "Total",
    "Worst",
    "bracket",
    "certified_margin",
    "largest_signal",
    "least_memorised",
    "median_memorised",
    "most_memorised",
    "nonrobust_feature",
    "nonrobust_features",
    "path_length",
    "risk",
    "robust_feature",
    "robust_features",
    "robust_train_error",
    "strong_attacks",
    "train_error",
    "true_feature",
    "worst_loss",
    "worst_margin",
]
