"""Make evidence by hand: the runs of a plan, with values that a test chooses."""

import numpy as np

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.networks import CubicCNN
from adversarium.plans import Evidence, Rows, Run, Trial
from adversarium.plans.evidence import Series


def run(family="", at=None, seeds=None, **numbers):
    """Return the rows of one run; a quantity is a list over seeds (its last value) or a series."""
    made = {
        name: value
        if isinstance(value, Series)
        else Series(np.array([1]), np.array(value, dtype=float)[:, None])
        for name, value in numbers.items()
    }
    count = len(next(iter(made.values())).values) if made else 0
    task = Trial(function=len, family=family, at=at or {})
    return Rows(task, tuple(range(count)) if seeds is None else tuple(seeds), made)


def rows(**numbers):
    """Return the evidence of a single run without coordinates."""
    return Evidence((run(**numbers),))


def patches(**changes):
    """Return a small run, which is never executed."""
    parts = dict(
        data=PatchData(d=20, P=3, alpha=2.0, sigma=0.2),
        network=CubicCNN(m=4, sigma0=0.2),
        attack=GTA(gamma=0.9),
        n=6,
        steps=20,
        eta=0.05,
    )
    return Run(**{**parts, **changes})
