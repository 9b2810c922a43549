"""Figures from stored rows: pictures, and beside each its numbers as CSV of the same name."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.experiments.boundary import crossings, fit
from adversarium.experiments.evidence import Evidence, Rows, interval, slope
from adversarium.experiments.spec import (
    Bars,
    Course,
    Curves,
    Figure,
    Phase,
    Powers,
    Profile,
    Table,
)
from adversarium.report.planes import Plane
from adversarium.report.style import COLOURS, DASHES, pyplot, save, write_csv


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


def shown_labels(figure: Figure, rows: Evidence) -> list[str]:
    """The runs that a figure shows: those it names, or all that recorded its probes."""
    first = [f"{y}[0]" for y in figure.y] if isinstance(figure, Profile) else list(figure.y)
    enough = any if isinstance(figure, Table) else all
    there = lambda run, y: y in run.values or f"{y}[0]" in run.values
    recorded = [label for label, run in rows.items() if enough(there(run, y) for y in first)]
    most = 4 if isinstance(figure, Curves) else len(recorded)
    return [label for label in figure.of or recorded[:most] if label in recorded]


def drawing(figure: Figure, rows: Evidence, under: Evidence | None = None) -> Drawing | None:
    """A figure of rows; None when the runs that it shows are not there. `under`: other rows by
    the same labels (the published setting), drawn pale below the curves."""
    present = shown_labels(figure, rows)
    if not present:
        return None
    match figure:
        case Curves():
            return _curves(figure, present, rows, under or {})
        case Course():
            return _course(figure, rows[figure.run])
        case Bars():
            return _bars(figure, present, rows)
        case Profile():
            return _profile(figure, present, rows)
        case Table():
            return _table(figure, present, rows)
        case Phase():
            return _phase(figure, present, rows)
        case Powers():
            return _powers(figure, present, rows)


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


def _curves(figure: Curves, labels: list[str], rows: Evidence, under: Evidence) -> Drawing:
    picture, axes = _panels(len(labels))
    lines = []
    for axis, label in zip(axes, labels, strict=True):
        for i, probe in enumerate(figure.y):
            t, values = rows[label].curve(probe)
            low, high, mean = values.min(0), values.max(0), values.mean(0)
            name = figure.names.get(probe, probe)
            if label in under and probe in under[label].values:
                pale_t, pale = under[label].curve(probe)
                axis.plot(pale_t, pale.mean(0), alpha=0.4, label=f"{name}, published", **_style(i))
                lines += [
                    (f"{label}, published", probe, *v)
                    for v in zip(pale_t, pale.mean(0), pale.min(0), pale.max(0), strict=True)
                ]
            axis.plot(t, mean, label=name, **_style(i))
            axis.fill_between(t, low, high, color=COLOURS[i % 7], alpha=0.18, linewidth=0)
            lines += [(label, probe, *v) for v in zip(t, mean, low, high, strict=True)]
        moments = {f"{text}: {np.nanmean(t):.0f}": float(np.nanmean(t))
                   for text, q in figure.moments.items()
                   if label == q.where and np.isfinite(t := q.of(rows)).any()}  # fmt: skip
        if figure.log_x:
            axis.set_xscale("symlog", linthresh=1)
            axis.set_xlim(left=0)
        if figure.log_y:
            axis.set_yscale("log")
        _marks(axis, {**figure.lines, **moments}, figure.levels)
        axis.set_xlabel(figure.x_label)
        if len(labels) > 1:
            axis.set_title(label, fontsize=10)
    axes[0].set_ylabel(figure.y_label)
    axes[0].legend(frameon=False, fontsize=8)
    picture.suptitle(figure.title, fontsize=11)
    return Drawing(picture, ("run", "probe", "t", "mean", "lowest", "highest"), lines)


def _course(figure: Course, run: Rows) -> Drawing:
    plt = pyplot()
    count = len(figure.panels)
    picture, axes = plt.subplots(1, count, figsize=(1.2 + 3.7 * count, 3.9), squeeze=False)
    plt.close(picture)
    seed = min(figure.seed, len(run.seeds) - 1)
    marked = {text: float(run.last(probe)[seed]) for text, probe in figure.times.items()}
    lines = []
    for axis, (title, probes) in zip(axes[0], figure.panels.items(), strict=True):
        for i, (probe, symbol) in enumerate(probes.items()):
            parts = [n for n in run.values if n == probe or n.startswith(f"{probe}[")]
            for j, part in enumerate(parts):
                t, values = run.curve(part)
                thin = 1.6 if len(parts) == 1 else 0.8
                label = symbol if j == 0 else None
                axis.plot(t, values[seed], linewidth=thin, label=label, **_style(i))
                lines += [(part, *v) for v in zip(t, values[seed], strict=True)]
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xlim(left=0)
        _marks(axis, {k: v for k, v in marked.items() if math.isfinite(v) and v < 1e12}, {})
        axis.set_xlabel(figure.x_label)
        axis.set_title(title, fontsize=10)
        axis.legend(frameon=False, fontsize=8)
    picture.suptitle(figure.title, fontsize=11)
    lines += [(text, t, "") for text, t in marked.items()]
    return Drawing(picture, ("probe", "t", f"seed {run.seeds[seed]}"), lines)


def _profile(figure: Profile, labels: list[str], rows: Evidence) -> Drawing:
    picture, axes = _panels(len(labels))
    lines = []
    for axis, label in zip(axes, labels, strict=True):
        means = {}
        own = [n for n in rows[label].values if figure.x and n.startswith(f"{figure.x}[")]
        moved = [float(rows[label].last(f"{figure.x}[{c}]")[0]) for c in range(len(own))]
        for i, (probe, given) in enumerate(figure.y.items()):
            x = moved or given
            values = np.stack([rows[label].last(f"{probe}[{c}]") for c in range(len(x))], axis=1)
            values = 1 - values if figure.complement else values
            low, high, means[probe] = values.min(0), values.max(0), values.mean(0)
            axis.plot(x, means[probe], marker="o", markersize=3,
                      label=figure.names.get(probe, probe), **_style(i))  # fmt: skip
            axis.fill_between(x, low, high, color=COLOURS[i % 7], alpha=0.15, linewidth=0)
            lines += [(label, probe, *v) for v in zip(x, means[probe], low, high, strict=True)]
        if figure.between is not None:
            a, b = figure.between
            axis.fill_between(figure.y[a], means[a], means[b], color="#999999", alpha=0.25,
                              linewidth=0, label="bracket: proven to unbroken")  # fmt: skip
        for text, points in figure.steps.items():
            axis.step(*zip(*points, strict=True), where="post", color="black", linewidth=1,
                      label=text)  # fmt: skip
        _marks(axis, figure.lines, {})
        axis.set_xlabel(figure.x_label)
        axis.set_title(label, fontsize=10)
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


def mean_and_interval(rows: Rows, probe: str) -> tuple[float, float, float]:
    """The mean of a probe's last values over seeds, and its 99 % interval."""
    values = rows.last(probe)
    low, high = interval(values)
    return float(values.mean()), low, high


