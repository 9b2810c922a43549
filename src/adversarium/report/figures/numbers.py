"""Prepare the numbers of a figure, and write a figure with its numbers to files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adversarium.plans.evidence import Rows, Series
from adversarium.plans.intervals import interval
from adversarium.plans.places import placed
from adversarium.plans.run import Run
from adversarium.report.figures.style import save, write_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adversarium.sockets import Measure


@dataclass(frozen=True)
class Drawing:
    """A drawn figure: the picture (None for a table) and its numbers, with a header."""

    picture: "Figure | None"
    header: tuple[str, ...]
    lines: list[tuple[Any, ...]]

    def save(self, path: Path, formats: Sequence[str]) -> list[Path]:
        """Write the numbers as CSV and the picture in every format; return the files."""
        table = path.with_suffix(".csv")
        write_csv(table, self.header, self.lines)
        if self.picture is None:
            return [table]
        paths = [path.with_suffix(f".{form}") for form in formats]
        for file in paths:
            save(self.picture, file)
        return paths


def symbols(run: Rows) -> dict[str, str]:
    """Return the symbols of a run's quantities, as its probes declare them."""
    return {name: m.symbol for name, m in measures(run).items() if m.symbol}


def measures(run: Rows) -> "dict[str, Measure]":
    """Return the descriptions of a run's quantities by name; empty for a trial."""
    if not isinstance(run.task, Run):
        return {}
    from adversarium.measure.measuring import measured

    return {m.name: m for r in run.task.recordings for m in measured(r.probe)}


def lines_of(series: Series, pick: Mapping[str, int]) -> list[tuple[str, np.ndarray]]:
    """Return the curves (seed, t) of a quantity, one per combination of axis coordinates, each with
    its coordinates as text. `pick` selects one index of an axis."""
    if not series.axes:
        return [("", series.values)]
    lines = []
    for index in np.ndindex(series.values.shape[2:]):
        places = dict(zip(series.axes, index, strict=True))
        if all(places[axis] == i for axis, i in pick.items() if axis in places):
            text = ", ".join(
                placed(axis, series.axes[axis][i]) for axis, i in places.items() if axis not in pick
            )
            lines.append((text, series.values[(slice(None), slice(None), *index)]))
    return lines


def mean_and_interval(values: np.ndarray, points: int = 0) -> tuple[float, float, float]:
    """Return the mean over seeds and its 99 % interval; the values may be shares of `points`."""
    low, high = interval(values, points)
    return float(values.mean()), low, high


def draw_intervals(
    axis: "Axes",
    x: Sequence[float] | np.ndarray,
    numbers: np.ndarray,
    log: bool = False,
    **style: Any,
) -> None:
    """Draw means with their intervals: the columns of `numbers` are mean, low and high."""
    mean, low, high = numbers.T
    low = np.maximum(low, mean / 20) if log else low  # remains positive for a logarithmic axis
    axis.errorbar(x, mean, np.nan_to_num(np.stack([mean - low, high - mean])), **style)


def run_place(run: Rows, by: tuple[str, ...]) -> str:
    """Return coordinates of a run as a label; numbers are preceded by the coordinate's name."""
    places = {name: run.task.coordinates[name] for name in by}
    return ", ".join(v if isinstance(v, str) else f"{k} = {v:g}" for k, v in places.items())
