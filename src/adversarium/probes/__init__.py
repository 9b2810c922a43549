"""Measurements of a state: `probe(state, scene)`; folds see every step."""

from adversarium.probes.bracket import CertifiedError
from adversarium.probes.doubts import attacked_softmax_tails, softmax_tails
from adversarium.probes.errors import (
    Error,
    ErrorByRadius,
    risk,
    robust_train_error,
    train_error,
)
from adversarium.probes.feature_energies import (
    feature_energy,
    robust_feature_energy,
    typical_feature_energy,
)
from adversarium.probes.features import (
    largest_signal,
    least_memorised,
    median_memorised,
    memorised,
    most_memorised,
    nonrobust_feature,
    nonrobust_features,
    robust_feature,
    robust_features,
    true_feature,
)
from adversarium.probes.folds import At, FirstTime, Total, Worst
from adversarium.probes.kept_recursion import KeptRecursion
from adversarium.probes.margins import (
    active_units,
    direction_error,
    max_margin_gap,
    unit_drift,
)
from adversarium.probes.measuring import measures
from adversarium.probes.memorisation import (
    Decay,
    NoiseResidual,
    attacked_doubt,
    conclusion,
    memory_share,
    predicted_level,
    predicted_times,
    signals,
)
from adversarium.probes.open_constants import (
    OpenConstants,
    fresh_shares,
    growth_constant,
    scaled_tail,
)
from adversarium.probes.recursions import (
    FeatureRecursion,
    GrowthLaw,
    OffDiagonalGrowth,
    attacked_off_span,
    off_feature_drift,
    printed_attack_error,
    weights_off_span,
)
from adversarium.probes.regret import WorstRegret, path_length, worst_loss
from adversarium.probes.scene import Scene
from adversarium.probes.stages import ForeignRatio, GrowthRange, NoiseRemainder
from adversarium.probes.two_features import (
    FeatureError,
    InnerGap,
    SwappedError,
    attacked_outputs,
    class_logits,
    decomposition,
    foreign_nonrobust,
    foreign_robust,
    noise_correlations,
    nonrobust_total,
    outputs,
)

__all__ = [
    "At",
    "CertifiedError",
    "Decay",
    "Error",
    "ErrorByRadius",
    "FeatureError",
    "FeatureRecursion",
    "FirstTime",
    "ForeignRatio",
    "GrowthLaw",
    "GrowthRange",
    "InnerGap",
    "KeptRecursion",
    "NoiseRemainder",
    "NoiseResidual",
    "OffDiagonalGrowth",
    "OpenConstants",
    "Scene",
    "SwappedError",
    "Total",
    "Worst",
    "WorstRegret",
    "active_units",
    "attacked_doubt",
    "attacked_off_span",
    "attacked_outputs",
    "attacked_softmax_tails",
    "class_logits",
    "conclusion",
    "decomposition",
    "direction_error",
    "feature_energy",
    "foreign_nonrobust",
    "foreign_robust",
    "fresh_shares",
    "growth_constant",
    "largest_signal",
    "least_memorised",
    "max_margin_gap",
    "measures",
    "median_memorised",
    "memorised",
    "memory_share",
    "most_memorised",
    "noise_correlations",
    "nonrobust_feature",
    "nonrobust_features",
    "nonrobust_total",
    "off_feature_drift",
    "outputs",
    "path_length",
    "predicted_level",
    "predicted_times",
    "printed_attack_error",
    "risk",
    "robust_feature",
    "robust_feature_energy",
    "robust_features",
    "robust_train_error",
    "scaled_tail",
    "signals",
    "softmax_tails",
    "train_error",
    "true_feature",
    "typical_feature_energy",
    "unit_drift",
    "weights_off_span",
    "worst_loss",
]
