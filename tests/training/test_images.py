"""Training on images: one copy of the data, bounded memory, schedules, augmentation."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import nn

import adversarium as av
from adversarium.attacks import PGD
from adversarium.data import Digits
from adversarium.measure import Error, risk, train_error
from adversarium.networks import Module, small_cnn
from adversarium.plans.run import Run
from adversarium.rng import streams
from adversarium.runs import jobs
from adversarium.runs.jobs import is_large, resolve, units
from adversarium.training import SGD, Adam, CropFlip, Piecewise, Problem, Recipe, Triangular, states


def run(**changed) -> Run:
    return Run(
        **{
            "data": Digits(),
            "network": Module(build=small_cnn, options={"width": 3}),
            "n": 60,
            "steps": 6,
            "eta": 0.05,
            "optimiser": SGD(batch=20),
            "attack": PGD(radius=0.1, steps=2, loss="cross_entropy", box=(0.0, 1.0)),
            "probes": (risk, train_error),
            "final": (Error(n=70, name="test_error"), Error(n=70, attacks="training")),
            **changed,
        }
    )


def test_a_network_too_large_for_a_chunk_gets_the_same_numbers(monkeypatch):
    whole = av.run(run(), seeds=range(2))
    sizes = run().network.sizes((1, 8, 8), 10)
    monkeypatch.setattr(states, "CHUNK", 5 * sizes[1] * 7)  # seven points of a block of five
    calls = []
    f = Module.f
    monkeypatch.setattr(Module, "f", lambda self, W, x: calls.append(x.shape[1]) or f(self, W, x))
    pieces = av.run(run(), seeds=range(2))
    assert 7 in calls and 60 not in calls and 70 not in calls
    for name in whole:
        assert np.allclose(whole[name], pieces[name], rtol=1e-12, atol=1e-15), name


@dataclass(frozen=True)
class ByteBatch:
    """Images as bytes, or as numbers in [0, 1]."""

    x: torch.Tensor
    y: torch.Tensor


@dataclass(frozen=True, kw_only=True)
class Bytes:
    """Images as they are stored: one copy, one byte per pixel."""

    k = 10
    shape = (1, 8, 8)

    @property
    def pool(self) -> ByteBatch:
        whole = Digits().pool
        return ByteBatch((whole.x * 255).round().to(torch.uint8), whole.y)

    def indices(self, n, rng):
        return torch.randperm(len(self.pool.y), generator=rng)[:n]

    def sample(self, n, rng):
        chosen = self.indices(n, rng)
        return ByteBatch(self.pool.x[chosen].double() / 255, self.pool.y[chosen])


def test_seeds_share_one_copy_of_the_data_as_it_is_stored():
    recipe = Recipe(n=50, steps=2, eta=0.1, optimiser=SGD(batch=10))
    network = Module(build=small_cnn, options={"width": 2})
    problem = Problem(Bytes(), network, None, recipe, seeds=(0, 1, 2), dtype=torch.float32)
    problem.prepare()
    assert "train" not in vars(problem) and problem.pool.x.dtype == torch.uint8
    assert problem.pool.x.shape[0] == 1797  # not once per seed
    batch = problem.minibatch(torch.tensor([[4, 9]] * 3))
    assert batch.x.dtype == torch.float32 and batch.x.shape == (3, 2, 1, 8, 8)
    assert torch.equal(batch.x, problem.train.x[:, [4, 9]])
    assert torch.equal(batch.y, problem.train.y[:, [4, 9]])
    drawn = problem.draw(Bytes(), 50, "train")
    assert torch.allclose(drawn.x, problem.train.x) and torch.equal(drawn.y, problem.train.y)


@pytest.mark.parametrize("schedule", ["constant", "cosine", Triangular(), Piecewise(at=(0.5,))])
def test_every_schedule_trains(schedule):
    made = av.run(run(optimiser=SGD(batch=20, schedule=schedule), steps=4, final=()), seeds=[0])
    assert np.isfinite(made["risk"]).all()


def test_augmented_images_are_crops_and_reflections_of_the_padded_ones():
    x = torch.arange(2.0 * 3 * 1 * 4 * 4).reshape(2, 3, 1, 4, 4) + 1
    made = CropFlip(pad=1)(x, streams((0, 1), "augment"))
    again = CropFlip(pad=1)(x, streams((0, 1), "augment"))
    assert torch.equal(made, again) and made.shape == x.shape and not torch.equal(made, x)
    padded = torch.nn.functional.pad(x, (1, 1, 1, 1))
    for s in range(2):
        for i in range(3):
            crops = [padded[s, i, :, a : a + 4, b : b + 4] for a in range(3) for b in range(3)]
            crops += [crop.flip(-1) for crop in crops]
            assert any(torch.equal(made[s, i], crop) for crop in crops)


def test_what_an_optimiser_would_ignore_is_refused():
    with pytest.raises(ValueError, match="autocast has no effect on float64"):
        run(optimiser=SGD(batch=20, autocast="bfloat16"))
    with pytest.raises(ValueError, match="needs drop > 0 and shares"):
        Piecewise(drop=-1.0)


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # a processor without bfloat16
def test_augmentation_clipping_and_mixed_precision_run():
    for optimiser in (
        SGD(batch=20, augment=CropFlip(pad=1), clip=0.5),
        Adam(batch=20, autocast="bfloat16", clip=1.0),
    ):
        made = av.run(run(optimiser=optimiser, dtype="float32", final=()), seeds=range(2))
        assert np.isfinite(made["risk"]).all()
    plain = run(final=(), attack=None)
    free, bound = (
        av.run(replace(plain, optimiser=SGD(batch=20, clip=clip)), seeds=[0]).state(0, 1)
        for clip in (1e9, 1e-3)
    )
    start = av.run(plain, seeds=[0]).state(0, 0)

    def moved(state):
        gaps = [(state.W[n] - w).square().sum() for n, w in start.W.items() if w.numel()]
        return float(torch.stack(gaps).sum().sqrt())

    assert moved(bound) == pytest.approx(0.05 * 1e-3, rel=1e-6)
    assert moved(free) > moved(bound)


def wide(shape, k, width=64):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, k))


def test_seeds_of_a_large_network_are_trained_one_after_the_other(monkeypatch):
    one = run(network=Module(build=wide), final=())
    assert one.network.sizes((1, 8, 8), 10) == (64 * 64 + 64 + 640 + 10, 64)
    assert not is_large(one)
    together = av.run(one, seeds=range(3))
    monkeypatch.setattr(jobs, "LARGE", 1000)
    waiting = units([(resolve(one), (0, 1, 2))], "cpu")
    assert [unit.seeds for unit in waiting] == [((0,),), ((1,),), ((2,),)]
    alone = av.run(one, seeds=range(3))
    assert np.allclose(together["risk"], alone["risk"], rtol=1e-10)