def _bars(figure: Bars, labels: list[str], rows: Evidence) -> Drawing:
    plt = pyplot()
    picture, axes = plt.subplots(
        len(figure.y),
        1,
        figsize=(2 + 0.75 * len(labels), 2.3 * len(figure.y) + 1),
        sharex=True,
        squeeze=False,
    )
    plt.close(picture)
    lines = []
    for i, (axis, probe) in enumerate(zip(axes[:, 0], figure.y, strict=True)):
        found = [mean_and_interval(rows[label], probe) for label in labels]
        mean, low, high = (np.array(column) for column in zip(*found, strict=True))
        reach = np.nan_to_num(np.stack([mean - low, high - mean]))
        axis.errorbar(
            range(len(labels)), mean, reach, fmt="o", color=COLOURS[i % 7], capsize=3, markersize=5
        )
        _marks(axis, {}, figure.levels)
        axis.set_ylabel(figure.y_label)
        axis.set_title(figure.names.get(probe, probe), fontsize=9)
        axis.margins(y=0.2)
        lines += [(label, probe, *f) for label, f in zip(labels, found, strict=True)]
    axes[-1, 0].set_xticks(range(len(labels)), labels, rotation=30, ha="right", fontsize=8)
    picture.suptitle(figure.title, fontsize=11)
    return Drawing(picture, ("run", "probe", "mean", "low", "high"), lines)


def _table(figure: Table, labels: list[str], rows: Evidence) -> Drawing:
    lines = [
        (label, figure.names.get(probe, probe), *mean_and_interval(rows[label], probe))
        for label in labels
        for probe in figure.y
        if probe in rows[label].values
    ]
    return Drawing(None, ("run", "quantity", "mean", "low", "high"), lines)


def _phase(figure: Phase, labels: list[str], rows: Evidence) -> Drawing:
    points = np.array([figure.cells[label] for label in labels])
    values = np.stack([rows[label].last(figure.switch.probe) for label in labels])
    plane = Plane(points[:, 0], points[:, 1], values.mean(1), (figure.x_label, figure.y_label))
    found = fit(points[:, 0], points[:, 1], values, figure.switch.above) if figure.line else None
    what = figure.switch.name or figure.switch.probe
    theorem = np.empty((0, 2))
    if figure.predicted:
        margins = np.array([figure.predicted[label] for label in labels])
        theorem = crossings(points[:, 0], points[:, 1], margins)
    picture = plane.draw(figure.title, what, found, theorem)
    if figure.point is not None:
        text, x, y = figure.point
        picture.axes[0].plot(x, y, marker="*", markersize=14, color=COLOURS[1], zorder=5)
        picture.axes[0].annotate(text, (x, y), xytext=(8, 6), textcoords="offset points", zorder=5)
    lines: list[tuple[Any, ...]] = [
        (*point, float(v.mean()), float(v.min()), float(v.max()))
        for point, v in zip(points.tolist(), values, strict=True)
    ]
    lines += [(x, y, "predicted boundary", "", "") for x, y in theorem.tolist()]
    if found is not None:
        for x in np.unique(points[:, 0]):
            y, low, high = (float(v[0]) for v in found.y(np.array([x])))
            lines.append((x, y, "fitted boundary", low, high))
    header = (figure.x_label, figure.y_label, what, "lowest", "highest")
    return Drawing(picture, header, lines)


def _powers(figure: Powers, labels: list[str], rows: Evidence) -> Drawing:
    swept = {
        name: {label: size for label, size in runs.items() if label in labels}
        for name, runs in figure.sweeps.items()
    }
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
        x = np.array(list(runs.values()))
        values = np.stack([figure.number(rows[label]) for label in runs], axis=1)
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
        line = lambda power, x=x, c=centre: c[1] * (x / c[0]) ** power
        fitted = f"{powers.mean():.2f} [{low:.2f}, {high:.2f}]"
        axis.plot(x, line(powers.mean()), color=COLOURS[1], label=f"fitted {fitted}")
        claimed = figure.claimed[name]
        axis.plot(x, line(claimed), "k--", linewidth=1, label=f"claimed {claimed:g}")
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
