"""Rare errors agree with closed forms, and bounds of increments hold at points of the ball."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import adversarium as av
from adversarium.networks.certificates import increment_bounds
from adversarium.papers.boat.theory.cluster_errors import ClusterErrors, RareError
from adversarium.rng import normal, stream
from adversarium.training import Problem, Recipe, WeightState


def linear_state(s: float, d: int = 5):
    """Return a state with f(x) = ⟨w, x⟩ from two opposite units: wrong with probability Φ(−s)."""
    data = av.data.Clusters(d=d, mu=s, beta=0.0)
    problem = Problem(data, av.networks.TwoLayer(m=2), None, Recipe(n=2, steps=1, eta=0.1), (0, 1))
    w = torch.zeros(2, 2, d, dtype=torch.float64)
    w[:, 0, 0], w[:, 1, 0] = 1.0, -1.0
    return WeightState(problem, 0, w), av.measure.Scene(problem)


@pytest.mark.parametrize("s", [1.0, 4.0, 20.0])
def test_a_rare_error_of_a_linear_network_is_that_of_its_closed_form(s):
    state, scene = linear_state(s)
    found = RareError(radius=0.5, draws=4000)(state, scene)
    for name, room in (("log_error", s), ("log_robust_error", s - 0.5), ("log_unproven", s - 0.5)):
        exact = float(torch.special.log_ndtr(torch.tensor(-room, dtype=torch.float64)))
        assert found[name].tolist() == pytest.approx([exact] * 2, abs=0.15), name


@pytest.mark.parametrize("mu", [2.0, 3.0])
def test_a_rare_error_of_a_trained_relu_network_is_within_a_factor_two_of_plain_draws(mu):
    data, network = av.data.Clusters(d=12, mu=mu, beta=0.1), av.networks.TwoLayer(m=16)
    attack = av.attacks.PGD(p=2, radius=0.3, steps=5)
    probes = [RareError(radius=0.3, draws=4000), ClusterErrors(n=60_000)]
    run = av.Run(data=data, network=network, attack=attack, n=20, steps=100, eta=0.2, final=probes)
    found = av.run(run, seeds=range(3))
    for rare, plain in (("log_error", "clean_error_c"), ("log_robust_error", "robust_error_c")):
        drawn = [math.log(share) for share in found[plain].ravel()]
        assert found[rare].ravel().tolist() == pytest.approx(drawn, abs=math.log(2)), rare
    ordered = [found[n].ravel() for n in ("log_error", "log_robust_error", "log_unproven")]
    assert (ordered[0] < ordered[1]).all() and (ordered[1] <= ordered[2] + 0.1).all()


@pytest.mark.parametrize(
    "activation",
    [
        av.networks.ReLU(),
        av.networks.LeakyReLU(0.3),
        av.networks.SmoothedLeakyReLU(gamma=0.5, H=2.0),
        av.networks.SmoothedReLU(),
    ],
    ids=str,
)
def test_bounds_of_an_increment_hold_at_every_point_of_the_ball(activation):
    rng = stream(3, "points")
    W, x = normal((6, 4), rng), normal((8, 4), rng)
    V, radius = W + 0.3 * normal((6, 4), rng), 0.7
    c = normal((6,), rng)
    low, high = increment_bounds(c, activation, W, V, x, radius)
    for _ in range(400):
        step = normal((8, 4), rng)
        at = x + radius * step / step.norm(dim=-1, keepdim=True)
        value = (c * (activation(at @ V.mT) - activation(at @ W.mT))).sum(-1)
        assert bool((low <= value).all()) and bool((value <= high).all())
    assert bool((high - low < 40).all())


@pytest.mark.parametrize(
    "activation",
    [
        av.networks.ReLU(),
        av.networks.LeakyReLU(0.2),
        av.networks.SmoothedLeakyReLU(gamma=0.3, H=2.0),
        av.networks.SmoothedReLU(),
    ],
    ids=str,
)
def test_the_mean_of_an_activation_over_a_gaussian_is_its_integral(activation):
    z = torch.linspace(-12, 12, 200_001, dtype=torch.float64)
    density = torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)
    for a, sd in ((0.3, 0.5), (-1.0, 2.0), (0.2, 0.01)):
        mean = activation.mean(torch.tensor(a).double(), torch.tensor(sd).double())
        integral = torch.trapezoid(activation(a + sd * z) * density, z)
        assert float(mean) == pytest.approx(float(integral), abs=1e-8)


def test_cluster_errors_leave_the_flips_out_of_the_estimate():
    state, scene = linear_state(20.0)
    with pytest.raises(ValueError, match="counts robust errors by the training attack"):
        ClusterErrors(n=200)(state, scene)  # a clean error is no robust one
    problem = replace(state.problem, attack=av.attacks.PGD(p=2, radius=0.5, steps=3))
    state, scene = WeightState(problem, 0, state.W), av.measure.Scene(problem)
    found = ClusterErrors(n=200)(state, scene)
    assert found["clean_error_c"].tolist() == [0.0, 0.0]
    assert found["robust_error"].tolist() == [0.0, 0.0]  # β = 0


def ended(data, final, **more):
    """Return the last values of a short run of two seeds."""
    given = dict(network=av.networks.TwoLayer(m=4), n=6, steps=20, eta=0.1)
    return av.run(av.Run(data=data, final=final, **given, **more), seeds=range(2))


def test_a_rare_error_is_refused_for_noise_that_its_formula_does_not_know():
    wide = av.data.Clusters(d=6, mu=2.0, marginal=av.data.Gauss(0.5))
    with pytest.raises(RuntimeError, match="RareError needs Gaussian noise of variance 1"):
        ended(wide, [RareError(draws=10)])


@pytest.mark.parametrize("flip", ("near", "far"))
def test_flips_that_depend_on_x_are_counted_as_they_are_drawn(flip):
    data = av.data.Clusters(d=6, mu=2.0, beta=0.2, flip=flip)
    drawn = av.measure.Error(n=500, attacks="training")
    attack = av.attacks.PGD(p=2, radius=0.1, steps=3, after=1)
    made = ended(data, [ClusterErrors(n=500), drawn], attack=attack)
    assert np.allclose(made["robust_error"], made[drawn.measures[0].name], atol=0.01)
