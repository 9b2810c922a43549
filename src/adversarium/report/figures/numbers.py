"""What a figure draws: its numbers place by place, their symbols, and the drawing itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.plans.evidence import Rows, Series
from adversarium.plans.intervals import interval
from adversarium.plans.places import placed
from adversarium.plans.run import Run
from adversarium.report.figures.style import save, write_csv


@dataclass(frozen=True)
class Drawing:
    """A figure before it is written: the picture (none for a table) and its numbers."""

    picture: Any
    header: tuple[str, ...]
    lines: list[tuple[Any, ...]]

    def save(self, path: Path, formats: Sequence[str]) -> list[Path]:
        """Writes the numbers as CSV and the picture in every format; the files."""
        table = path.with_suffix(".csv")
        write_csv(table, self.header, self.lines)
        if self.picture is None:
            return [table]
        paths = [path.with_suffix(f".{form}") for form in formats]
        for file in paths:
            save(self.picture, file)
        return paths


def symbols(run: Rows) -> dict[str, str]:
    """The symbols of a run's numbers, as its probes say them."""
    if not isinstance(run.task, Run):
        return {}
    from adversarium.probes.measuring import measured

    told = (m for r in run.task.recordings for m in measured(r.probe))
    return {m.name: m.symbol for m in told if m.symbol}


def lines_of(series: Series, pick: Mapping[str, int]) -> list[tuple[str, np.ndarray]]:
    """The curves (seed, t) of a number, one a place of its axes, each with its place in words;
    only the picked place of an axis that is picked."""
    if not series.axes:
        return [("", series.values)]
    made = []
    for index in np.ndindex(series.values.shape[2:]):
        places = dict(zip(series.axes, index, strict=True))
        if all(places[axis] == i for axis, i in pick.items() if axis in places):
            told = ", ".join(
                placed(axis, series.axes[axis][i]) for axis, i in places.items() if axis not in pick
            )
            made.append((told, series.values[(slice(None), slice(None), *index)]))
    return made


def mean_and_interval(values: np.ndarray, points: int = 0) -> tuple[float, float, float]:
    """The mean over seeds, and its 99 % interval (of a share of so many points a seed)."""
    low, high = interval(values, points)
    return float(values.mean()), low, high


def located(run: Rows, by: tuple[str, ...]) -> str:
    """A run's place: words alone, numbers with their letters."""
    places = {name: run.task.coordinates[name] for name in by}
    return ", ".join(v if isinstance(v, str) else f"{k} = {v:g}" for k, v in places.items())
