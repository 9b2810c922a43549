"""Feature inversion and feature-matching attacks, compared with representations that have closed
forms, and on the digits with references."""

import math
from dataclasses import replace

import pytest
import torch

import adversarium as av
from adversarium.attacks import PGD, Ball
from adversarium.data import Digits
from adversarium.measure import Scene, features
from adversarium.measure.features import FeatureAccuracy, FeatureAttack, inverted, matched
from adversarium.networks import Module, TwoLayer, small_cnn
from adversarium.plans.run import Run
from adversarium.rng import stream
from adversarium.training import ENGINES, SGD, Problem, Recipe, train

ATTACK = PGD(radius=0.1, steps=2, box=(0.0, 1.0))
NETWORK = Module(build=small_cnn, options={"width": 4, "hidden": 6, "activation": "leaky"})
RECIPE = Recipe(n=400, steps=160, eta=0.1, optimiser=SGD(batch=50, momentum=0.9))


def problem(attack=None, seeds=(0, 1)):
    return Problem(Digits(n_test=100), NETWORK, attack, RECIPE, seeds)


def trained(given):
    *_, walk = train(ENGINES["sgd"], (given,))
    return ENGINES["sgd"].split(walk)[0]


def test_an_invertible_map_is_inverted_and_an_image_of_another_class_is_left():
    turn = torch.linalg.qr(torch.randn(4, 4, generator=stream(0, "q")).double()).Q
    x = 0.2 + 0.6 * torch.rand(1, 3, 4, generator=stream(0, "x")).double()
    found, residual = inverted(lambda z: z @ turn, x @ turn, 0 * x, 2, steps=400)
    assert torch.allclose(found, x, atol=1e-2)
    assert bool((residual < 1e-2).all())


def test_a_map_with_a_kernel_keeps_the_start_in_the_kernel():
    x, start = torch.tensor([[0.9, 0.9]]).double(), torch.tensor([[0.1, 0.3]]).double()
    found, residual = inverted(lambda z: z[:, :1], x[:, :1], start)
    assert found[0, 0].item() == pytest.approx(0.9, abs=1e-2)
    assert found[0, 1] == start[0, 1]
    assert float(residual) < 1e-2


def test_matching_moves_to_the_nearest_representation_in_the_ball():
    x, aim = torch.full((1, 2, 3), 0.5).double(), torch.tensor([0.9, 0.5, 0.0]).double()
    ball = Ball(math.inf, 0.2, (0.0, 1.0))
    moved = matched(lambda z: z, x, aim.expand(1, 2, 3), ball, 2)
    assert torch.allclose(moved, torch.tensor([0.7, 0.5, 0.3]).double().expand(1, 2, 3), atol=0.03)
    assert bool(((moved - x).abs() <= 0.2 + 1e-12).all())


def test_the_rates_of_a_reference_that_is_the_learner_itself_equal_clean_accuracy(monkeypatch):
    state = trained(problem())
    monkeypatch.setattr(features, "reference_weights", lambda problem, attack: state.W)
    monkeypatch.setattr(features, "_once", lambda problem, about, make: make())
    probe = FeatureAccuracy(attack=ATTACK, n=40, steps=300)
    rows = probe(state, Scene(state.problem))
    assert rows["fla_nr_noise"].tolist() == pytest.approx(
        rows["fla_clean_noise"].tolist(), abs=0.06
    )
    assert float(rows["fla_clean_noise"].min()) > 0.5
    assert bool((rows["fla_untrained_noise"] < rows["fla_clean_noise"] - 0.2).all())


def test_references_have_the_next_seed_and_the_given_attack():
    features._kept.clear()
    W = features.reference_weights(problem(ATTACK), None)
    alone = trained(problem(None, seeds=(1, 2))).W
    assert all(torch.equal(W[name], alone[name]) for name in alone)
    again = features.reference_weights(problem(None), None)
    assert again is W  # learners of both kinds have the same references


def test_the_sets_do_not_depend_on_the_learner_and_the_probe_records_its_controls():
    probe = FeatureAccuracy(attack=ATTACK, n=20, steps=5, start="image")
    scenes = [Scene(problem(attack)) for attack in (None, ATTACK)]
    first, second = (probe.sets(scene)["nr"] for scene in scenes)
    assert torch.equal(first.x, second.x)
    network = replace(NETWORK)
    run = Run(data=Digits(n_test=100), network=network, n=200, steps=2, eta=0.05, probes=(),
              optimiser=SGD(batch=50), final=(probe,))  # fmt: skip
    rows = av.run(run, range(2)).rows.series
    assert set(rows) == {m.name for m in probe.measures}
    assert all((rows[name].values >= 0).all() for name in rows)


def test_attacks_stay_in_the_ball_and_no_attack_is_the_confusion_of_the_network():
    probe = FeatureAttack(attack=ATTACK, pairs=((3, 8),), radius=0.1, n=100, draws=2, steps=5)
    state = trained(problem())
    scene = Scene(state.problem)
    moved = probe._moved(scene)
    for images in (one for pairs in moved for one in pairs):
        for z in images.values():
            assert bool(((z - images["none"]).abs() <= 0.1 + 1e-9).all())
            assert bool(((z >= 0) & (z <= 1)).all())
    rates = probe(state, scene)
    batch = scene.test(100)
    predicted = state.f(batch.x).argmax(-1)
    three = batch.y[0] == 3
    confusion = float((predicted[0, three] == 8).double().mean())
    assert float(rates["success_none"].values[0, 0]) == pytest.approx(confusion)


def test_a_measure_of_features_refuses_what_it_cannot_use():
    with pytest.raises(ValueError, match="start='noise' or 'image'"):
        FeatureAccuracy(attack=ATTACK, n=1)
    with pytest.raises(ValueError, match="different classes"):
        FeatureAttack(attack=ATTACK, pairs=((1, 1),), radius=0.1)
    plain = Problem(Digits(n_test=100), TwoLayer(m=4), None, RECIPE, (0,))
    with pytest.raises(TypeError, match="Module"):
        FeatureAccuracy(attack=ATTACK)._weights(Scene(plain))
