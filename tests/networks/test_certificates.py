"""Certificates: sound against attacks and against exact arithmetic, and tighter than intervals."""

import math
from fractions import Fraction

import pytest
import torch

from adversarium.attacks import Ball, strong_attacks
from adversarium.data import Clusters
from adversarium.measure.errors import certified_margin, worst_margin
from adversarium.networks import (
    CubicCNN,
    MixedLearner,
    PatchCNN,
    Perceptron,
    Power,
    ReLU,
    SmoothedCNN,
    SmoothedLeakyReLU,
    SmoothedReLU,
    TwoLayer,
)
from adversarium.networks.certificates import gamma, largest_singular
from adversarium.networks.duals import dual
from adversarium.networks.two_layer import signs
from adversarium.rng import normal, stream
from adversarium.sockets import Certified, Lipschitz
from adversarium.training import Problem, Recipe, WeightState

NORMS = (1, 2, math.inf)
ACTIVATIONS = (ReLU(), SmoothedLeakyReLU(), SmoothedReLU())
NETWORKS = {
    "cubic": (CubicCNN(m=3, sigma0=0.7), (2, 4), 1),
    "power": (PatchCNN(m=4, sigma0=0.7, activation=Power(4)), (2, 4), 1),
    "patches": (PatchCNN(m=4, sigma0=0.7), (2, 4), 1),
    "smoothed": (SmoothedCNN(m=6, sigma0=0.7), (2, 4), 3),
    "squares": (SmoothedCNN(m=6, q=2, rho=0.5, sigma0=0.7), (2, 4), 2),
    "mixed": (MixedLearner(m=5, b=0.3, sigma0=0.7), (6,), 1),
    "linear": (MixedLearner(), (6,), 1),
}
for _a in ACTIVATIONS:
    NETWORKS[f"two_layer {type(_a).__name__}"] = (TwoLayer(m=6, activation=_a), (6,), 1)
    NETWORKS[f"perceptron {type(_a).__name__}"] = (Perceptron(m=6, activation=_a), (6,), 1)


def weights(network, shape, k, seed=0):
    W = network.init(stream(seed, "init"), shape, k)
    move = normal((200,), stream(seed, "more"))
    if isinstance(W, dict):
        return {name: w + move[: w.numel()].view(w.shape) for name, w in W.items()}
    return W + 0.3 * move[: W.numel()].view(W.shape)


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("name", NETWORKS)
def test_no_point_of_the_ball_leaves_the_bounds(name, p):
    network, shape, k = NETWORKS[name]
    assert isinstance(network, Certified)
    W, x = weights(network, shape, k), normal((30, *shape), stream(1, "x"))
    for radius in (0.0, 0.05, 0.5):
        low, high = network.interval(W, x, p, radius)
        assert low.shape == network.f(W, x).shape and (low <= high).all()
        ball = Ball(p, radius)
        for seed in range(60):
            toward = ball.steepest(x, normal(x.shape, stream(seed, "g")), 1)
            for z in (toward, ball.sample(x, 1, stream(seed, "z"))):
                F = network.f(W, z)
                assert (low <= F + 1e-12).all() and (high + 1e-12 >= F).all()
        if radius == 0:
            assert (high - low).max() < 1e-9


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("name", [n for n in NETWORKS if isinstance(NETWORKS[n][0], Lipschitz)])
def test_the_lipschitz_constant_bounds_every_difference(name, p):
    network, shape, k = NETWORKS[name]
    W, x = weights(network, shape, k), normal((200, *shape), stream(1, "x"))
    constant = network.lipschitz(W, p)
    for length in (1e-3, 1.0):
        z = x + length * normal(x.shape, stream(2, "z"))
        gap = (network.f(W, x) - network.f(W, z)).abs()
        assert (gap <= constant * (x - z).flatten(1).norm(p, dim=-1) + 1e-12).all()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_replica_axis_equals_single_bounds_and_single_precision_is_certified_in_double(name):
    network, shape, k = NETWORKS[name]
    Ws = [weights(network, shape, k, seed) for seed in (0, 1)]
    x = normal((2, 5, *shape), stream(1, "x"))
    stacked = (
        {n: torch.stack([W[n] for W in Ws]) for n in Ws[0]}
        if isinstance(Ws[0], dict)
        else torch.stack(Ws)
    )
    both = network.interval(stacked, x, 2, 0.2)
    for i in (0, 1):
        alone = network.interval(Ws[i], x[i], 2, 0.2)
        assert all(torch.allclose(a[i], b, atol=1e-12) for a, b in zip(both, alone, strict=True))
    single = {n: w.float() for n, w in Ws[0].items()} if isinstance(Ws[0], dict) else Ws[0].float()
    assert network.interval(single, x[0].float(), 2, 0.2)[0].dtype == torch.float64


def exact(v):
    return [Fraction(float(a)) for a in v]


