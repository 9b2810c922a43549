"""Bugs that BOAT's claims must notice."""

from adversarium.data import Clusters
from adversarium.networks import TwoLayer
from tests.planted.bugs import Bug, swapped


def _tiny(original, self, n, rng):
    batch = original(self, n, rng)
    return type(batch)(x=batch.x / 20, y=batch.y, clean_y=batch.clean_y)


def _wide(original, self, h, reach, size, spread, d):
    """Sound, and useless."""
    return original(self, h, 40 * reach, size, lambda e: 40 * spread(e), d)


_SHORT = {"steps": 30}

BUGS = (
    Bug(
        "inputs a twentieth of their size",
        swapped(Clusters, "sample", _tiny),
        turns=("boat.thm3.1.train_error.published",),
        knobs=_SHORT,
    ),
    Bug(
        "certificate forty times too wide",
        swapped(TwoLayer, "interval_at", _wide),
        turns=("boat.thm3.1.train_error.published",),
        knobs=_SHORT,
    ),
)
