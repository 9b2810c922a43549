"""Figures from stored rows: pictures, and beside each its numbers as CSV of the same name."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.plans.boundary import crossings, fit
from adversarium.plans.evidence import Evidence, Rows, Series, Where, interval, slope
from adversarium.plans.figures import (
    Bars,
    Course,
    Curves,
    Figure,
    Phase,
    Powers,
    Profile,
    Table,
)
from adversarium.plans.run import Run
from adversarium.report.figures.planes import Plane
from adversarium.report.figures.style import COLOURS, DASHES, pyplot, save, write_csv


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
                f"{axis} {_place(axis, series.axes[axis][i])}"
                for axis, i in places.items()
                if axis not in pick
            )
            made.append((told, series.values[(slice(None), slice(None), *index)]))
    return made


def _place(axis: str, at: float) -> str:
    """A place of an axis in words: classes, units and points count from one."""
    return f"{at + 1:g}" if axis in ("class", "unit", "point") else f"{at:g}"


def drawing(figure: Figure, rows: Evidence, under: Evidence | None = None) -> Drawing | None:
    """A figure of rows; None when the runs that it shows are not there. `under`: other rows of the
    same plan (the published setting), drawn pale below the curves."""
    present = shown(figure, rows)
    if not present:
        return None
    match figure:
        case Curves():
            return _curves(figure, present, rows, _beside(present, rows, under))
        case Course():
            return _course(figure, present[0])
        case Bars():
            return _bars(figure, present)
        case Profile():
            return _profile(figure, present)
        case Table():
            return _table(figure, present)
        case Phase():
            return _phase(figure, present)
        case Powers():
            return _powers(figure, rows)


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
    return [] if made is None else made.save(folder / f"{figure.name}.csv", formats)


def _panels(count: int) -> tuple[Any, Any]:
    plt = pyplot()
    size = (1.2 + (4.6 if count < 3 else 3.5) * count, 3.9)
    picture, axes = plt.subplots(1, count, figsize=size, sharey=True, squeeze=False)
    plt.close(picture)
    return picture, axes[0]


def _style(i: int) -> dict[str, Any]:
    return dict(color=COLOURS[i % 7], linestyle=DASHES[i % 7])


def _curves(figure: Curves, runs: list[Rows], rows: Evidence, under: Mapping[str, Rows]) -> Drawing:
    picture, axes = _panels(len(runs))
    lines = []
    for axis, run in zip(axes, runs, strict=True):
        told, count = symbols(run), 0
        for probe in figure.y:
            name = figure.names.get(probe) or told.get(probe, probe)
            pale = under.get(run.label)
            published = pale[probe] if pale is not None and probe in pale.series else None
            beside = {} if published is None else dict(lines_of(published, figure.pick))
            series = run[probe]
            for place, values in lines_of(series, figure.pick):
                shown_as = f"{name} ({place})" if place else name
                row = f"{probe}, {place}" if place else probe
                style = _style(count)
                count += 1
                if published is not None and place in beside:
                    below = beside[place]
                    mean = below.mean(0)
                    label = f"{shown_as}, published"
                    axis.plot(published.t, mean, alpha=0.4, label=label, **style)
                    band = zip(published.t, mean, below.min(0), below.max(0), strict=True)
                    lines += [(f"{run.label}, published", row, *v) for v in band]
                low, high, mean = values.min(0), values.max(0), values.mean(0)
                axis.plot(series.t, mean, label=shown_as, **style)
                axis.fill_between(
                    series.t, low, high, color=style["color"], alpha=0.18, linewidth=0
                )
                band = zip(series.t, mean, low, high, strict=True)
                lines += [(run.label, row, *v) for v in band]
        if figure.log_x:
            axis.set_xscale("symlog", linthresh=1)
            axis.set_xlim(left=0)
        if figure.log_y:
            axis.set_yscale("log")
        _marks(axis, {**figure.lines, **_moments(figure, run, rows)}, figure.levels)
        axis.set_xlabel(figure.x_label)
        if len(runs) > 1:
            axis.set_title(run.label, fontsize=10)
    axes[0].set_ylabel(figure.y_label)
    axes[0].legend(frameon=False, fontsize=8)
    picture.suptitle(figure.title, fontsize=11)
    return Drawing(picture, ("run", "probe", "t", "mean", "lowest", "highest"), lines)


def _moments(figure: Curves, run: Rows, rows: Evidence) -> dict[str, float]:
    """The times of a run that the rows decide, with their means in words."""
    marks = {}
    for text, moment in figure.moments.items():
        if moment.run.meets(run.task):
            t = moment.of.of(rows)
            if np.isfinite(t).any():
                marks[f"{text}: {np.nanmean(t):.0f}"] = float(np.nanmean(t))
    return marks


def _course(figure: Course, run: Rows) -> Drawing:
    plt = pyplot()
    count = len(figure.panels)
    picture, axes = plt.subplots(1, count, figsize=(1.2 + 3.7 * count, 3.9), squeeze=False)
    plt.close(picture)
    seed = min(figure.seed, len(run.seeds) - 1)
    marked = {
        text: float(run.last(probe)[seed])
        for text, probe in figure.times.items()
        if probe in run.series
    }
    lines = []
    for axis, (title, probes) in zip(axes[0], figure.panels.items(), strict=True):
        for i, (probe, symbol) in enumerate(probes.items()):
            parts = lines_of(run[probe], {})
            for j, (place, values) in enumerate(parts):
                thin = 1.6 if len(parts) == 1 else 0.8
                label = symbol if j == 0 else None
                axis.plot(run[probe].t, values[seed], linewidth=thin, label=label, **_style(i))
                row = f"{probe}, {place}" if place else probe
                lines += [(row, *v) for v in zip(run[probe].t, values[seed], strict=True)]
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xlim(left=0)
        _marks(axis, {k: v for k, v in marked.items() if math.isfinite(v) and v < 1e12}, {})
        axis.set_xlabel(figure.x_label)
        axis.set_title(title, fontsize=10)
        axis.legend(frameon=False, fontsize=8)
    picture.suptitle(figure.title, fontsize=11)
    lines += [(text, t, "") for text, t in marked.items()]
    return Drawing(picture, ("probe", "t", f"seed {run.seeds[seed]}"), lines)


def _profile(figure: Profile, runs: list[Rows]) -> Drawing:
    picture, axes = _panels(len(runs))
    lines = []
    for axis, run in zip(axes, runs, strict=True):
        told, means = symbols(run), {}
        for i, probe in enumerate(figure.y):
            series = run[probe]
            (x,) = series.axes.values()
            values = 1 - series.last() if figure.complement else series.last()
            low, high, means[probe] = values.min(0), values.max(0), values.mean(0)
            name = figure.names.get(probe) or told.get(probe, probe)
            axis.plot(x, means[probe], marker="o", markersize=3, label=name, **_style(i))
            axis.fill_between(x, low, high, color=COLOURS[i % 7], alpha=0.15, linewidth=0)
            lines += [(run.label, probe, *v) for v in zip(x, means[probe], low, high, strict=True)]
        if figure.between is not None:
            a, b = figure.between
            (x,) = run[a].axes.values()
            axis.fill_between(x, means[a], means[b], color="#999999", alpha=0.25, linewidth=0,
                              label="bracket: proven to unbroken")  # fmt: skip
        for text, points in figure.steps.items():
            axis.step(*zip(*points, strict=True), where="post", color="black", linewidth=1,
                      label=text)  # fmt: skip
        if figure.log_x:
            axis.set_xscale("log")
        _marks(axis, figure.lines, {})
        axis.set_xlabel(figure.x_label)
        axis.set_title(run.label, fontsize=10)
    axes[0].set_ylabel(figure.y_label)
    axes[-1].legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    picture.suptitle(figure.title, fontsize=11)
    return Drawing(picture, ("run", "probe", "x", "mean", "lowest", "highest"), lines)


def _marks(axis: Any, verticals: Mapping[str, float], levels: Mapping[str, float]) -> None:
    for i, (text, t) in enumerate(sorted(verticals.items(), key=lambda mark: mark[1])):
        axis.axvline(t, color="#666666", linewidth=0.8, linestyle=":")
        place = axis.transAxes.inverted().transform(axis.transData.transform((t, 0)))[0]
        right = place > 0.8  # near the edge the text goes to the left
        axis.annotate(
            text,
            (t, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if right else 3, -9 - 11 * (i % 3)),
            ha="right" if right else "left",
            textcoords="offset points",
            fontsize=8,
            color="#444444",
        )
    for text, value in levels.items():
        axis.axhline(value, color="#666666", linewidth=0.8, linestyle=":")
        axis.annotate(
            text,
            (1, value),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 3),
            ha="right",
            textcoords="offset points",
            fontsize=8,
            color="#444444",
        )


def mean_and_interval(values: np.ndarray) -> tuple[float, float, float]:
    """The mean over seeds, and its 99 % interval."""
    low, high = interval(values)
    return float(values.mean()), low, high


def _bars(figure: Bars, runs: list[Rows]) -> Drawing:
    plt = pyplot()
    picture, axes = plt.subplots(
        len(figure.y),
        1,
        figsize=(2 + 0.75 * len(runs), 2.3 * len(figure.y) + 1),
        sharex=True,
        squeeze=False,
    )
    plt.close(picture)
    lines, told, labels = [], symbols(runs[0]), [run.label for run in runs]
    for i, (axis, probe) in enumerate(zip(axes[:, 0], figure.y, strict=True)):
        numbers = [mean_and_interval(run.last(probe)) for run in runs]
        mean, low, high = (np.array(column) for column in zip(*numbers, strict=True))
        reach = np.nan_to_num(np.stack([mean - low, high - mean]))
        axis.errorbar(
            range(len(runs)), mean, reach, fmt="o", color=COLOURS[i % 7], capsize=3, markersize=5
        )
        _marks(axis, {}, figure.levels)
        axis.set_ylabel(figure.y_label)
        axis.set_title(figure.names.get(probe) or told.get(probe, probe), fontsize=9)
        axis.margins(y=0.2)
        lines += [(label, probe, *n) for label, n in zip(labels, numbers, strict=True)]
    axes[-1, 0].set_xticks(range(len(runs)), labels, rotation=30, ha="right", fontsize=8)
    picture.suptitle(figure.title, fontsize=11)
    return Drawing(picture, ("run", "probe", "mean", "low", "high"), lines)


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


def _table(figure: Table, runs: list[Rows]) -> Drawing:
    columns, lines = table_columns(figure, runs), []
    for run in runs:
        for probe, name, place in columns:
            values = table_value(run, probe, place)
            if values is not None:
                lines.append((run.label, name, *mean_and_interval(values)))
    return Drawing(None, ("run", "quantity", "mean", "low", "high"), lines)


def _phase(figure: Phase, runs: list[Rows]) -> Drawing:
    cells = [run.task.coordinates for run in runs]
    points = np.array([(float(c[figure.x]), float(c[figure.y_along])) for c in cells])
    values = np.stack([run.last(figure.switch.probe) for run in runs])
    plane = Plane(points[:, 0], points[:, 1], values.mean(1), (figure.x_label, figure.y_label))
    line = fit(points[:, 0], points[:, 1], values, figure.switch.above) if figure.line else None
    what = figure.switch.name or figure.switch.probe
    theorem = np.empty((0, 2))
    if figure.switch.predicted is not None:
        margins = np.array([figure.switch.predicted(run.task) for run in runs])
        theorem = crossings(points[:, 0], points[:, 1], margins)
    picture = plane.draw(figure.title, what, line, theorem)
    if figure.point is not None:
        text, x, y = figure.point
        picture.axes[0].plot(x, y, marker="*", markersize=14, color=COLOURS[1], zorder=5)
        picture.axes[0].annotate(text, (x, y), xytext=(8, 6), textcoords="offset points", zorder=5)
    lines: list[tuple[Any, ...]] = [
        (*point, float(v.mean()), float(v.min()), float(v.max()))
        for point, v in zip(points.tolist(), values, strict=True)
    ]
    lines += [(x, y, "predicted boundary", "", "") for x, y in theorem.tolist()]
    if line is not None:
        for x in np.unique(points[:, 0]):
            y, low, high = (float(v[0]) for v in line.y(np.array([x])))
            lines.append((x, y, "fitted boundary", low, high))
    header = (figure.x_label, figure.y_label, what, "lowest", "highest")
    return Drawing(picture, header, lines)


def _swept(figure: Powers, rows: Evidence, name: str, meant: Where) -> dict[float, Rows]:
    """The runs of one sweep that recorded what is read, by what is swept."""
    runs = rows.where(meant).by(figure.along.get(name, name))
    return {float(x): run for x, run in runs.items() if all(n in run.series for n in figure.y)}


def _powers(figure: Powers, rows: Evidence) -> Drawing:
    swept = {name: _swept(figure, rows, name, meant) for name, meant in figure.sweeps.items()}
    panels = {name: runs for name, runs in swept.items() if len(runs) > 1}
    across = max(1, min(4, len(panels)))
    down = max(1, -(-len(panels) // across))
    plt = pyplot()
    size = (1 + 2.6 * across, 0.8 + 2.6 * down)
    picture, axes = plt.subplots(down, across, figsize=size, squeeze=False)
    plt.close(picture)
    lines: list[tuple[Any, ...]] = []
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for i, (axis, (name, runs)) in enumerate(zip(axes.flat, panels.items(), strict=False)):
        x = np.array(list(runs))
        values = np.stack([figure.number.of(run) for run in runs.values()], axis=1)
        values = values[np.isfinite(values).all(1)]
        if not len(values):
            axis.set(xlabel=name, title="in no seed within the run")
            continue
        middle = np.exp(np.log(values).mean(0))
        reach = np.stack([middle - values.min(0), values.max(0) - middle])
        axis.errorbar(x, middle, reach, fmt="o", color=COLOURS[0], capsize=3, markersize=4)
        powers = slope(x, values)
        low, high = interval(powers)
        centre = np.exp(np.log(x).mean()), np.exp(np.log(middle).mean())
        fitted = f"{powers.mean():.2f} [{low:.2f}, {high:.2f}]"
        ahead = centre[1] * (x / centre[0]) ** powers.mean()
        axis.plot(x, ahead, color=COLOURS[1], label=f"fitted {fitted}")
        claimed = figure.claimed[name]
        ahead = centre[1] * (x / centre[0]) ** claimed
        axis.plot(x, ahead, "k--", linewidth=1, label=f"claimed {claimed:g}")
        axis.set(xscale="log", yscale="log", xlabel=name)
        axis.set_xticks(x, [f"{v:g}" for v in x])
        axis.minorticks_off()
        axis.legend(frameon=False, fontsize=7)
        if i % across == 0:
            axis.set_ylabel(figure.y_label)
        lines += [
            (name, *numbers)
            for numbers in zip(x, middle, values.min(0), values.max(0), strict=True)
        ]
        lines.append((name, f"power; claimed {claimed:g}", float(powers.mean()), low, high))
    picture.suptitle(figure.title, fontsize=11)
    return Drawing(picture, ("swept", "value", "mean", "low", "high"), lines)