def dot(a, b):
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64))
@pytest.mark.parametrize("p", (1, math.inf))
def test_on_the_edge_a_certificate_is_never_positive_where_the_exact_margin_is_negative(p, dtype):
    """f depends only on h = ⟨w, x⟩, so its smallest value in the ball is at h − r‖w‖_q. Choose x
    such that this is 0 up to rounding; rational arithmetic gives its sign."""
    d, wrong, seen = 7, 0, 0
    for seed in range(300):
        rng = stream(seed, "edge")
        w, x = normal((d,), rng).to(dtype), normal((d,), rng).to(dtype)
        r = Fraction(float(torch.rand((), generator=rng)))
        size = sum(map(abs, exact(w))) if p == math.inf else max(map(abs, exact(w)))
        x[0] = float((r * size - dot(exact(w)[1:], exact(x)[1:])) / exact(w)[0])
        edge = dot(exact(w), exact(x)) - r * size
        two = torch.stack([w, -w])
        cases = {
            "two": TwoLayer(m=2).interval(two, x[None], p, float(r)),
            "cubic": CubicCNN(m=2, sigma0=1.0).interval(
                torch.stack([w, w]), x[None, None], p, float(r)
            ),
            "linear": MixedLearner().interval({"w_0": w}, x[None], p, float(r)),
        }
        for low, _ in cases.values():
            seen += edge < 0
            wrong += bool(edge < 0) and float(low) > 0
    assert seen > 250 and wrong == 0


def test_logits_on_the_edge_are_compared_soundly():
    """Two classes of one filter each, ±w: F_0 − F_1 has the sign of ⟨w, x⟩."""
    network, d = SmoothedCNN(m=1), 5
    for dtype in (torch.float32, torch.float64):
        for seed in range(200):
            rng = stream(seed, "edge")
            w, x = normal((d,), rng).to(dtype), normal((d,), rng).to(dtype)
            r = Fraction(float(torch.rand((), generator=rng)))
            x[0] = float(
                (r * sum(map(abs, exact(w))) - dot(exact(w)[1:], exact(x)[1:])) / exact(w)[0]
            )
            edge = dot(exact(w), exact(x)) - r * sum(map(abs, exact(w)))
            low, high = network.interval(
                torch.stack([w, -w])[:, None], x[None, None], math.inf, float(r)
            )
            assert edge > 0 or not bool(low[0, 0] - high[0, 1] > 0)


def test_a_relaxation_proves_what_intervals_do_not():
    network = TwoLayer(m=40)
    problem = Problem(Clusters(d=20, mu=1.5), network, None, Recipe(n=100, steps=1, eta=0.1), (0,))
    W = normal((1, 40, 20), stream(0, "W")) + 0.5 * signs(40, torch.ones(1).double())[:, None]
    state = WeightState(problem, 0, W)
    for p, radius in ((math.inf, 0.1), (2, 0.3)):
        proven = certified_margin(state, problem.train, p, radius)
        reach = radius * W.norm(dual(p), dim=-1)[..., None, :]
        a, h = signs(40, W), problem.train.x @ W.mT
        low, high = network.top(h - a * reach), network.top(h + a * reach)
        plain = torch.where(problem.train.y > 0, low, -high)
        found = worst_margin(state, problem.train, strong_attacks(p, radius, 1, steps=20))
        assert (proven >= plain - 1e-9).all() and (proven <= found + 1e-9).all()
        assert (proven > 0).sum() > (plain > 0).sum()


def test_threshold_units_that_cannot_switch_are_proven_exactly():
    network, d = MixedLearner(m=2, b=5.0), 6
    W = {"w_0": torch.eye(1, d)[0].double(), "w": torch.eye(d)[1:3].double() * 3,
         "a": torch.tensor([1.0, -1.0]).double()}  # fmt: skip
    x = torch.zeros(1, d).double()
    x[0, 0], x[0, 1] = 1.0, 4.0  # the first unit is on at 12 − 5, the second sleeps
    low, high = network.interval(W, x, 2, 0.5)
    length = math.sqrt(1 + 9)
    assert float(low) == pytest.approx(1 + 7 - 0.5 * length, abs=1e-9)
    assert float(high) == pytest.approx(1 + 7 + 0.5 * length, abs=1e-9)


def test_the_spectral_bound_beats_intervals_where_many_filters_sleep():
    network = SmoothedCNN(m=100)
    W, x = 0.05 * normal((2, 100, 50), stream(0, "W")), torch.zeros(3, 2, 50).double()
    _, high = network.interval(W, x, math.inf, 0.3)
    reach = 0.3 * W.norm(1, dim=-1)
    plain = 2 * (reach**3 / 3).sum(-1)
    assert (high < 0.5 * plain).all()


def test_singular_values_and_rounding_are_bounded_from_above():
    W = normal((9, 4), stream(0, "W"))
    assert largest_singular(W) >= torch.linalg.svdvals(W)[0]
    assert largest_singular(W) <= torch.linalg.svdvals(W)[0] * (1 + 1e-12)
    assert gamma(10) > 10 * gamma(1) and gamma(1) > 2.0**-53
