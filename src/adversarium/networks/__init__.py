"""Learners: `init(rng, shape, k)` draws weights, `f(W, x)` is a pure function of them.

W and x may both have a leading replica axis. f returns one number per point (a binary
classifier, labels ±1) or k logits.
"""

from adversarium.networks.activations import LeakyReLU, Power, ReLU, SmoothedLeakyReLU, SmoothedReLU
from adversarium.networks.cubic_cnn import CubicCNN, cubic_cnn
from adversarium.networks.mixed import MixedLearner
from adversarium.networks.modules import Module
from adversarium.networks.patch_cnn import PatchCNN
from adversarium.networks.perceptron import Perceptron
from adversarium.networks.smooth import Erf, QuadraticReLU, Shifted, Softplus, Tanh
from adversarium.networks.smoothed_cnn import SmoothedCNN, smoothed_cnn, smoothed_relu
from adversarium.networks.two_layer import TwoLayer
from adversarium.networks.vision import (
    lenet5,
    preact_resnet18,
    resnet9,
    resnet18,
    small_cnn,
    wide_resnet,
)

__all__ = [
    "CubicCNN",
    "Erf",
    "LeakyReLU",
    "MixedLearner",
    "Module",
    "PatchCNN",
    "Perceptron",
    "Power",
    "QuadraticReLU",
    "ReLU",
    "Shifted",
    "SmoothedCNN",
    "SmoothedLeakyReLU",
    "SmoothedReLU",
    "Softplus",
    "Tanh",
    "TwoLayer",
    "cubic_cnn",
    "lenet5",
    "preact_resnet18",
    "resnet9",
    "resnet18",
    "small_cnn",
    "smoothed_cnn",
    "smoothed_relu",
    "wide_resnet",
]
