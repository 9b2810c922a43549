"""Distributions: `sample(n, rng)` returns a batch of inputs, labels and latent variables."""

from adversarium.data.clusters import ClusterBatch, Clusters
from adversarium.data.hyperplane import CellBatch, HyperplaneCells
from adversarium.data.images import Digits, ImageBatch, Images
from adversarium.data.marginals import (
    Gauss,
    GaussLaplace,
    Mixed,
    Quartic,
    Skew,
    TruncatedGauss,
    overlap,
)
from adversarium.data.margins import MarginBatch, MarginMixture
from adversarium.data.patches import PatchBatch, PatchData
from adversarium.data.regression import LinearResponse, RegressionBatch
from adversarium.data.sphere import SphereBatch, SpherePoints
from adversarium.data.two_features import TwoFeatureBatch, TwoFeaturePatches
from adversarium.data.zero_one import VectorBatch, ZeroOne

__all__ = [
    "CellBatch",
    "ClusterBatch",
    "Clusters",
    "Digits",
    "Gauss",
    "GaussLaplace",
    "HyperplaneCells",
    "ImageBatch",
    "Images",
    "LinearResponse",
    "MarginBatch",
    "MarginMixture",
    "Mixed",
    "PatchBatch",
    "PatchData",
    "Quartic",
    "RegressionBatch",
    "Skew",
    "SphereBatch",
    "SpherePoints",
    "TruncatedGauss",
    "TwoFeatureBatch",
    "TwoFeaturePatches",
    "VectorBatch",
    "ZeroOne",
    "overlap",
]
