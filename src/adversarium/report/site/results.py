"""Find the strongest stored rows of experiments, and their figures as files of the site."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from adversarium.plans.evidence import Evidence, Need, Rows
from adversarium.plans.experiment import Experiment
from adversarium.plans.figures import Course, Curves, Figure, Heat, Lines, Powers, Profile, Table
from adversarium.plans.loading import load
from adversarium.plans.shares import clipped, shares
from adversarium.report.figures import (
    draw,
    figure_runs,
    mean_and_interval,
    table_columns,
    table_value,
)
from adversarium.report.figures.style import file_name
from adversarium.report.site.digests import rows_digest
from adversarium.report.site.drawing import FigureFiles
from adversarium.report.tables import number
from adversarium.runs.audit import stored_evidence
from adversarium.runs.jobs import Job
from adversarium.runs.store import Store

FORMATS = ("svg",)  # `adversarium export` writes others


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment, and the preset, seeds, jobs and rows that are stored for it."""

    experiment: Experiment
    preset: str
    seeds: tuple[int, ...]
    jobs: tuple[Job, ...]
    rows: Evidence

    @property
    def name(self) -> str:
        """Return the name of its files, without suffix."""
        return file_name(self.experiment.name)

    @cached_property
    def figures(self) -> tuple["SiteFigure", ...]:
        """Return the figures whose runs are stored."""
        figures = (
            SiteFigure(self.name, figure, figure_runs(figure, self.rows))
            for figure in self.experiment.figures
        )
        return tuple(figure for figure in figures if figure.runs)

    def files(self, code: str) -> list[FigureFiles]:
        """Return the files of the figures; `code` is the digest of the code that draws them."""
        digest = rows_digest(self.rows, (job.key for job in self.jobs), code)
        return [
            FigureFiles(one.paths, f"{digest} {one.figure.name}", partial(one.draw, self.rows))
            for one in self.figures
        ]


def stored_experiment(id: str, store: Store) -> StoredExperiment | None:
    """Return an experiment with its stored rows; None if there are none."""
    experiment = load(id)
    found = stored_evidence(experiment, store)
    if found is None:
        return None
    preset, seeds, jobs, rows = found
    return StoredExperiment(experiment, preset, seeds, tuple(jobs), rows)


@dataclass(frozen=True)
class SiteFigure:
    """A figure on the site: the name of its experiment's files, the figure, and its runs."""

    home: str
    figure: Figure
    runs: Sequence[Rows]

    @property
    def is_table(self) -> bool:
        """Return whether the page shows a table instead of a picture."""
        return isinstance(self.figure, Table)

    @property
    def stem(self) -> str:
        """Return the path of the figure's files without suffix."""
        return f"figures/{self.home}/{file_name(self.figure.name)}"

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of its files: the numbers, and the picture in every format."""
        endings = ("csv",) if self.is_table else ("csv", *FORMATS)
        return tuple(f"{self.stem}.{ending}" for ending in endings)

    @property
    def has_panels(self) -> bool:
        """Return whether the picture has several panels next to each other."""
        return isinstance(self.figure, (Course, Heat, Lines, Powers)) or (
            isinstance(self.figure, (Curves, Profile)) and len(self.runs) > 1
        )

    @property
    def columns(self) -> list[tuple[str, str, int]]:
        """Return the columns of a table: probe, name, index on the probe's axis."""
        assert isinstance(self.figure, Table)
        return table_columns(self.figure, list(self.runs))

    def cell(self, run: Rows, column: tuple[str, str, int]) -> tuple[str, str]:
        """Return the mean of a run in a column of a table, and its interval."""
        probe, _, place = column
        values = table_value(run, probe, place)
        return mean_text(values, run.points(probe), probe in shares(run.task))

    def draw(self, rows: Evidence, home: Path) -> None:
        """Write the figure's files."""
        draw(self.figure, rows, (home / self.stem).parent, formats=FORMATS)

    def draws(self, needs: Sequence[Need]) -> bool:
        """Return whether the figure shows quantities that a check needs."""
        return any(
            need.where.meets(run.task) and (not need.names or set(need.names) & set(self.figure.y))
            for need in needs
            for run in self.runs
        )


def mean_text(values: np.ndarray | None, points: int, is_share: bool) -> tuple[str, str]:
    """Return the mean over seeds and its 99 % interval as texts; the second is empty if the
    interval is a point."""
    if values is None or not len(values):
        return "–", ""
    mean, *ends = mean_and_interval(values, points)
    low, high = clipped(*ends) if is_share else ends
    return number(mean), "" if low == high else f"[{number(low)}, {number(high)}]"
