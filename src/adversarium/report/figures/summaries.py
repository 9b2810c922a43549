"""Draw the last values of runs: as bars with intervals, lines, matrices and tables."""

from typing import Any

import numpy as np

from adversarium.plans.evidence import Rows
from adversarium.plans.figures import Bars, Heat, Lines, Table
from adversarium.report.figures.numbers import (
    Drawing,
    draw_intervals,
    lines_of,
    mean_and_interval,
    run_place,
    symbols,
)
from adversarium.report.figures.style import (
    COLOURS,
    DASHES,
    add_legend,
    canvas,
    draw_marks,
    mathtext,
    plain_number,
    set_log_scale,
    set_panel_title,
)

MARKERS = "osD^v<>PX"
MANY = (*COLOURS, "#999999", "#8C510A")  # colours of lines


def bars(figure: Bars, runs: list[Rows]) -> Drawing:
    """Draw last values with their intervals, one panel per quantity."""
    size = (max(5.0, 2 + 0.75 * len(runs)), 2.3 * len(figure.y) + 1.6)
    picture, axes = canvas(size, len(figure.y), 1, sharex=True)
    lines, known, labels = [], symbols(runs[0]), [run.label for run in runs]
    for i, (axis, probe) in enumerate(zip(axes[:, 0], figure.y, strict=True)):
        numbers = [mean_and_interval(run.last(probe), run.points(probe)) for run in runs]
        style: dict[str, Any] = dict(fmt="o", color=COLOURS[i % 7], capsize=3, markersize=5)
        draw_intervals(axis, range(len(runs)), np.array(numbers), **style)
        draw_marks(axis, {}, figure.levels)
        name = mathtext(figure.names.get(probe) or known.get(probe, probe))
        axis.set_ylabel(mathtext(figure.y_label) or name)
        axis.set_title(name, fontsize=9)
        axis.margins(y=0.2)
        lines += [(label, probe, *n) for label, n in zip(labels, numbers, strict=True)]
    axes[-1, 0].set_xticks(range(len(runs)), labels, rotation=30, ha="right", fontsize=8)
    axes[-1, 0].set_xlabel("run")
    return Drawing(picture, ("run", "probe", "mean", "low", "high"), lines)


def lines(figure: Lines, runs: list[Rows]) -> Drawing:
    """Draw the means and intervals of quantities against a coordinate of the runs, one panel per
    quantity, one line per value of the coordinates `by`."""
    across = len(figure.numbers)
    picture, axes = canvas((1.4 + 4.2 * across, 4.2), 1, across, sharey=True)
    groups: dict[str, list[Rows]] = {}
    for run in sorted(runs, key=lambda run: float(run.task.coordinates[figure.x])):
        groups.setdefault(run_place(run, figure.by), []).append(run)
    rows = []
    for axis, number in zip(axes.flat, figure.numbers, strict=True):
        for i, (place, members) in enumerate(groups.items()):
            x = [float(run.task.coordinates[figure.x]) for run in members]
            numbers = [mean_and_interval(number.of(run), 0) for run in members]
            draw_intervals(axis, x, np.array(numbers), log=figure.log_y, label=mathtext(place),
                           marker=MARKERS[i % len(MARKERS)], color=MANY[i % 9], linewidth=1.2,
                           linestyle=DASHES[i % 7], markersize=4, capsize=2)  # fmt: skip
            rows += [(number.name, place, at, *n) for at, n in zip(x, numbers, strict=True)]
        if figure.log_x:
            places = sorted({float(run.task.coordinates[figure.x]) for run in runs})
            axis.set_xscale("log")
            axis.set_xticks(places, [plain_number(v) for v in places])
            axis.minorticks_off()
        if figure.log_y:
            set_log_scale(axis, "y")
        text_lines = draw_marks(axis, {}, figure.levels)
        axis.set_xlabel(mathtext(figure.x_label or figure.x))
        if across > 1:
            set_panel_title(axis, number.name, text_lines)
    axes.flat[0].set_ylabel(mathtext(figure.y_label or figure.numbers[0].name))
    add_legend(picture, axes.flat[-1])
    header = ("number", ", ".join(figure.by), figure.x, "mean", "low", "high")
    return Drawing(picture, header, rows)


