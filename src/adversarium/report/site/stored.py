"""An experiment with the strongest rows that are there, and its figures as files of the site."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from adversarium.plans.catalogue import load
from adversarium.plans.evidence import Evidence, Need, Rows
from adversarium.plans.experiment import Experiment
from adversarium.plans.figures import Course, Curves, Figure, Heat, Lines, Powers, Profile, Table
from adversarium.plans.shares import clipped, shares
from adversarium.report.figures import draw, mean_and_interval, shown, table_columns, table_value
from adversarium.report.figures.style import file_name
from adversarium.report.mathematics import plain
from adversarium.report.site import inputs
from adversarium.report.site.folder import Drawn
from adversarium.report.site.parts import cell, escape, folded, table
from adversarium.report.tables import number
from adversarium.report.typeset import typeset
from adversarium.runs.audit import stored_evidence
from adversarium.runs.jobs import Job
from adversarium.runs.store import Store

FORMATS = ("svg", "pdf", "png")
LINES = 40  # of a table on a page; its data file has all


@dataclass(frozen=True)
class Stored:
    """An experiment, and the preset, seeds, jobs and rows that are there of it."""

    experiment: Experiment
    preset: str
    seeds: tuple[int, ...]
    jobs: tuple[Job, ...]
    rows: Evidence

    @property
    def name(self) -> str:
        """The stem of its files."""
        return file_name(self.experiment.name)

    @cached_property
    def figures(self) -> tuple["Shown", ...]:
        """Its figures, those whose runs are there."""
        made = (Shown(self.name, f, shown(f, self.rows)) for f in self.experiment.figures)
        return tuple(figure for figure in made if figure.runs)

    def drawn(self, made_by: str) -> list[Drawn]:
        """Its figures as files."""
        digest = inputs.rows(self.rows, (job.key for job in self.jobs), made_by)
        return [
            Drawn(one.paths, f"{digest} {one.figure.name}", partial(one.draw, self.rows))
            for one in self.figures
        ]


@dataclass(frozen=True)
class Shown:
    """A figure on the site: the stem of its experiment's files, the figure, the runs it shows."""

    home: str
    figure: Figure
    runs: Sequence[Rows]

    @property
    def is_table(self) -> bool:
        """Whether the page sets it."""
        return isinstance(self.figure, Table)

    @property
    def stem(self) -> str:
        """Where its files are."""
        return f"figures/{self.home}/{file_name(self.figure.name)}"

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files: the numbers, and the picture in every format."""
        return tuple(f"{self.stem}.{form}" for form in ("csv", *(() if self.is_table else FORMATS)))

    def draw(self, rows: Evidence, home: Path) -> None:
        """Writes its files."""
        draw(self.figure, rows, (home / self.stem).parent, formats=FORMATS)

    def shows(self, needs: Sequence[Need]) -> bool:
        """Whether it draws numbers that a check needs."""
        return any(
            need.where.meets(run.task) and (not need.names or set(need.names) & set(self.figure.y))
            for need in needs
            for run in self.runs
        )

    def html(self, up: str) -> str:
        """The figure with its caption and its files."""
        links = ", ".join(
            f'<a href="{up}{path}">{"data" if path.endswith("csv") else path[-3:]}</a>'
            for path in self.paths
        )
        caption = f"<figcaption>{typeset(self.figure.caption)} {links}</figcaption>"
        if self.is_table:
            title = f"<h3>{typeset(self.figure.title or self.figure.name)}</h3>"
            return f"<figure>{title}{self._table()}{caption}</figure>"
        alt = escape(plain(f"{self.figure.title}. {self.figure.caption}"))
        several = isinstance(self.figure, (Course, Heat, Lines, Powers)) or (
            isinstance(self.figure, (Curves, Profile)) and len(self.runs) > 1
        )
        picture = f'<img src="{up}{self.stem}.svg" alt="{alt}"/>'
        kind = "wide panels" if several else "wide"
        return f'<figure><div class="{kind}">{picture}</div>{caption}</figure>'

    def _table(self) -> str:
        assert isinstance(self.figure, Table)
        columns = table_columns(self.figure, list(self.runs))
        lines = [
            [cell(typeset(run.label)), *(_value(run, column) for column in columns)]
            for run in self.runs[:LINES]
        ]
        made = table(("run", *(plain(name) for _, name, _ in columns)), lines, "numbers")
        if len(self.runs) <= 12:
            return made
        some = "" if len(self.runs) <= LINES else f"the first {LINES} of "
        return folded(f"{some}{len(self.runs)} runs", made)


def _value(run: Rows, column: tuple[str, str, int]) -> str:
    probe, _, place = column
    values = table_value(run, probe, place)
    if values is None:
        return cell("–", "n")
    mean, *around = mean_and_interval(values, run.points(probe))
    low, high = clipped(*around) if probe in shares(run.task) else around
    ends = "" if low == high else f' <span class="soft">[{number(low)}, {number(high)}]</span>'
    return cell(f"{number(mean)}{ends}", "n")


def stored(id: str, store: Store) -> Stored | None:
    """An experiment with its rows; None where there are none."""
    experiment = load(id)
    made = stored_evidence(experiment, store)
    if made is None:
        return None
    preset, seeds, jobs, rows = made
    return Stored(experiment, preset, seeds, tuple(jobs), rows)


def told(configuration: Any) -> str:
    """A part of a configuration in words: its class with its fields.

    >>> told({"is": "Ball", "p": 2, "radius": 1.5})
    'Ball(p=2, radius=1.5)'
    """
    if isinstance(configuration, dict):
        fields = ((k, v) for k, v in configuration.items() if k != "is")
        inside = ", ".join(f"{k}={told(v)}" for k, v in fields)
        return f"{configuration['is']}({inside})" if "is" in configuration else f"{{{inside}}}"
    if isinstance(configuration, list):
        return f"({', '.join(map(told, configuration))})"
    return f"{configuration:g}" if isinstance(configuration, float) else str(configuration)
