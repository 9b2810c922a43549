"""Last values, one a run: bars with intervals, and tables."""

import numpy as np

from adversarium.plans.evidence import Rows
from adversarium.plans.figures import Bars, Heat, Lines, Table
from adversarium.report.figures.numbers import (
    Drawing,
    lines_of,
    located,
    mean_and_interval,
    symbols,
)
from adversarium.report.figures.style import (
    COLOURS,
    DASHES,
    canvas,
    headed,
    legend_below,
    log_ticks,
    marks,
    plain_number,
    titled,
    typeset,
)

MARKERS = "osD^v<>PX"
MANY = (*COLOURS, "#999999", "#8C510A")  # of lines, each with its own marker


def bars(figure: Bars, runs: list[Rows]) -> Drawing:
    """Last values with their intervals, one panel a number."""
    size = (max(5.0, 2 + 0.75 * len(runs)), 2.3 * len(figure.y) + 1.6)
    picture, axes = canvas(size, len(figure.y), 1, sharex=True)
    lines, told, labels = [], symbols(runs[0]), [run.label for run in runs]
    for i, (axis, probe) in enumerate(zip(axes[:, 0], figure.y, strict=True)):
        numbers = [mean_and_interval(run.last(probe), run.points(probe)) for run in runs]
        mean, low, high = (np.array(column) for column in zip(*numbers, strict=True))
        reach = np.nan_to_num(np.stack([mean - low, high - mean]))
        axis.errorbar(
            range(len(runs)), mean, reach, fmt="o", color=COLOURS[i % 7], capsize=3, markersize=5
        )
        marks(axis, {}, figure.levels)
        name = typeset(figure.names.get(probe) or told.get(probe, probe))
        axis.set_ylabel(typeset(figure.y_label) or name)
        axis.set_title(name, fontsize=9)
        axis.margins(y=0.2)
        lines += [(label, probe, *n) for label, n in zip(labels, numbers, strict=True)]
    axes[-1, 0].set_xticks(range(len(runs)), labels, rotation=30, ha="right", fontsize=8)
    axes[-1, 0].set_xlabel("run")
    headed(picture, figure.title)
    return Drawing(picture, ("run", "probe", "mean", "low", "high"), lines)


def lines(figure: Lines, runs: list[Rows]) -> Drawing:
    """A number a run with its interval, one panel a number, one line a place of `by`."""
    across = len(figure.numbers)
    picture, axes = canvas((1.4 + 4.2 * across, 4.2), 1, across, sharey=True)
    kinds: dict[str, list[Rows]] = {}
    for run in sorted(runs, key=lambda run: float(run.task.coordinates[figure.x])):
        kinds.setdefault(located(run, figure.by), []).append(run)
    written = []
    for axis, number in zip(axes.flat, figure.numbers, strict=True):
        for i, (text, own) in enumerate(kinds.items()):
            x = [float(run.task.coordinates[figure.x]) for run in own]
            told = [mean_and_interval(number.of(run), 0) for run in own]
            mean, low, high = (np.array(column) for column in zip(*told, strict=True))
            below = np.maximum(low, mean / 20) if figure.log_y else low  # stays on the axis
            reach = np.nan_to_num(np.stack([mean - below, high - mean]))
            axis.errorbar(x, mean, reach, label=typeset(text), marker=MARKERS[i % len(MARKERS)],
                          color=MANY[i % 9], linestyle=DASHES[i % 7], linewidth=1.2,
                          markersize=4, capsize=2)  # fmt: skip
            written += [(number.name, text, *row) for row in zip(x, mean, low, high, strict=True)]
        if figure.log_x:
            places = sorted({float(run.task.coordinates[figure.x]) for run in runs})
            axis.set_xscale("log")
            axis.set_xticks(places, [plain_number(v) for v in places])
            axis.minorticks_off()
        if figure.log_y:
            axis.set_yscale("log")
            log_ticks(axis.yaxis)
        high_up = marks(axis, {}, figure.levels)
        axis.set_xlabel(typeset(figure.x_label or figure.x))
        if across > 1:
            titled(axis, number.name, high_up)
    axes.flat[0].set_ylabel(typeset(figure.y_label or figure.numbers[0].name))
    legend_below(picture, axes.flat[-1])
    headed(picture, figure.title)
    return Drawing(
        picture, ("number", ", ".join(figure.by), figure.x, "mean", "low", "high"), written
    )


