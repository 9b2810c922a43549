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
from adversarium.probes.recursions import (
    FeatureRecursion,
    GrowthLaw,
    NoiseUpdate,
    OffDiagonalGrowth,
    attacked_off_span,
    off_feature_drift,
    printed_attack_error,
    weights_off_span,
)
from adversarium.probes.regime import C_eff
from adversarium.probes.regret import WorstRegret, path_length, worst_loss
from adversarium.probes.scene import Scene
from adversarium.probes.two_features import (
    FeatureError,
    InnerGap,
    attacked_outputs,
    feature_energy,
    foreign_nonrobust,
    foreign_robust,
    noise_correlations,
    nonrobust_total,
    outputs,
)

__all__ = [
    "C_eff",
    "At",
    "CertifiedError",
    "Error",
    "FeatureError",
    "FeatureRecursion",
    "FirstTime",
    "GrowthLaw",
    "InnerGap",
    "NoiseUpdate",
    "OffDiagonalGrowth",
    "Scene",
    "Total",
    "Worst",
    "WorstRegret",
    "attacked_off_span",
    "attacked_outputs",
    "bracket",
    "certified_margin",
    "feature_energy",
    "foreign_nonrobust",
    "foreign_robust",
    "largest_signal",
    "least_memorised",
    "median_memorised",
    "most_memorised",
    "noise_correlations",
    "nonrobust_feature",
    "nonrobust_features",
    "nonrobust_total",
    "off_feature_drift",
    "outputs",
    "path_length",
    "printed_attack_error",
    "risk",
    "robust_feature",
    "robust_features",
    "robust_train_error",
    "strong_attacks",
    "train_error",
    "true_feature",
    "weights_off_span",
    "worst_loss",
    "worst_margin",
]
