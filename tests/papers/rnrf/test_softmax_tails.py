"""The softmax probability of the wrong classes."""

import math
from dataclasses import replace

import torch

from adversarium.data import TwoFeaturePatches
from adversarium.measure.scene import Scene
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.theory.softmax_tails import softmax_tails
from adversarium.papers.rnrf.theory.two_features import SwappedError, class_logits, outputs
from adversarium.training import Problem, Recipe, WeightState


def started(d=8, **more):
    data = TwoFeaturePatches(k=3, d=d, P=4, balanced=True, **more)
    problem = Problem(
        data, SmoothedCNN(m=3, sigma0=1.0), None, Recipe(n=9, steps=1, eta=0.1), (0, 1)
    )
    return WeightState(problem, 0, problem.W0), Scene(problem)


def test_tails_are_those_of_the_softmax_at_fitted_points():
    state, scene = started()
    rows, y = softmax_tails(state, scene), scene.train.y
    F = state.f(scene.train.x)
    for s in range(2):
        p, own = F[s].softmax(-1), F[s].gather(-1, y[s][:, None])[:, 0]
        right = p.gather(-1, y[s][:, None])[:, 0]
        wrong = p.scatter(-1, y[s][:, None], -1.0)
        fitted = own >= math.log(8) / 2
        assert fitted.any() and not fitted.all()
        scaled = ((1 - right) * own.exp())[fitted].max()
        assert torch.isclose(rows["scaled_doubt"][s], scaled)
        assert torch.isclose(rows["scaled_wrong"][s], (wrong.amax(-1) * own.exp())[fitted].max())
        assert torch.isclose(rows["least_doubt"][s], (1 - right).min())
        assert torch.isclose(rows["largest_wrong"][s], 3 * wrong.max())
        assert torch.isclose(rows["least_wrong"][s], 3 * wrong[wrong >= 0].min())


def test_class_logits_average_to_the_true_logit_of_a_balanced_set():
    state, scene = started()
    mean = class_logits(state, scene).mean(-1)
    assert torch.allclose(mean, outputs(state, scene)["true_logit"])


def test_the_replacement_turns_a_network_of_non_robust_features_into_the_new_class():
    state, scene = started(sigma_n=0.0)
    W = torch.zeros_like(state.W)
    W[:, :, :, 3:6] = torch.eye(3).double()[:, None]
    assert SwappedError(1.2, 50)(replace(state, W=W), scene).max() == 0
    W[:, :, :, 3:6], W[:, :, :, :3] = 0, torch.eye(3).double()[:, None]
    assert SwappedError(1.2, 50)(replace(state, W=W), scene).min() == 1
