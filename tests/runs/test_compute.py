"""Errors while a unit runs: global random numbers, and values that would mislead."""

import random
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import adversarium as av

DATA = av.data.Clusters(d=6, mu=2.0)


def trained(store=None, **parts):
    """Train two seeds of a small run."""
    given = dict(data=DATA, network=av.networks.TwoLayer(m=4), n=6, steps=10, eta=0.1)
    run = av.Run(**{**given, "probes": [av.measure.risk], **parts})
    return av.run(run, range(2), store)


def of_torch(state, scene):
    return torch.rand(len(scene.train.y)).double()


def of_numpy(state, scene):
    return torch.from_numpy(np.random.rand(len(scene.train.y)))  # noqa: NPY002


def of_python(state, scene):
    return torch.full((len(scene.train.y),), random.random(), dtype=torch.float64)


@dataclass(frozen=True)
class Late:
    """An attack that draws from Python's global random numbers after some steps."""

    radius: float = 0.1

    @property
    def ball(self):
        return av.attacks.Ball(2, self.radius)

    def __call__(self, loss, batch, t, rng):
        return batch.x + (1e-3 * random.random() if t > 5 else 0.0)


def drawn(rng):
    return {"x": random.random()}


GLOBAL = {
    "a probe": (dict(probes=[of_torch]), "torch"),
    "a probe of numpy": (dict(probes=[of_numpy]), "numpy"),
    "a final probe": (dict(final=[of_python]), "Python"),
    "an attack": (dict(attack=Late()), "Python"),
}


@pytest.mark.parametrize("part", GLOBAL)
def test_a_part_that_draws_from_global_random_numbers_is_refused(part):
    changed, library = GLOBAL[part]
    with pytest.raises(RuntimeError, match=f"drew from the global generator of {library}"):
        trained(**changed)


def test_a_trial_that_draws_from_global_random_numbers_is_refused():
    with pytest.raises(RuntimeError, match="drew from the global generator of Python"):
        av.run(av.Trial(function=drawn), range(2))


def hides_risk(state, scene):
    return {"p": scene.train.y.sum(-1), "risk": scene.train.y.sum(-1) + 99}


def complex_numbers(state, scene):
    return torch.ones(len(scene.train.y), dtype=torch.complex128)


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        (hides_risk, "another probe also records risk"),
        (complex_numbers, "must be real, got complex numbers"),
    ],
)
def test_a_probe_that_would_mislead_is_refused(probe, said):
    with pytest.raises(RuntimeError, match=said):
        trained(probes=[av.measure.risk, probe])


def test_a_number_under_the_name_of_another_is_refused_also_if_both_are_stored(tmp_path):
    store = tmp_path / "s.sqlite"
    trained(store)
    trained(store, probes=[hides_risk])
    with pytest.raises(ValueError, match="two probes record risk, so one would hide the other"):
        trained(store, probes=[av.measure.risk, hides_risk])


def empty(rng):
    return {}


def listed(rng):
    return {"x": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("function", "said"),
    [(empty, "dictionary of named numbers"), (listed, "several as Along")],
)
def test_a_trial_that_does_not_return_named_numbers_is_refused(function, said):
    with pytest.raises(RuntimeError, match=said):
        av.run(av.Trial(function=function), range(2))
