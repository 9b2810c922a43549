"""Modules are stateless values: the weights contain the entire state."""

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import grad, vmap

from adversarium.networks import Module, small_cnn
from adversarium.networks.modules import _skeleton
from adversarium.rng import normal, stream, torch_seeded
from adversarium.sockets import Batched, Learner

SHAPE, K = (1, 8, 8), 10


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.inner(x))


def residual(shape: tuple[int, ...], k: int, width: int = 4, blocks: int = 2) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(shape[0], width, 3, padding=1),
        nn.BatchNorm2d(width),
        *[Block(width) for _ in range(blocks)],
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(4 * width, k),
    )


def linear(shape: tuple[int, ...], k: int, dropout: float = 0.0) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(64, k))


class Noisy(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.flatten(1) + torch.randn(64, dtype=x.dtype))


def noisy(shape: tuple[int, ...], k: int) -> nn.Module:
    return Noisy(64, k)


def two_headed(shape: tuple[int, ...], k: int) -> nn.Module:
    return linear(shape, 2 * k)


def inputs(*lead: int, seed: int = 0) -> Tensor:
    return normal((*lead, *SHAPE), stream(seed, "x"))


def stacked(Ws: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: torch.stack([W[name] for W in Ws]) for name in Ws[0]}


def plain(build, seed: int) -> nn.Module:
    """Return the nn.Module from which init draws the weights."""
    with torch_seeded(stream(seed, "init")):
        return build(SHAPE, K).double()


def test_a_module_fits_its_sockets():
    assert isinstance(Module(build=residual), Learner)
    assert isinstance(Module(build=residual), Batched)


def test_a_module_of_another_shape_is_named():
    with pytest.raises(ValueError, match=r"the module of wrong does not take a point of shape"):
        Module(build=wrong).sizes((1, 8, 8), 4)


def wrong(shape, k):
    return nn.Sequential(nn.Flatten(), nn.Linear(3, k))


@pytest.mark.parametrize("build", (small_cnn, residual))
def test_equal_modules_are_interchangeable(build):
    one, other = (
        Module(build=build, options={"width": 3}),
        Module(build=build, options={"width": 3}),
    )
    W = one.init(stream(0, "init"), SHAPE, K)
    x = inputs(5)
    assert one == other
    assert torch.equal(one.f(W, x), other.f(W, x))
    assert one.buffers(W) == other.buffers(W)
    wide = Module(build=build, options={"width": 6})  # made since: it changes nothing
    wide.init(stream(0, "init"), (2, 4, 4), 3)
    assert torch.equal(one.f(W, x), other.f(W, x))


def test_one_module_serves_several_shapes_and_numbers_of_classes():
    network = Module(build=residual)
    for shape, k in (((1, 8, 8), 10), ((3, 4, 4), 2), ((1, 8, 8), 3)):
        W = network.init(stream(0, "init"), shape, k)
        assert network.f(W, torch.zeros(2, *shape).double()).shape == (2, k)