def heat(figure: Heat, runs: list[Rows]) -> Drawing:
    """A matrix of means with coloured cells, one panel a place of `by`."""
    from matplotlib.colors import LogNorm

    panels: dict[str, dict[str, Rows]] = {}
    for run in runs:
        panels.setdefault(located(run, figure.by), {})[located(run, figure.rows)] = run
    tall = max(map(len, panels.values()))
    wide = 1.6 + 0.75 * len(figure.numbers)
    picture, axes = canvas((wide * len(panels) + 1.6, 0.42 * tall + 2.6), 1, len(panels),
                           sharey=True)  # fmt: skip
    told = {(panel, row, number.name): mean_and_interval(number.of(run), 0)
            for panel, own in panels.items() for row, run in own.items()
            for number in figure.numbers}  # fmt: skip
    top = max(mean for mean, _, _ in told.values())
    scale, names = (
        LogNorm(figure.floor, max(top, 2 * figure.floor)),
        [n.name for n in figure.numbers],
    )
    for axis, (panel, own) in zip(axes.flat, panels.items(), strict=True):
        cells = np.array([[told[panel, row, name][0] for name in names] for row in own])
        shown = axis.imshow(cells.clip(figure.floor), norm=scale, cmap="cividis", aspect="auto")
        for (i, j), value in np.ndenumerate(cells):
            dark = scale(max(value, figure.floor)) < 0.6
            axis.text(j, i, _cell(value, figure.floor), ha="center", va="center", fontsize=7.5,
                      color="white" if dark else "black")  # fmt: skip
        axis.set_xticks(range(len(names)), [typeset(n) for n in names], rotation=40, ha="right")
        axis.set_yticks(range(len(own)), [typeset(row) for row in own])
        axis.grid(visible=False)
        axis.set_xlabel(typeset(figure.x_label))
        titled(axis, panel, 0)
    axes.flat[0].set_ylabel(typeset(figure.y_label))
    picture.colorbar(shown, ax=axes, label=typeset(figure.value_label), shrink=0.8)
    headed(picture, figure.title)
    written = [(*key, *numbers) for key, numbers in told.items()]
    return Drawing(picture, ("panel", "row", "column", "mean", "low", "high"), written)


def _cell(value: float, floor: float) -> str:
    return f"<{plain_number(floor)}" if value < floor else f"{value:.2g}"


def table(figure: Table, runs: list[Rows]) -> Drawing:
    """The numbers of a table; the site sets it."""
    columns, lines = table_columns(figure, runs), []
    for run in runs:
        for probe, name, place in columns:
            values = table_value(run, probe, place)
            if values is not None:
                lines.append((run.label, name, *mean_and_interval(values, run.points(probe))))
    return Drawing(None, ("run", "quantity", "mean", "low", "high"), lines)


def table_columns(figure: Table, runs: list[Rows]) -> list[tuple[str, str, int]]:
    """The columns of a table: the number, its name, and its place on an axis (−1: it has none)."""
    columns = []
    for probe in figure.y:
        for run in runs:
            if probe in run.series:
                name = figure.names.get(probe) or symbols(run).get(probe, probe)
                places = lines_of(run[probe], {})
                columns += [
                    (probe, f"{name}, {place}" if place else name, i if place else -1)
                    for i, (place, _) in enumerate(places)
                ]
                break
    return columns


def table_value(run: Rows, probe: str, place: int) -> np.ndarray | None:
    """The last values of a number at a place of its axis, one a seed; None where a run lacks it."""
    if probe not in run.series:
        return None
    last = run.last(probe)
    flat = last.reshape(len(last), -1)
    return flat[:, max(place, 0)] if flat.shape[1] > max(place, 0) else None
