"""The engine whose step is one CUDA graph makes the steps of the engine sgd."""

import math
from dataclasses import replace

import pytest
import torch

from adversarium.attacks import FGSM, PGD, NoisyFGSM
from adversarium.data import Clusters, Digits
from adversarium.networks import Module, TwoLayer, resnet9, small_cnn
from adversarium.training import ENGINES, SGD, Adam, CropFlip, Problem, Recipe, Risk, train
from adversarium.training.engines.captured import TimedState

NETWORK = Module(build=small_cnn, options={"width": 3})
BOX = (0.0, 1.0)
SMALL = PGD(radius=0.1, steps=2, start="uniform", loss="cross_entropy", best=False, box=BOX)


def problem(attack=None, network=NETWORK, seeds=(0, 1), **options):
    optimiser = SGD(batch=20, **options)
    recipe = Recipe(n=50, steps=7, eta=0.05, optimiser=optimiser)  # 20 + 20, then a new order
    return Problem(Digits(), network, attack, recipe, seeds)


def last(name, given):
    *_, joined = train(ENGINES[name], (given,))
    (state,) = ENGINES[name].split(joined)
    return state


def furthest(a, b):
    return max(float((a.W[name] - b.W[name]).abs().max()) for name in a.W if a.W[name].numel())


@pytest.mark.parametrize(
    "options",
    [{}, {"weight_decay": 0.01, "schedule": "constant"}, {"average": 0.8, "momentum": 0.5}],
    ids=["cosine", "decay", "average"],
)
def test_without_noise_its_steps_are_those_of_sgd(options):
    given = problem(**options)
    assert furthest(last("captured", given), last("sgd", given)) < 1e-12


def test_batch_statistics_are_those_of_sgd():
    network = Module(build=resnet9, options={"width": 2})
    given = problem(network=network)
    assert furthest(last("captured", given), last("sgd", given)) < 1e-10


def test_an_attack_without_noise_is_that_of_sgd():
    given = problem(attack=NoisyFGSM(radius=0.1, noise=0.0, box=BOX))
    assert furthest(last("captured", given), last("sgd", given)) < 1e-12


def test_attacks_and_crops_have_the_noise_of_their_seed():
    given = problem(attack=SMALL, augment=CropFlip(pad=1))
    both, alone = last("captured", given), last("captured", replace(given, seeds=(1,)))
    again = last("captured", given)
    assert furthest(both, again) == 0
    name = next(iter(both.W))
    assert torch.allclose(both.W[name][1], alone.W[name][0], atol=1e-12)
    assert not torch.allclose(both.W[name][0], both.W[name][1])
    assert furthest(both, last("sgd", given)) > 1e-6  # other noise of the same distribution


def test_a_state_keeps_its_weights_while_training_goes_on():
    engine, given = ENGINES["captured"], problem(attack=SMALL)
    walk = train(engine, (given,))
    for _ in range(3):
        lap = next(walk)
    (state,) = engine.split(lap)
    before = {name: w.clone() for name, w in state.W.items()}
    for _ in walk:
        pass
    assert all(torch.equal(state.W[name], before[name]) for name in before)
    assert isinstance(state, TimedState) and state.seconds > 0


@pytest.mark.parametrize(
    "change",
    [
        {"attack": FGSM(radius=0.1)},
        {"attack": PGD(radius=0.1, steps=2)},
        {"attack": replace(SMALL, p=2.0)},
        {"data": Clusters(d=3, mu=1.0), "network": TwoLayer(m=2)},
        {"recipe": Recipe(n=50, steps=1, eta=0.1, optimiser=Adam(batch=20))},
        {"recipe": Recipe(n=10, steps=1, eta=0.1, optimiser=SGD(batch=20))},
        {"recipe": Recipe(n=50, steps=1, eta=0.1, optimiser=SGD(batch=20), risk=Risk(lam=0.5))},
        {"recipe": Recipe(n=50, steps=1, eta=0.1, optimiser=SGD(batch=20, augment=math.sin))},
    ],
)
def test_what_it_cannot_run_is_refused(change):
    given = problem()
    parts = dict(data=given.data, network=NETWORK, attack=None, recipe=given.recipe) | change
    assert ENGINES["captured"].refuses(**parts).startswith("captured needs")