def test_weights_work_in_a_fresh_process(tmp_path):
    network = Module(build=small_cnn, options={"width": 3})
    W = stacked([network.init(stream(s, "init"), SHAPE, K) for s in (0, 1)])
    x = inputs(2, 5)
    np.savez(tmp_path / "W.npz", **{name: w.numpy() for name, w in W.items()})
    np.save(tmp_path / "x.npy", x.numpy())
    code = """
import sys, numpy as np, torch
from adversarium.networks import Module, small_cnn
torch.set_num_threads(1)
with np.load(sys.argv[1] + "/W.npz") as file:
    W = {name: torch.from_numpy(file[name]) for name in file.files}
x = torch.from_numpy(np.load(sys.argv[1] + "/x.npy"))
np.save(sys.argv[1] + "/F.npy", Module(build=small_cnn, options={"width": 3}).f(W, x).numpy())
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert torch.equal(torch.from_numpy(np.load(tmp_path / "F.npy")), network.f(W, x))


def test_nothing_grows_with_the_number_of_inits():
    network = Module(build=residual)
    x = inputs(2)

    def alive() -> tuple[int, int]:
        network.f(network.init(stream(0, "init"), SHAPE, K), x)
        gc.collect()
        modules = sum(issubclass(type(thing), nn.Module) for thing in gc.get_objects())
        return modules, _skeleton.cache_info().currsize

    before = alive()
    for seed in range(50):
        network.init(stream(seed, "init"), SHAPE, K)
    assert alive() == before


def test_training_with_batch_normalisation_is_that_of_the_plain_module():
    network, reference = Module(build=residual), plain(residual, 0).train()
    W = network.init(stream(0, "init"), SHAPE, K)
    before = {name: w.clone() for name, w in W.items()}
    for seed in range(3):
        x = inputs(6, seed=seed)
        F, buffers = network.trained_f(W, x)
        assert torch.allclose(F, reference(x), atol=1e-12)
        for name, buffer in reference.named_buffers():
            assert torch.allclose(buffers[name], buffer) and buffers[name].dtype == buffer.dtype
        W = {**W, **buffers}
    assert set(buffers) < network.buffers(W)
    assert torch.allclose(network.f(W, x), reference.eval()(x), atol=1e-12)
    assert not torch.allclose(network.f(W, x), F)
    fresh = network.init(stream(0, "init"), SHAPE, K)
    network.trained_f(fresh, x)
    network.f(fresh, x)
    assert all(torch.equal(fresh[name], before[name]) for name in fresh)  # pure


def test_replicas_with_batch_normalisation_equal_single_networks():
    network = Module(build=residual)
    Ws = [network.init(stream(s, "init"), SHAPE, K) for s in (0, 1, 2)]
    W, x = stacked(Ws), inputs(3, 6)
    F, buffers = network.trained_f(W, x)
    for i in range(3):
        alone, its_buffers = network.trained_f(Ws[i], x[i])
        assert torch.allclose(F[i], alone, atol=1e-12)
        assert torch.allclose(network.f(W, x)[i], network.f(Ws[i], x[i]), atol=1e-12)
        for name, buffer in its_buffers.items():
            assert torch.allclose(buffers[name][i], buffer)
    assert network.buffers(W) == network.buffers(Ws[0])


def test_gradients_of_replicas_at_once_and_one_by_one_agree():
    network = Module(build=residual)
    W = stacked([network.init(stream(s, "init"), SHAPE, K) for s in (0, 1)])
    x, names = inputs(2, 6), network.buffers(W)
    moving = {name: w for name, w in W.items() if name not in names}
    still = {name: w for name, w in W.items() if name in names}

    def risk(moving, still, x):
        F, buffers = network.trained_f({**moving, **still}, x)
        return F.square().sum(), buffers

    together = grad(risk, has_aux=True)(moving, still, x)
    apart = vmap(grad(risk, has_aux=True))(moving, still, x)
    for one, other in zip(together, apart, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.allclose(one[name], other[name], atol=1e-12) for name in one)
    assert not any(name in names for name in together[0])


def test_weights_are_float64_and_counts_are_integers():
    W = Module(build=residual).init(stream(0, "init"), SHAPE, K)
    counts = {name for name, w in W.items() if name.endswith("num_batches_tracked")}
    assert counts and all(W[name].dtype == torch.int64 for name in counts)
    assert all(w.dtype == torch.float64 for name, w in W.items() if name not in counts)
    reference = dict(plain(residual, 0).named_parameters())
    assert all(torch.equal(W[name], p) for name, p in reference.items())


def test_a_single_output_is_one_number_a_point():
    network = Module(build=linear)
    W = network.init(stream(0, "init"), SHAPE, 1)
    assert network.f(W, inputs(5)).shape == (5,)
    assert network.trained_f(stacked([W, W]), inputs(2, 5))[0].shape == (2, 5)


@pytest.mark.parametrize(
    ("network", "way_out"),
    (
        (Module(build=linear, options={"dropout": 0.5}), "set its probability to 0"),
        (Module(build=noisy), "draws no random numbers"),
        (Module(build=two_headed), "its last layer must have"),
    ),
)
def test_a_module_that_is_no_classifier_of_its_weights_is_refused(network, way_out):
    state = torch.get_rng_state()
    with pytest.raises(ValueError, match=way_out):
        network.init(stream(0, "init"), SHAPE, K)
    assert torch.equal(state, torch.get_rng_state())
    Module(build=linear, options={"dropout": 0.0}).init(stream(0, "init"), SHAPE, K)


def test_options_and_weights_that_cannot_serve_are_refused():
    with pytest.raises(ValueError, match="use tuples"):
        Module(build=small_cnn, options={"width": [3]})
    with pytest.raises(ValueError, match="weights from its init"):
        Module(build=small_cnn).f({"0.weight": torch.zeros(1)}, inputs(1))


def test_threads_do_not_lend_each_other_their_weights():
    network, x = Module(build=small_cnn, options={"width": 3}), inputs(4)
    Ws = [network.init(stream(s, "init"), SHAPE, K) for s in range(4)]
    alone = [network.f(W, x) for W in Ws]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda i: network.f(Ws[i % 4], x), range(200)))
    assert all(torch.equal(F, alone[i % 4]) for i, F in enumerate(together))
