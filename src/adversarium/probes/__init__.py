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
from adversarium.probes.folds import At, FirstTime, Total, Worst
from adversarium.probes.regime import C_eff
from adversarium.probes.regret import WorstRegret, path_length, worst_loss
from adversarium.probes.scene import Scene
from adversarium.probes.two_features import (
    FeatureError,
    feature_energy,
    foreign_nonrobust,
    foreign_robust,
    nonrobust_total,
    outputs,
)

__all__ = [
    "C_eff",
    "At",
    "CertifiedError",
    "Error",
    "FeatureError",
    "FirstTime",
    "Scene",
    "Total",
    "Worst",
    "WorstRegret",
    "bracket",
    "certified_margin",
    "feature_energy",
    "foreign_nonrobust",
    "foreign_robust",
    "largest_signal",
    "least_memorised",
    "median_memorised",
    "most_memorised",
    "nonrobust_feature",
    "nonrobust_features",
    "nonrobust_total",
    "outputs",
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
