"""Check the trade-off of BOAT's Figures 3 and 5: the ratio α/‖μ‖ that still permits a given
accuracy."""

from collections.abc import Mapping, Sequence

import numpy as np

from adversarium.plans import (
    Check,
    CountedAs,
    Every,
    Evidence,
    Hypothesis,
    Level,
    Need,
    Ordering,
    Parts,
    Quantity,
    Where,
)
from adversarium.plans.evidence import SHARE, NoSuchRun, quantity
from adversarium.plans.levels import crossing, jackknife

from .figure_runs import Number, grid_of


def allowed(d: int, accuracy: float, runs: Where, number: Number, row: str) -> Quantity:
    """Return the ratio α/‖μ‖ at which the accuracy falls below a level, for one d."""

    def ratio(rows: Evidence) -> np.ndarray:
        at, sizes, table = grid_of(rows.where(runs), "α/‖μ‖", "d", number)
        if d not in sizes:
            raise NoSuchRun(f"no runs have d = {d}")
        lines = table[:, int(np.flatnonzero(sizes == d)[0])]
        return jackknife(lines, lambda line: crossing(at, 1 - line, 1 - accuracy))

    return quantity(f"α/‖μ‖ at accuracy {accuracy:g}, d = {d}", ratio, Need(runs, (row,)))


def _falling(runs: Where, number: Number, row: str) -> Quantity:
    """Return the share of steps along α/‖μ‖ at which the accuracy falls, over all d."""

    def share(rows: Evidence) -> np.ndarray:
        table = grid_of(rows.where(runs), "α/‖μ‖", "d", number)[2]
        return (np.diff(table, axis=2) < 0).mean((1, 2))

    name = "share of steps in α/‖μ‖ at which the accuracy falls"
    return quantity(name, share, Need(runs, (row,)), limits=SHARE)


def gained(label: str, cell: slice, runs: Where, other: Where, number: Number, row: str) -> Check:
    """Report, without judging it, by how much the accuracy of `runs` exceeds that of `other`,
    averaged over d and the ratios α/‖μ‖ in `cell`."""

    def gain(rows: Evidence) -> np.ndarray:
        accuracy, baseline = (
            grid_of(rows.where(one), "α/‖μ‖", "d", number)[2] for one in (runs, other)
        )
        return (accuracy - baseline)[:, :, cell].mean((1, 2))

    name = f"robust accuracy gained over standard training, {label}"
    return Hypothesis("ordering", quantity(name, gain, Need(runs, (row,)), Need(other, (row,))))


def tradeoff(
    runs: Where,
    number: Number,
    row: str,
    pairs: Mapping[float, Sequence[tuple[int, int]]],
    reported: Mapping[str, Check] = {},
) -> Check:
    """Check that the accuracy falls with α/‖μ‖, and that the ratio that permits a given accuracy
    shrinks from the first to the second d of each pair; `reported` adds unjudged parts."""
    shrinks = {
        f"the ratio of accuracy {accuracy:g} shrinks with d": Every(
            *(
                Ordering(
                    allowed(d, accuracy, runs, number, row),
                    than=allowed(larger, accuracy, runs, number, row),
                )
                for d, larger in of
            )
        )
        for accuracy, of in pairs.items()
    }
    falls = Level(_falling(runs, number, row), 0.95)
    return CountedAs("ordering", Parts({"accuracy falls with α/‖μ‖": falls, **shrinks, **reported}))
