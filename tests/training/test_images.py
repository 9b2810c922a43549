"""Training on images: one copy of the data, bounded memory, schedules, augmentation."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import nn

import adversarium as av
from adversarium.attacks import PGD, NoisyFGSM
from adversarium.data import Digits
from adversarium.measure import Error, risk, train_error
from adversarium.networks import Module, small_cnn
from adversarium.plans.run import Run
from adversarium.rng import streams
from adversarium.runs import jobs
from adversarium.runs.jobs import is_large, resolve, units
from adversarium.training import (
    SGD,
    Adam,
    CropFlip,
    Piecewise,
    Problem,
    Recipe,
    Triangular,
    checkpoints,
    states,
)
from adversarium.training.engines.sgd import Stochastic


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


def test_on_a_cpu_seeds_whose_batches_fill_a_core_are_trained_one_at_a_time(monkeypatch):
    asked = [(resolve(run()), (0, 1, 2)), (resolve(run(eta=0.1)), (0, 1))]
    together = units(asked, "cpu")  # small images: blocks of seeds
    assert all(len(seeds) > 1 for unit in together for seeds in unit.seeds)
    monkeypatch.setattr(jobs, "FULL", 20 * 64)  # pixels in a batch
    waiting = units(asked, "cpu")
    assert [unit.seeds for unit in waiting] == [((s,),) for s in (0, 1, 2, 0, 1)]
    assert {unit.device for unit in waiting} == {"cpu"}
    assert len(units(asked, "cuda")) < 5
    alone = av.run(run(), seeds=[1])
    monkeypatch.undo()
    together = av.run(run(), seeds=[1])
    assert np.allclose(together["risk"], alone["risk"], rtol=1e-10)


def with_batch_norm(shape, k, width=4):
    return nn.Sequential(
        nn.Conv2d(shape[0], width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(4 * width, k),
    )  # fmt: skip


def walked(recipe, build=with_batch_norm, attack=None, seeds=(0, 1)):
    """Return all states of a training by minibatches."""
    problem = Problem(Digits(), Module(build=build), attack, recipe, seeds=seeds)
    engine = Stochastic()
    walks = [engine.init([problem])]
    for _ in range(recipe.steps):
        walks.append(engine.step(walks[-1]))
    return [engine.split(walk)[0] for walk in walks]


def test_averaged_weights_are_measured_and_the_last_ones_are_trained():
    plain = Recipe(n=60, steps=12, eta=0.1, optimiser=SGD(batch=20))
    rule = replace(plain, optimiser=SGD(batch=20, average=0.5))
    last, average = walked(plain), walked(rule)
    wanted = {name: w.clone() for name, w in last[0].W.items()}
    for t in range(plain.steps):
        share = min(0.5, (1 + t) / (10 + t))
        for name, w in last[t + 1].W.items():
            kept = w.is_floating_point()
            wanted[name] = share * wanted[name] + (1 - share) * w if kept else w
    for name, w in average[-1].W.items():
        assert torch.allclose(w, wanted[name], rtol=1e-12), name
    assert not torch.equal(average[-1].W["0.weight"], last[-1].W["0.weight"])


def test_a_training_with_an_average_continues_from_its_checkpoint(tmp_path):
    optimiser = SGD(batch=20, average=0.9, attack_mode="training")
    recipe = Recipe(n=60, steps=8, eta=0.05, optimiser=optimiser)
    attack = PGD(radius=0.1, steps=2, start="uniform", box=(0.0, 1.0))
    whole = walked(recipe, attack=attack)[-1]

    def problem():
        network = Module(build=with_batch_norm)
        return Problem(Digits(), network, attack, recipe, seeds=(0, 1))

    engine, file = Stochastic(), tmp_path / "saved"
    walk = engine.init([problem()])
    for _ in range(3):
        walk = engine.step(walk)
    checkpoints.write(file, walk, None, {})
    other, _ = checkpoints.read(file, engine.init([problem()]), "cpu")
    for _ in range(5):
        other = engine.step(other)
    ended = engine.split(other)[0].W
    assert all(torch.equal(w, ended[name]) for name, w in whole.W.items())


@pytest.mark.parametrize("build", (small_cnn, with_batch_norm))
def test_an_attack_in_training_mode_sees_the_statistics_of_its_batch(build):
    attack = PGD(radius=0.1, steps=2, loss="cross_entropy", box=(0.0, 1.0))
    plain = Recipe(n=60, steps=3, eta=0.05, optimiser=SGD(batch=20))
    mode = replace(plain, optimiser=SGD(batch=20, attack_mode="training"))
    ends = [walked(recipe, build, attack)[-1].W for recipe in (plain, mode)]
    same = all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
    assert same == (build is small_cnn)
    if build is with_batch_norm:  # the attack itself leaves no trace in the running statistics
        assert torch.equal(ends[0]["1.num_batches_tracked"], ends[1]["1.num_batches_tracked"])


@pytest.mark.parametrize(
    "attack",
    (
        NoisyFGSM(radius=0.1, noise=1.0, box=(0.0, 1.0)),
        PGD(radius=0.1, steps=1, step=0.125, start="uniform", best=False, box=(0.0, 1.0)),
    ),
)
def test_fast_adversarial_training_lowers_the_robust_error(attack):
    strong = PGD(radius=0.1, steps=10, box=(0.0, 1.0))
    job = run(attack=attack, n=600, steps=500, eta=0.1, optimiser=SGD(batch=50), dtype="float32",
              network=Module(build=small_cnn, options={"width": 8}), probes=(),
              final=(Error(n=300, attacks=(strong,)),))  # fmt: skip
    clean = replace(job, attack=None)
    robust, weak = (av.run(one, seeds=range(1))["robust_test_error"][0, -1] for one in (job, clean))
    assert robust < weak - 0.2
