"""Probes and folds on states for which the result is known."""

import pytest
import torch

from adversarium.attacks import APGD, GTA, strong_attacks
from adversarium.data import PatchData, TwoFeaturePatches
from adversarium.measure.errors import Error, worst_margin
from adversarium.measure.folds import FirstTime, Total, Worst
from adversarium.measure.scene import Scene
from adversarium.networks import CubicCNN, SmoothedCNN
from adversarium.papers.cgro.theory.features import (
    largest_signal,
    least_memorised,
    most_memorised,
    true_feature,
)
from adversarium.papers.rnrf.theory.features import (
    nonrobust_features,
    robust_feature,
    robust_features,
)
from adversarium.rng import normal, stream
from adversarium.training import Problem, Recipe, WeightState, choose, train


def test_feature_probes_read_the_right_coordinates():
    data = TwoFeaturePatches(k=2, d=8, P=3)
    problem = Problem(data, SmoothedCNN(m=4), None, Recipe(n=5, steps=1, eta=0.1), (0, 1, 2))
    W = normal((3, 2, 4, 8), stream(0, "W"))
    state, scene = WeightState(problem, 0, W), Scene(problem)
    for i in range(2):
        assert torch.equal(robust_features(state, scene)[:, i], W[:, i, :, i].amax(-1))
        assert torch.equal(nonrobust_features(state, scene)[:, i], W[:, i, :, 2 + i].amax(-1))
    assert torch.allclose(robust_feature(state, scene), robust_features(state, scene).mean(-1))


def test_margin_splits_into_signal_and_noise():
    """y f(X) = α³U + V and y f(X^adv) = α³(1 − γ)³U + V for every W and γ, §4.1 of CGRO."""
    data = PatchData(d=7, P=4, alpha=1.7, sigma=0.4)
    for gamma in (0.0, 0.3, 0.95):
        attack = GTA(gamma=gamma)
        recipe = Recipe(n=6, steps=3, eta=0.1)
        problem = Problem(data, CubicCNN(m=3, sigma0=0.4), attack, recipe, (0, 1))
        engine, _ = choose(data, problem.network, attack, recipe)
        scene = Scene(problem)
        for joined in train(engine, (problem,)):
            (state,) = engine.split(joined)
            plain = WeightState(problem, state.t, state.W)
            signal = true_feature(state, scene)
            assert torch.allclose(signal, true_feature(plain, scene))
            assert torch.allclose(largest_signal(state, scene), largest_signal(plain, scene))
            V = plain.margin(problem.train) - signal[:, None]
            assert torch.allclose(least_memorised(state, scene), V.amin(-1), atol=1e-12)
            assert torch.allclose(most_memorised(plain, scene), V.amax(-1), atol=1e-12)
            robust = (1 - gamma) ** 3 * signal[:, None] + V
            assert torch.allclose(plain.margin(problem.train, attack), robust, atol=1e-12)


def test_errors_count_margins_at_zero_as_wrong_and_strong_attacks_only_add():
    data = PatchData(d=6, P=3, alpha=1.0, sigma=0.2)
    problem = Problem(data, CubicCNN(m=2, sigma0=0.5), None, Recipe(n=40, steps=1, eta=0.1), (0, 1))
    zero = WeightState(problem, 0, torch.zeros(2, 2, 6).double())
    scene = Scene(problem)
    assert (Error(n=50)(zero, scene) == 1).all()
    state = WeightState(problem, 0, problem.W0)
    clean = Error(n=200)(state, scene)
    last = clean
    for radius in (0.1, 0.3, 1.0):
        attacked = Error(n=200, attacks=(APGD(p=2, radius=radius, steps=15),))(state, scene)
        assert (attacked >= last).all()
        last = attacked
    assert (last > clean).any()


def test_folds_see_every_step():
    values = torch.tensor([[0.0, 5.0], [2.0, 1.0], [1.0, float("nan")], [4.0, 0.0]])

    def probe(state, scene):
        return values[state.t]

    data = PatchData(d=4, P=2, alpha=1.0, sigma=0.2)
    problem = Problem(data, CubicCNN(m=2, sigma0=0.5), None, Recipe(n=3, steps=3, eta=0.1), (0, 1))
    scene = Scene(problem)
    folds = (FirstTime(probe, 2.0), Worst(probe), Total(probe), FirstTime(probe, 99.0))
    late, never = Worst(probe, after=3), Worst(probe, after=4)
    memory = dict.fromkeys((*folds, late, never))
    for t in range(4):
        state = WeightState(problem, t, problem.W0)
        memory = {f: f.see(m, state, scene) for f, m in memory.items()}
    rows = {k: v for f in folds for k, v in f.rows(memory[f]).items()}
    assert rows["first_time(probe >= 2)"].tolist() == [1.0, 0.0]
    assert rows["worst(probe)"][0] == 4 and rows["step of worst(probe)"][0] == 3
    assert rows["worst(probe)"].isnan().tolist() == [False, True]
    assert rows["step of worst(probe)"][1] == 2
    assert rows["total(probe)"][0] == 7
    assert rows["first_time(probe >= 99)"].isnan().all()
    assert late.rows(memory[late])["worst(probe)"].tolist() == [4.0, 0.0]
    assert never.rows(memory[never]) == {}


def test_test_points_are_drawn_once_and_apart_from_training():
    data = PatchData(d=6, P=3, alpha=1.0, sigma=0.2)
    problem = Problem(data, CubicCNN(m=2, sigma0=0.5), None, Recipe(n=10, steps=1, eta=0.1), (0,))
    scene = Scene(problem)
    assert scene.test(10) is scene.test(10)
    assert not torch.equal(scene.test(10).x, scene.train.x)
    with pytest.raises(ValueError, match="n >= 1"):
        Recipe(n=0, steps=1, eta=0.1)


def test_a_margin_that_is_no_number_is_an_error():
    data = PatchData(d=6, P=3, alpha=1.0, sigma=0.2)
    problem = Problem(data, CubicCNN(m=2, sigma0=0.5), None, Recipe(n=10, steps=1, eta=0.1), (0,))
    lost = WeightState(problem, 0, torch.full((1, 2, 6), float("nan")).double())
    attacked = Error(n=20, attacks=(APGD(p=2, radius=0.1, steps=5),))
    assert Error(n=20)(lost, Scene(problem)) == 1 == attacked(lost, Scene(problem))


def test_robust_errors_of_a_seed_do_not_depend_on_the_others():
    data = PatchData(d=6, P=3, alpha=1.0, sigma=0.2)
    recipe = Recipe(n=30, steps=1, eta=0.1)
    suite = strong_attacks(2, 0.2, 1, steps=8)
    found = {}
    for seeds in ((3,), (1, 3, 4)):
        problem = Problem(data, CubicCNN(m=2, sigma0=0.5), None, recipe, seeds)
        state = WeightState(problem, 0, problem.W0)
        found[seeds] = worst_margin(state, problem.train, suite)[seeds.index(3)]
    assert torch.allclose(found[3,], found[1, 3, 4], atol=1e-12)
