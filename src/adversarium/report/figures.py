"""Figures from stored rows: pictures, and beside each its numbers as CSV of the same name."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.experiments.boundary import Boundary, fit, zero
from adversarium.experiments.checks import Evidence, Rows, interval
from adversarium.experiments.spec import Bars, Course, Curves, Figure, Phase, Profile, Table

# Okabe and Ito: distinct for all common forms of colour blindness
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-")


def pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "svg.fonttype": "path",
            "svg.hashsalt": "adversarium",
            "figure.constrained_layout.use": True,
        }
    )
    return plt


@dataclass(frozen=True)
class Drawing:
    """A figure before it is written: the picture (none for a table) and its numbers."""

    picture: Any
    header: tuple[str, ...]
    lines: list[tuple[Any, ...]]

    def save(self, path: Path, formats: Sequence[str]) -> list[Path]:
        """Writes the numbers as CSV and the picture in every format; the files."""
        table = path.with_suffix(".csv")
        _write(table, self.header, self.lines)
        if self.picture is None:
            return [table]
        paths = [path.with_suffix(f".{form}") for form in formats]
        for file in paths:
            _save(self.picture, file)
        return paths


def _write(path: Path, header: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(header)
        out.writerows(lines)


def _save(picture: Any, path: Path) -> None:
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
    picture.savefig(path, metadata=undated, dpi=150)


def save(picture: Any, stem: Path) -> None:
    """Writes a picture as SVG."""
    _save(picture, Path(f"{stem}.svg"))


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
    theorem = None
    if figure.predicted is not None:
        xs = np.unique(points[:, 0])
        theorem = (
            xs,
            np.array([zero(figure.predicted, x, points[:, 1].tolist()) for x in xs.tolist()]),
        )
    picture = plane.draw(figure.title, what, found, theorem)
    if figure.point is not None:
        text, x, y = figure.point
        picture.axes[0].plot(x, y, marker="*", markersize=14, color=COLOURS[1], zorder=5)
        picture.axes[0].annotate(text, (x, y), xytext=(8, 6), textcoords="offset points", zorder=5)
    lines: list[tuple[Any, ...]] = [
        (*point, float(v.mean()), float(v.min()), float(v.max()))
        for point, v in zip(points.tolist(), values, strict=True)
    ]
    if theorem is not None:
        lines += [(x, y, "predicted boundary", "", "") for x, y in zip(*theorem, strict=True)]
    if found is not None:
        for x in np.unique(points[:, 0]):
            y, low, high = (float(v[0]) for v in found.y(np.array([x])))
            lines.append((x, y, "fitted boundary", low, high))
    header = (figure.x_label, figure.y_label, what, "lowest", "highest")
    return Drawing(picture, header, lines)


@dataclass(frozen=True)
class Plane:
    """Values at points of two positive parameters."""

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    names: tuple[str, str]
    marks: Sequence[str] = ()  # a letter for every point

    def draw(
        self,
        title: str,
        what: str,
        found: Boundary | None,
        theorem: tuple[np.ndarray, np.ndarray] | None,
    ) -> Any:
        """A phase diagram on logarithmic axes: coloured cells, the predicted boundary (dashed) and
        the fitted one (solid, with its band)."""
        plt = pyplot()
        from matplotlib import ticker

        picture, axis = plt.subplots(figsize=(6.4, 4.8))
        crowd = max(8, len(np.unique(self.x)), len(np.unique(self.y)))
        shown = axis.scatter(
            self.x,
            self.y,
            c=self.values,
            cmap="cividis",
            marker="s",
            s=(250 / crowd) ** 2,
            zorder=1,
        )
        middle = np.nanmean(self.values) if np.isfinite(self.values).any() else 0.0
        for mark, x, y, v in zip(self.marks, self.x, self.y, self.values, strict=False):
            colour = "black" if v > middle or not np.isfinite(v) else "white"
            axis.text(x, y, mark, ha="center", va="center", color=colour, fontsize=8)
        across = np.geomspace(self.x.min(), self.x.max(), 60)
        if found is not None:
            y, low, high = found.y(across)
            slope, a, b = found.slope()
            label = f"fitted, power {slope:.2f} [{a:.2f}, {b:.2f}]"
            axis.plot(across, y, color=COLOURS[1], linewidth=2, label=label, zorder=3)
            axis.fill_between(across, low, high, color=COLOURS[1], alpha=0.3, linewidth=0, zorder=2)
        if theorem is not None and np.isfinite(theorem[1]).any():
            label = "predicted"
            known = np.isfinite(theorem[1])
            if found is not None:
                off, a, b = found.factor(theorem[0][known], theorem[1][known])
                label += f"; apart by a factor {off:.2f} [{a:.2f}, {b:.2f}]"
            axis.plot(*theorem, color="black", linestyle="--", linewidth=1.6, label=label, zorder=4)
        for side in (axis.xaxis, axis.yaxis):
            side.axes.set(**{f"{side.axis_name}scale": "log"})
            side.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
            side.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
            side.set_minor_formatter(ticker.NullFormatter())
        room = lambda v: (v.min() / 1.15, v.max() * 1.15)
        axis.set_xlim(*room(self.x))
        axis.set_ylim(*room(self.y))
        axis.set_xlabel(self.names[0])
        axis.set_ylabel(self.names[1])
        if found is not None or theorem is not None:
            axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        picture.suptitle(title, fontsize=11)
        picture.colorbar(shown, label=what)
        plt.close(picture)
        return picture


def heatmap(
    path: Path,
    x: Sequence[Any],
    y: Sequence[Any],
    grid: np.ndarray,
    verdicts: np.ndarray,
    names: tuple[str, str],
    title: str,
) -> None:
    """Cells over two axes of any kind, coloured by the measured value, marked by the verdict."""
    plt = pyplot()
    picture, axis = plt.subplots(figsize=(2.5 + 0.55 * len(x), 2 + 0.45 * len(y)))
    shown = axis.imshow(grid, origin="lower", aspect="auto", cmap="cividis")
    marks = {"holds": "✓", "fails": "✗", "undecided": "?"}
    middle = np.nanmean(grid) if np.isfinite(grid).any() else 0
    for (i, j), word in np.ndenumerate(verdicts):
        bright = math.isfinite(grid[i, j]) and grid[i, j] > middle
        axis.text(
            j,
            i,
            marks.get(word, "!"),
            ha="center",
            va="center",
            color="black" if bright else "white",
        )
    axis.set_xticks(range(len(x)), [f"{v:.4g}" if isinstance(v, float) else v for v in x])
    axis.set_yticks(range(len(y)), [f"{v:.4g}" if isinstance(v, float) else v for v in y])
    axis.tick_params(axis="x", rotation=45)
    axis.set_xlabel(names[0])
    axis.set_ylabel(names[1])
    axis.set_title(title, fontsize=10)
    picture.colorbar(shown)
    plt.close(picture)
    _save(picture, path)


def line(
    path: Path,
    x: Sequence[float],
    mean: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    names: tuple[str, str],
) -> None:
    """A sweep along one axis: mean and 99 % interval."""
    plt = pyplot()
    picture, axis = plt.subplots(figsize=(5.6, 3.8))
    reach = np.nan_to_num(np.stack([mean - low, high - mean]))
    axis.errorbar(x, mean, reach, fmt="o-", color=COLOURS[0], capsize=3)
    axis.set_xlabel(names[0])
    axis.set_ylabel(names[1])
    plt.close(picture)
    _save(picture, path)


def strengths(path: Path, made: Any, title: str, x_label: str, impossible: Sequence[float]) -> None:
    """Accuracy against radius under every attack, the certified bracket, and what is impossible."""
    plt = pyplot()
    picture, axis = plt.subplots(figsize=(7.4, 4.4))
    for i, (name, errors) in enumerate(made.errors.items()):
        style = dict(color=COLOURS[i % 7], linestyle=DASHES[i % 7], marker="o", markersize=3)
        axis.plot(made.radii, 1 - np.array(errors), label=name, **style)
    if made.proven:
        low, high = 1 - np.array(made.proven), 1 - np.array(made.errors["all strong attacks"])
        label = "bracket: proven to unbroken"
        axis.fill_between(made.radii, low, high, color="#999999", alpha=0.25, label=label)
    if any(impossible):
        ceiling = 1 - np.array(impossible)
        axis.step(made.radii, ceiling, where="post", color="black", linewidth=0.9,
                  label="no classifier above")  # fmt: skip
    axis.set_xlabel(x_label)
    axis.set_ylabel("accuracy")
    axis.set_ylim(-0.03, 1.03)
    axis.set_title(title, fontsize=10)
    axis.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    plt.close(picture)
    _save(picture, path)
    rows = [
        (n, r, e) for n, row in made.errors.items() for r, e in zip(made.radii, row, strict=True)
    ]
    rows += [("not proven", r, e) for r, e in zip(made.radii, made.proven, strict=False)]
    _write(path.with_suffix(".csv"), ("attack", "radius", "error"), rows)