def heat(figure: Heat, runs: list[Rows]) -> Drawing:
    """Draw a matrix of means with coloured cells, one panel per value of the coordinates `by`."""
    from matplotlib.colors import LogNorm

    panels: dict[str, dict[str, Rows]] = {}
    for run in runs:
        panels.setdefault(run_place(run, figure.by), {})[run_place(run, figure.rows)] = run
    height = 0.42 * max(map(len, panels.values())) + 2.6
    width = 1.6 + 0.75 * len(figure.numbers)
    picture, axes = canvas((width * len(panels) + 1.6, height), 1, len(panels), sharey=True)
    numbers = {(panel, row, number.name): mean_and_interval(number.of(run), 0)
               for panel, members in panels.items() for row, run in members.items()
               for number in figure.numbers}  # fmt: skip
    top = max(mean for mean, _, _ in numbers.values())
    scale = LogNorm(figure.floor, max(top, 2 * figure.floor))
    names = [number.name for number in figure.numbers]
    for axis, (panel, members) in zip(axes.flat, panels.items(), strict=True):
        cells = np.array([[numbers[panel, row, name][0] for name in names] for row in members])
        image = axis.imshow(cells.clip(figure.floor), norm=scale, cmap="cividis", aspect="auto")
        for (i, j), value in np.ndenumerate(cells):
            is_dark = scale(max(value, figure.floor)) < 0.6
            axis.text(j, i, _cell(value, figure.floor), ha="center", va="center", fontsize=7.5,
                      color="white" if is_dark else "black")  # fmt: skip
        axis.set_xticks(range(len(names)), [mathtext(n) for n in names], rotation=40, ha="right")
        axis.set_yticks(range(len(members)), [mathtext(row) for row in members])
        axis.grid(visible=False)
        axis.set_xlabel(mathtext(figure.x_label))
        set_panel_title(axis, panel, 0)
    axes.flat[0].set_ylabel(mathtext(figure.y_label))
    picture.colorbar(image, ax=axes, label=mathtext(figure.value_label), shrink=0.8)
    rows = [(*place, *values) for place, values in numbers.items()]
    return Drawing(picture, ("panel", "row", "column", "mean", "low", "high"), rows)


def _cell(value: float, floor: float) -> str:
    return f"<{plain_number(floor)}" if value < floor else f"{value:.2g}"


def table(figure: Table, runs: list[Rows]) -> Drawing:
    """Return the numbers of a table; there is no picture."""
    columns, lines = table_columns(figure, runs), []
    for run in runs:
        for probe, name, place in columns:
            values = table_value(run, probe, place)
            if values is not None:
                lines.append((run.label, name, *mean_and_interval(values, run.points(probe))))
    return Drawing(None, ("run", "quantity", "mean", "low", "high"), lines)


def table_columns(figure: Table, runs: list[Rows]) -> list[tuple[str, str, int]]:
    """Return the columns of a table: probe, name, and index on the probe's axis (−1: no axis)."""
    columns = []
    for probe in figure.y:
        run = next((run for run in runs if probe in run.series), None)
        if run is not None:
            name = figure.names.get(probe) or symbols(run).get(probe, probe)
            columns += [
                (probe, f"{name}, {place}" if place else name, i if place else -1)
                for i, (place, _) in enumerate(lines_of(run[probe], {}))
            ]
    return columns


def table_value(run: Rows, probe: str, place: int) -> np.ndarray | None:
    """Return the last values of a probe at an index on its axis, one per seed; None if the run did
    not record them."""
    if probe not in run.series:
        return None
    last = run.last(probe)
    flat = last.reshape(len(last), -1)
    return flat[:, max(place, 0)] if flat.shape[1] > max(place, 0) else None
