"""Figures from stored rows: pictures, and beside each its numbers as CSV of the same name."""

from collections.abc import Sequence
from pathlib import Path

from adversarium.plans.evidence import Evidence, Rows
from adversarium.plans.figures import (
    Bars,
    Contours,
    Course,
    Curves,
    Figure,
    Heat,
    Lines,
    Phase,
    Powers,
    Profile,
    Table,
)
from adversarium.report.figures.curves import course, curves, profile
from adversarium.report.figures.fits import contours, phase, powers
from adversarium.report.figures.numbers import Drawing
from adversarium.report.figures.style import file_name, styled
from adversarium.report.figures.summaries import bars, heat, lines, table


def shown(figure: Figure, rows: Evidence) -> list[Rows]:
    """The runs that a figure shows: those that are meant and recorded its numbers."""
    enough = any if isinstance(figure, Table) else all
    chosen: dict[str, Rows] = {}
    for meant in figure.runs:
        for run in rows.where(meant):
            if enough(name in run.series for name in figure.y):
                chosen.setdefault(run.label, run)
    most = 4 if isinstance(figure, Curves) and len(figure.runs) == 1 else len(chosen)
    return list(chosen.values())[:most]


@styled
def drawing(figure: Figure, rows: Evidence, under: Evidence | None = None) -> Drawing | None:
    """A figure of rows; None when the runs that it shows are not there. `under`: other rows of the
    same plan (the published setting), drawn pale below the curves."""
    present = shown(figure, rows)
    if not present:
        return None
    match figure:
        case Curves():
            return curves(figure, present, rows, _beside(present, rows, under))
        case Course():
            return course(figure, present[0])
        case Bars():
            return bars(figure, present)
        case Profile():
            return profile(figure, present)
        case Table():
            return table(figure, present)
        case Phase():
            return phase(figure, present)
        case Contours():
            return contours(figure, present)
        case Powers():
            return powers(figure, rows)
        case Lines():
            return lines(figure, present)
        case Heat():
            return heat(figure, present)


def _beside(present: list[Rows], rows: Evidence, under: Evidence | None) -> dict[str, Rows]:
    """The published run beside each changed one: by its place in the plan, since coordinates may
    have changed."""
    if under is None or len(under) != len(rows):
        return {}
    pairs = dict(zip((run.label for run in rows), under, strict=True))
    return {run.label: pairs[run.label] for run in present}


def draw(
    figure: Figure,
    rows: Evidence,
    folder: Path,
    under: Evidence | None = None,
    formats: Sequence[str] = ("svg",),
) -> list[Path]:
    """Draws a figure into a folder, its numbers beside it; the files, none when the runs that it
    shows are not there."""
    made = drawing(figure, rows, under)
    return [] if made is None else made.save(folder / f"{file_name(figure.name)}.csv", formats)
