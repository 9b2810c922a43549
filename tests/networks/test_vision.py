"""Image networks: sizes, normalised inputs, and the representation before the last layer."""

import math

import pytest
import torch

from adversarium.networks import (
    Module,
    lenet5,
    preact_resnet18,
    resnet9,
    resnet18,
    small_cnn,
    wide_resnet,
)
from adversarium.networks.vision import Normalised
from adversarium.rng import stream
from adversarium.training.objectives import cross_entropy

SMALL = (
    (lenet5, (1, 28, 28), {"data": "mnist"}),
    (small_cnn, (1, 8, 8), {"width": 2}),
    (resnet9, (3, 32, 32), {"width": 4, "activation": "silu", "data": "cifar10"}),
    (resnet18, (3, 32, 32), {"width": 4, "data": "cifar10"}),
    (preact_resnet18, (3, 32, 32), {"width": 4}),
    (wide_resnet, (3, 32, 32), {"depth": 10, "widen": 1, "activation": "leaky"}),
)


@pytest.mark.parametrize(("build", "shape", "options"), SMALL)
def test_a_network_gives_logits_and_a_representation_of_every_image(build, shape, options):
    network = Module(build=build, options=options)
    W = network.init(stream(0, "init"), shape, 10)
    x = torch.rand(3, *shape, generator=stream(0, "x")).double()
    G, F = network.representation(W, x), network.f(W, x)
    module = build(shape, 10, **options)
    last = next(name for name in reversed(list(W)) if name.endswith(".weight"))
    head = W[last], W[last.replace("weight", "bias")]
    assert torch.allclose(G @ head[0].mT + head[1], F)
    assert F.shape == (3, 10) and G.shape[0] == 3 and G.ndim == 2
    stacked = {name: torch.stack([w, w]) for name, w in W.items()}
    pair = network.representation(stacked, torch.stack([x, x]))
    assert torch.allclose(pair[1], G)
    assert sum(w.numel() for w in module.parameters()) == network.sizes(shape, 10)[0]


def test_the_first_layer_normalises_the_pixels_of_the_data_set():
    module = resnet9((3, 32, 32), 10, width=4, data="cifar10")
    assert isinstance(module[0], Normalised)
    mean = torch.tensor((0.4914, 0.4822, 0.4465))[:, None, None].expand(3, 32, 32)
    assert torch.allclose(module[0](mean[None]), torch.zeros(1, 3, 32, 32), atol=1e-7)
    with pytest.raises(ValueError, match="a set of 1-channel images among"):
        lenet5((1, 28, 28), 10, data="cifar10")
    with pytest.raises(ValueError, match="an activation among relu, silu, leaky"):
        resnet9((3, 32, 32), 10, activation="tanh")


def test_a_wide_network_of_impossible_depth_is_refused():
    with pytest.raises(ValueError, match="depth = 6 n"):
        wide_resnet((3, 32, 32), 10, depth=33)


def test_resnet9_starts_near_the_loss_of_a_guess_so_that_usual_step_sizes_train_it():
    network = Module(build=resnet9, options={"width": 8})
    W = network.init(stream(0, "init"), (3, 32, 32), 10)
    x = torch.rand(64, 3, 32, 32, generator=stream(0, "x")).double()
    y = torch.randint(10, (64,), generator=stream(0, "y"))
    logits, _ = network.trained_f(W, x)
    assert float(cross_entropy(logits, y).mean()) == pytest.approx(math.log(10), abs=0.1)
