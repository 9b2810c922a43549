"""Draw figures from stored rows, and write the numbers of each as a CSV file of the same name."""

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
    """Return the runs that a figure shows: those that it selects and that recorded its data."""
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
    """Draw a figure of rows; return None if the runs that it shows are not stored. Curves of the
    published runs of the same plan (`under`) are added in a pale colour."""
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
    """Return the published run for the label of each changed run. Runs are paired by their position
    in the plan, because coordinates may have changed."""
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
    """Write a figure and its numbers into a folder; return the files. If the runs that it shows are
    not stored, write nothing."""
    result = drawing(figure, rows, under)
    return [] if result is None else result.save(folder / f"{file_name(figure.name)}.csv", formats)
