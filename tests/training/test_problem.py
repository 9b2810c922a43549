"""A user's data, networks and attacks that do not fit raise an error that says what is needed."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

import adversarium as av
from adversarium.training import Problem, Recipe

CLUSTERS = av.data.Clusters(d=6, mu=2.0)


def trained(**parts):
    """Train two seeds of a small run."""
    given = dict(data=CLUSTERS, network=av.networks.TwoLayer(m=4), n=6, steps=2, eta=0.1)
    return av.run(av.Run(**{**given, "probes": [av.measure.risk], **parts}), seeds=range(2))


@dataclass(frozen=True)
class Points:
    x: object
    y: object


@dataclass(frozen=True)
class Other:
    """Clusters whose batches are replaced by something else."""

    make: object
    shape = (6,)
    k = 1

    def sample(self, n, rng):
        return self.make(CLUSTERS.sample(n, rng))


def cut(batch):
    return Points(batch.x[:2], batch.y[:2])


def whole(batch):
    return Points(batch.x.long(), batch.y)


def pair(batch):
    return batch.x, batch.y


def lost(batch):
    return replace(batch, x=batch.x * math.nan)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (cut, r"shape \(6, 6\)"),
        (whole, "floating-point x"),
        (pair, "a frozen dataclass"),
        (lost, r"Other\.sample must return finite x"),
    ],
)
def test_data_that_are_not_a_batch_are_refused_with_what_a_batch_is(make, said):
    with pytest.raises(RuntimeError, match=said):
        trained(data=Other(make))


def test_a_network_that_does_not_fit_its_data_is_refused():
    data = av.data.PatchData(d=5, P=3, alpha=1.0, sigma=0.1)
    with pytest.raises(RuntimeError, match="TwoLayer must return 1 output"):
        trained(data=data)


def doubling(loss, batch, t, rng):
    return batch.x.mul_(2)


def short(loss, batch, t, rng):
    return batch.x[..., :1]


def single(loss, batch, t, rng):
    return batch.x.float()


@pytest.mark.parametrize(
    ("attack", "said"),
    [
        (doubling, "changed the points"),
        (short, "points of shape"),
        (single, r"must return points of type torch\.float64"),
    ],
)
def test_an_attack_returns_new_points_of_the_same_shape_and_precision(attack, said):
    with pytest.raises(RuntimeError, match=said):
        trained(attack=attack)


def test_an_attack_on_a_network_that_is_zero_at_its_start_waits_for_the_first_step():
    attack, recipe = av.attacks.PGD(p=2, radius=0.5, steps=3), Recipe(n=6, steps=12, eta=0.1)
    for network, first in ((av.networks.TwoLayer(m=4), 1), (av.networks.Perceptron(m=4), 0)):
        assert Problem(CLUSTERS, network, attack, recipe, seeds=(0, 1)).attack.after == first
    gram, full = (
        trained(attack=attack, engine=engine, steps=12)["risk"] for engine in ("gram", "full")
    )
    assert np.allclose(gram, full, rtol=1e-12)  # a gradient at the start would be rounding
