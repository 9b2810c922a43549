"""The trade-off of BOAT's Figures 3 and 5: the attack's ratio that still allows an accuracy."""

from collections.abc import Mapping, Sequence

import numpy as np

from adversarium.papers.boat.figure_runs import Number, grid_of
from adversarium.plans import (
    Check,
    Evidence,
    Need,
    Quantity,
    Where,
    counted_as,
    every,
    level,
    ordering,
    parts,
    setting,
)
from adversarium.plans.evidence import NoSuchRun, quantity
from adversarium.plans.levels import crossing, jackknife


def allowed(d: int, accuracy: float, meant: Where, number: Number, row: str) -> Quantity:
    """The ratio at which the accuracy falls below a level at some d."""

    def ratio(rows: Evidence) -> np.ndarray:
        at, sizes, made = grid_of(rows.where(meant), "α/‖μ‖", "d", number)
        if d not in sizes:
            raise NoSuchRun(f"no runs are d = {d}")
        lines = made[:, int(np.flatnonzero(sizes == d)[0])]
        return jackknife(lines, lambda line: crossing(at, 1 - line, 1 - accuracy))

    return quantity(f"α/‖μ‖ at accuracy {accuracy:g}, d = {d}", ratio, Need(meant, (row,)))


def _falling(meant: Where, number: Number, row: str) -> Quantity:
    """The share of steps along the ratio at which the accuracy falls, over all d."""

    def share(rows: Evidence) -> np.ndarray:
        made = grid_of(rows.where(meant), "α/‖μ‖", "d", number)[2]
        return (np.diff(made, axis=2) < 0).mean((1, 2))

    told = "share of steps in α/‖μ‖ at which the accuracy falls"
    return quantity(told, share, Need(meant, (row,)))


def gained(told: str, cell: slice, meant: Where, other: Where, number: Number, row: str) -> Check:
    """By how much the accuracy of some runs exceeds that of others: mean over d, at some ratios;
    told, not judged."""

    def gain(rows: Evidence) -> np.ndarray:
        ours, theirs = (grid_of(rows.where(one), "α/‖μ‖", "d", number)[2] for one in (meant, other))
        return (ours - theirs)[:, :, cell].mean((1, 2))

    name = f"robust accuracy gained over standard training, {told}"
    return setting("ordering", quantity(name, gain, Need(meant, (row,)), Need(other, (row,))))


def tradeoff(
    meant: Where,
    number: Number,
    row: str,
    pairs: Mapping[float, Sequence[tuple[int, int]]],
    told: Mapping[str, Check] = {},
) -> Check:
    """Accuracy falls with the ratio, and the ratio of each accuracy shrinks from d to more; what is
    told stands beside it."""
    shrinks = {
        f"the ratio of accuracy {accuracy:g} shrinks with d": every(
            *(
                ordering(
                    allowed(d, accuracy, meant, number, row),
                    than=allowed(more, accuracy, meant, number, row),
                )
                for d, more in of
            )
        )
        for accuracy, of in pairs.items()
    }
    falls = level(_falling(meant, number, row), 0.95)
    return counted_as("ordering", parts({"accuracy falls with α/‖μ‖": falls, **shrinks, **told}))
