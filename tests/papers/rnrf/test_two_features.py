"""The measures of RNRF agree with their definitions, on random weights."""

import torch

from adversarium.data import TwoFeaturePatches
from adversarium.measure.scene import Scene
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.theory.feature_energies import feature_energy
from adversarium.papers.rnrf.theory.two_features import (
    FeatureError,
    foreign_nonrobust,
    foreign_robust,
    nonrobust_total,
    only,
    outputs,
)
from adversarium.rng import normal, stream
from adversarium.training import Problem, Recipe, WeightState


def random_state(k=3):
    data = TwoFeaturePatches(k=k, d=12, P=5, n_robust=2)
    problem = Problem(data, SmoothedCNN(m=4), None, Recipe(n=30, steps=1, eta=0.1), (0, 1))
    state = WeightState(problem, 0, 0.4 * normal((2, k, 4, 12), stream(3, "W")))
    return state, Scene(problem)


def test_foreign_correlations_are_the_largest_off_the_diagonal():
    state, scene = random_state()
    W = state.W
    for probe, offset in ((foreign_robust, 0), (foreign_nonrobust, 3)):
        slow = [
            max(
                float(W[s, i, r, offset + j])
                for i in range(3)
                for r in range(4)
                for j in range(3)
                if i != j
            )
            for s in range(2)
        ]
        assert torch.allclose(probe(state, scene), torch.tensor(slow).double())


def test_totals_and_energies_follow_their_formulas():
    state, scene = random_state()
    W = state.W
    for i in range(3):
        expected = W[:, i, :, 3 + i].clamp_min(0).pow(3).sum(-1)
        assert torch.allclose(nonrobust_total(state, scene)[:, i], expected)
    shares = []
    for i in range(3):
        best = W[:, i, :, 3 + i].argmax(-1)
        w = W[torch.arange(2), i, best]
        shares.append(w[:, :6].square().sum(-1) / w.square().sum(-1))
    assert torch.allclose(feature_energy(state, scene), torch.stack(shares).amin(0))


def test_outputs_are_the_true_logit_and_the_softmax_doubt():
    state, scene = random_state()
    y, F = scene.train.y, state.f(scene.train.x)
    found = outputs(state, scene)
    pi = F.softmax(-1).gather(-1, y[..., None]).squeeze(-1)
    own = F.gather(-1, y[..., None]).squeeze(-1)
    assert torch.allclose(found["true_logit"], own.mean(-1))
    assert torch.allclose(found["doubt"], (1 - pi).mean(-1))
    assert torch.allclose(found["log_doubt"], (1 - pi).log().mean(-1))
    assert (found["class_balance"] <= 1).all()


def test_feature_sets_keep_one_kind_of_signal_and_all_noise():
    state, scene = random_state()
    batch = scene.test(50)
    for keep, kept in (("robust", batch.is_robust), ("nonrobust", ~batch.is_robust)):
        x = only(batch, keep, 3).x
        assert torch.allclose(x[~kept], batch.noise[~kept], atol=1e-12)
        assert torch.equal(x[kept], batch.x[kept])
    # a network that reads the robust features alone is perfect on one set and lost on the other
    W = torch.zeros_like(state.W)
    W[:, torch.arange(3), :, torch.arange(3)] = 5.0
    reader = WeightState(scene.problem, 0, W)
    assert (FeatureError("robust", 200)(reader, scene) < 0.02).all()
    assert (FeatureError("nonrobust", 200)(reader, scene) > 0.4).all()
