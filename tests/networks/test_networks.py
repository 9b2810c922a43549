"""Networks: formulas, hand-written gradients, the replica axis, sound bounds."""

import math

import pytest
import torch

from adversarium.networks import (
    CubicCNN,
    Module,
    PatchCNN,
    Perceptron,
    Power,
    ReLU,
    SmoothedCNN,
    SmoothedLeakyReLU,
    SmoothedReLU,
    TwoLayer,
    small_cnn,
)
from adversarium.networks.smoothed_cnn import smoothed_relu, smoothed_slope
from adversarium.rng import normal, stream
from adversarium.sockets import Certified, Lipschitz, PatchAdditive

NETWORKS = {
    "cubic": (CubicCNN(m=3, sigma0=0.5), (4, 6), 1),
    "smoothed": (SmoothedCNN(m=4, sigma0=0.8), (3, 7), 3),
    "two_layer": (TwoLayer(m=8), (5,), 1),
    "smooth_two_layer": (TwoLayer(m=8, activation=SmoothedReLU(b=2)), (5,), 1),
    "module": (Module(build=small_cnn, options={"width": 3}), (1, 8, 8), 10),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_replica_axis_equals_single_networks(name):
    network, shape, k = NETWORKS[name]
    Ws = [network.init(stream(s, "init"), shape, k) for s in (0, 1)]
    x = normal((2, 5, *shape), stream(0, "x"))
    if isinstance(Ws[0], dict):
        stacked = {n: torch.stack([W[n] for W in Ws]) for n in Ws[0]}
    else:
        stacked = torch.stack(Ws)
    both = network.f(stacked, x)
    assert both.shape == ((2, 5) if k == 1 else (2, 5, k))
    for i in (0, 1):
        assert torch.allclose(both[i], network.f(Ws[i], x[i]), atol=1e-12)


def test_the_cubic_network_is_the_sum_of_cubes():
    W, x = normal((2, 3), stream(0, "W")), normal((4, 5, 3), stream(1, "x"))
    slow = [sum(float(w @ p) ** 3 for w in W for p in X) for X in x]
    assert torch.allclose(CubicCNN(m=2, sigma0=1.0).f(W, x), torch.tensor(slow).double())


@pytest.mark.parametrize("q", (2, 3, 4))
def test_the_hand_written_backward_pass_equals_autograd(q):
    hand, auto = (SmoothedCNN(m=5, q=q, rho=0.7, by_hand=b) for b in (True, False))
    W = normal((2, 3, 5, 6), stream(0, "W")).requires_grad_(True)
    x = normal((2, 4, 7, 6), stream(1, "x")).requires_grad_(True)
    c = normal((2, 4, 3), stream(2, "c"))
    results = {}
    for name, network in (("hand", hand), ("auto", auto)):
        F = network.f(W, x)
        results[name] = (F, *torch.autograd.grad((c * F).sum(), (W, x)))
    for a, b in zip(results["hand"], results["auto"], strict=True):
        assert torch.allclose(a, b, atol=1e-10)
    wrong = torch.autograd.grad((c * auto.f(W, x)).sum(), W)[0] * 1.001
    assert not torch.allclose(results["hand"][1], wrong, atol=1e-10)


def test_the_smoothed_relu_is_continuous_with_its_slope():
    z = torch.linspace(-1, 2, 3001, dtype=torch.float64).requires_grad_(True)
    s = smoothed_relu(z, 3, 0.8)
    (slope,) = torch.autograd.grad(s.sum(), z)
    assert torch.allclose(slope, smoothed_slope(z, 3, 0.8), atol=1e-12)
    assert (z * smoothed_slope(z, 3, 0.8) <= 3 * s + 1e-12).all()
    assert s.diff().abs().max() < 2e-3


@pytest.mark.parametrize("act", (ReLU(), SmoothedLeakyReLU(gamma=0.3, H=2.0), SmoothedReLU(b=3.0)))
def test_activations_have_their_slopes_and_constants(act):
    z = torch.linspace(-3, 3, 2000, dtype=torch.float64).requires_grad_(True)
    (slope,) = torch.autograd.grad(act(z).sum(), z)
    assert torch.allclose(slope, act.slope(z), atol=1e-12)
    assert slope.abs().max() <= act.C1 + 1e-12
    steepness = (slope.diff() / z.detach().diff()).abs().max()
    if math.isfinite(act.C2):
        assert act.C2 * 0.99 <= steepness <= act.C2 * (1 + 1e-6)


def test_the_two_layer_network_is_exactly_zero_at_the_start():
    network = TwoLayer(m=10)
    W = network.init(stream(0, "init"), (6,), 1)
    x = normal((50, 6), stream(1, "x"))
    assert (network.f(W, x) == 0).all()
    assert (network.f(W + 0.1 * normal(W.shape, stream(2, "W")), x) != 0).any()


@pytest.mark.parametrize("name", ("cubic", "smoothed", "two_layer", "smooth_two_layer"))
@pytest.mark.parametrize("p", (1, 2, math.inf))
def test_interval_bounds_hold_for_points_of_the_ball(name, p):
    from adversarium.attacks import Ball

    network, shape, k = NETWORKS[name]
    W = network.init(stream(3, "init"), shape, k) + 0.3
    x = normal((20, *shape), stream(4, "x"))
    low, high = network.interval(W, x, p, 0.4)
    rng = stream(5, "ball")
    for _ in range(50):
        f = network.f(W, Ball(p, 0.4).sample(x, 1, rng))
        assert (f >= low - 1e-9).all() and (f <= high + 1e-9).all()
    exact, _ = network.interval(W, x, p, 0.0)
    assert torch.allclose(exact, network.f(W, x))


def test_the_lipschitz_constant_bounds_differences():
    network = TwoLayer(m=6)
    W = normal((6, 4), stream(0, "W"))
    x, z = normal((100, 4), stream(1, "x")), normal((100, 4), stream(2, "z"))
    for p in (1, 2, math.inf):
        gap = (network.f(W, x) - network.f(W, z)).abs()
        assert (gap <= network.lipschitz(W, p) * (x - z).norm(p, dim=-1) + 1e-12).all()


@pytest.mark.parametrize("top", ["trained", "signs"])
def test_the_lipschitz_constant_of_a_perceptron_bounds_differences(top):
    network = Perceptron(m=6, top=top)
    W = network.init(stream(0, "W"), (4,), 1)
    x, z = normal((100, 4), stream(1, "x")), normal((100, 4), stream(2, "z"))
    for p in (1, 2, math.inf):
        gap = (network.f(W, x) - network.f(W, z)).abs() / (x - z).norm(p, dim=-1)
        assert (gap <= network.lipschitz(W, p)).all()
        assert network.lipschitz(W, p) <= 6 * gap.max(), "nor is it idle"


def test_signs_above_the_units_are_the_hypothesis_class_of_the_theorem():
    network = Perceptron(m=4, top="signs", biases=False)
    W = network.init(stream(0, "W"), (3,), 1)
    assert W["a"].tolist() == [0.5, 0.5, -0.5, -0.5]
    assert network.still == {"a", "b", "c"} and not W["b"].any() and not W["c"].any()
    x = normal((5, 3), stream(1, "x"))
    assert torch.allclose(network.f(W, x), TwoLayer(m=4).f(W["w"], x))


PATCHES = {
    "cubic": NETWORKS["cubic"],
    "smoothed": NETWORKS["smoothed"],
    "smoothed_autograd": (SmoothedCNN(m=4, sigma0=0.8, by_hand=False), (3, 7), 3),
    "patch_relu": (PatchCNN(m=4, sigma0=0.5), (4, 6), 1),
    "patch_power": (PatchCNN(m=3, sigma0=0.5, activation=Power(4)), (4, 6), 1),
}


@pytest.mark.parametrize("lead", ((), (2,)))
@pytest.mark.parametrize("name", PATCHES)
def test_networks_of_patches_are_the_sum_of_what_they_make_of_each(name, lead):
    network, shape, k = PATCHES[name]
    assert isinstance(network, PatchAdditive)
    W = normal((*lead, *network.init(stream(0, "init"), shape, k).shape), stream(1, "W"))
    x = normal((*lead, 5, *shape), stream(2, "x"))
    parts = network.patchwise(W, x)
    axis = len(lead) + 1
    assert parts.shape == (*lead, 5, shape[0], *((k,) if k > 1 else ()))
    assert torch.allclose(parts.sum(axis), network.f(W, x), atol=1e-12)
    changed = x.clone()
    changed[..., 1, :] = 0  # one patch
    kept = [j for j in range(shape[0]) if j != 1]
    again = network.patchwise(W, changed)
    assert torch.allclose(again.movedim(axis, 0)[kept], parts.movedim(axis, 0)[kept], atol=1e-14)
    assert not torch.allclose(again, parts)


def test_a_network_of_whole_inputs_is_not_additive_over_patches():
    assert not isinstance(TwoLayer(m=2), PatchAdditive)
    assert isinstance(TwoLayer(m=2), Certified) and isinstance(TwoLayer(m=2), Lipschitz)


@pytest.mark.parametrize(
    "make",
    (
        lambda: CubicCNN(m=0, sigma0=1.0),
        lambda: SmoothedCNN(q=1),
        lambda: TwoLayer(m=3),
        lambda: TwoLayer(m=2, omega=-1.0),
        lambda: SmoothedReLU(b=0),
        lambda: SmoothedLeakyReLU(gamma=0),
    ),
)
def test_impossible_networks_are_refused(make):
    with pytest.raises(ValueError, match="needs"):
        make()


def test_a_wide_network_evaluated_in_blocks_is_the_same_function():
    network = TwoLayer(m=2**15, activation=SmoothedReLU(b=2))  # two points at a time
    W, x = normal((2**15, 3), stream(0, "W")), normal((5, 3), stream(0, "x"))
    torch.testing.assert_close(network.f(W, x), network.top(x @ W.mT), rtol=1e-13, atol=1e-13)
    blocks = torch.func.grad(lambda V: network.f(V, x).square().sum())(W)
    whole = torch.func.grad(lambda V: network.top(x @ V.mT).square().sum())(W)
    torch.testing.assert_close(blocks, whole)


def test_the_slope_of_the_smoothed_relu_is_exact_in_its_tail():
    z = torch.linspace(-9, 9, 181, dtype=torch.float64)
    exact = [math.erfc(-2 * float(v) / math.sqrt(2)) / 2 for v in z]
    assert SmoothedReLU(b=2.0).slope(z).tolist() == pytest.approx(exact, rel=1e-12, abs=0)
