"""Describe coordinates on a quantity's axes, other than seed and time, as text."""

from collections.abc import Iterator

import numpy as np

from adversarium.plans.evidence import Series

_COUNTED = ("class", "unit", "point")  # axes whose coordinates are shown counted from one


def placed(axis: str, at: float) -> str:
    """Return a coordinate on an axis as text.

    >>> placed("class", 0.0), placed("radius", 0.5)
    ('class 1', 'radius 0.5')
    """
    return f"{axis} {at + 1:g}" if axis in _COUNTED else f"{axis} {at:g}"


def places(series: Series) -> Iterator[tuple[str, np.ndarray]]:
    """Yield every combination of axis coordinates, as text, with the last values (seed,) there."""
    last = series.last()
    for index in np.ndindex(last.shape[1:]):
        at = (placed(name, v[i]) for (name, v), i in zip(series.axes.items(), index, strict=True))
        place = ", ".join(at)
        yield f" ({place})" if place else "", last[(slice(None), *index)]
