"""Figures from stored rows: pictures, and the numbers of each as a CSV file of the same name."""

from collections.abc import Sequence
from pathlib import Path

from adversarium.plans import figures
from adversarium.plans.evidence import Evidence, Rows
from adversarium.report.figures.curves import course, curves, profile
from adversarium.report.figures.fits import contours, phase, powers
from adversarium.report.figures.numbers import Drawing
from adversarium.report.figures.style import add_title, file_name, with_style
from adversarium.report.figures.summaries import bars, heat, lines, table


def figure_runs(figure: figures.Figure, rows: Evidence) -> list[Rows]:
    """The runs that a figure shows: those that it selects and that recorded its numbers."""
    enough = any if isinstance(figure, figures.Table) else all
    chosen: dict[str, Rows] = {}
    for where in figure.runs:
        for run in rows.where(where):
            if enough(name in run.series for name in figure.y):
                chosen.setdefault(run.label, run)
    is_open = isinstance(figure, figures.Curves) and len(figure.runs) == 1
    return list(chosen.values())[: 4 if is_open else len(chosen)]


@with_style
def drawing(
    figure: figures.Figure, rows: Evidence, under: Evidence | None = None
) -> Drawing | None:
    """A figure of rows; None if the runs that it shows are not stored. The rows of the published
    runs of the same plan (`under`) are drawn pale below the curves."""
    runs = figure_runs(figure, rows)
    result = _drawing(figure, runs, rows, under) if runs else None
    if result is not None and result.picture is not None:
        add_title(result.picture, figure.title)
    return result


def _drawing(
    figure: figures.Figure, runs: list[Rows], rows: Evidence, under: Evidence | None
) -> Drawing | None:
    match figure:
        case figures.Curves():
            return curves(figure, runs, rows, _published(rows, under))
        case figures.Course():
            return course(figure, runs[0])
        case figures.Bars():
            return bars(figure, runs)
        case figures.Profile():
            return profile(figure, runs)
        case figures.Table():
            return table(figure, runs)
        case figures.Phase():
            return phase(figure, runs)
        case figures.Contours():
            return contours(figure, runs)
        case figures.Powers():
            return powers(figure, rows)
        case figures.Lines():
            return lines(figure, runs)
        case figures.Heat():
            return heat(figure, runs)


def _published(rows: Evidence, under: Evidence | None) -> dict[str, Rows]:
    """The published run for the label of each changed run. Runs are paired by their position in the
    plan, since coordinates may have changed."""
    if under is None or len(under) != len(rows):
        return {}
    return dict(zip((run.label for run in rows), under, strict=True))


def draw(
    figure: figures.Figure,
    rows: Evidence,
    folder: Path,
    under: Evidence | None = None,
    formats: Sequence[str] = ("svg",),
) -> list[Path]:
    """Draw a figure into a folder, with its numbers; return the files, none if the runs that it
    shows are not stored."""
    result = drawing(figure, rows, under)
    return [] if result is None else result.save(folder / f"{file_name(figure.name)}.csv", formats)
