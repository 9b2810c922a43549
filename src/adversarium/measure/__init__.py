"""Measurements of a state, `probe(state, scene)`, and folds, which accumulate over all steps."""

from adversarium.measure.bracket import CertifiedError
from adversarium.measure.errors import (
    Error,
    ErrorByRadius,
    risk,
    robust_train_error,
    train_error,
)
from adversarium.measure.features import FeatureAccuracy, FeatureAttack, inverted, matched
from adversarium.measure.folds import At, FirstTime, Total, Worst
from adversarium.measure.landscape import LandscapeProbe, loss_landscape
from adversarium.measure.losses import ExcessRisk, Loss
from adversarium.measure.measuring import measures
from adversarium.measure.scene import Scene
from adversarium.measure.times import preparation_seconds, training_seconds

__all__ = [
    "At",
    "CertifiedError",
    "Error",
    "ErrorByRadius",
    "ExcessRisk",
    "FeatureAccuracy",
    "FeatureAttack",
    "FirstTime",
    "LandscapeProbe",
    "Loss",
    "Scene",
    "Total",
    "Worst",
    "inverted",
    "loss_landscape",
    "matched",
    "measures",
    "preparation_seconds",
    "risk",
    "robust_train_error",
    "train_error",
    "training_seconds",
]
