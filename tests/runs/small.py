"""Small runs, and a function that executes them into a store."""

import numpy as np

from adversarium.attacks import GTA, PGD
from adversarium.data import Clusters, PatchData
from adversarium.measure.errors import risk, train_error
from adversarium.networks import CubicCNN, TwoLayer
from adversarium.plans import Run
from adversarium.plans.run import Recording
from adversarium.runs.compute import compute
from adversarium.runs.jobs import resolve, units
from adversarium.runs.reader import Reader


def small(steps=20, **changes):
    """Return a run for the engine signal_noise."""
    parts = dict(
        data=PatchData(d=20, P=3, alpha=2.0, sigma=0.2),
        network=CubicCNN(m=4, sigma0=0.2),
        attack=GTA(gamma=0.9),
        n=6,
        steps=steps,
        eta=0.05,
        probes=(risk, train_error),
    )
    return Run(**{**parts, **changes})


def clusters(d=30, radius=0.3, eta=0.05, **changes):
    """Return a run for the engine gram."""
    parts = dict(
        data=Clusters(d=d, mu=3.0, beta=0.1),
        network=TwoLayer(m=6, omega=0.01),
        attack=PGD(p=2, radius=radius, steps=4),
        n=8,
        steps=15,
        eta=eta,
        probes=(risk, train_error),
    )
    return Run(**{**parts, **changes})


def execute(store, seeds, *tasks, experiment="some.experiment"):
    """Run what the store lacks, store the rows, and return the units that were needed."""
    reader = Reader(store, experiment)
    lacking = [piece for task in tasks for piece in reader.lacking(resolve(task), tuple(seeds))]
    made = units(lacking, "cpu")
    for unit in made:
        outcome = compute(unit, experiment)
        assert not outcome.failures, outcome.failures
        for block in outcome.blocks:
            store.write(block)
    return made


def rows(store, task, seeds):
    """Return the rows of a task as a check reads them."""
    return Reader(store, "some.experiment").rows(resolve(task), tuple(seeds))


def same(a, b):
    """Return whether two runs have the same values under the same names."""
    assert set(a.series) == set(b.series)
    return all(np.array_equal(a[name].values, b[name].values) for name in a.series)


def probe_id(probe):
    """Return the digest under which a probe's rows are stored."""
    return Recording(probe, None).id
