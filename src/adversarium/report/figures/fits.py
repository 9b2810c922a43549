"""Fits over several runs: phase diagrams with their boundary, and powers of what is swept."""

from typing import Any

import numpy as np

from adversarium.plans.boundary import crossings, fit
from adversarium.plans.evidence import Evidence, Rows, Where
from adversarium.plans.figures import Contours, Phase, Powers
from adversarium.plans.intervals import interval, slope
from adversarium.plans.levels import jackknife, level_slope
from adversarium.report.figures.numbers import Drawing
from adversarium.report.figures.planes import Map, Plane
from adversarium.report.figures.style import (
    COLOURS,
    canvas,
    folded,
    headed,
    log_ticks,
    plain_number,
    typeset,
)


def phase(figure: Phase, runs: list[Rows]) -> Drawing:
    """A number over a plane, with the predicted boundary and the fitted one."""
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
    picture = plane.draw(figure.title, what, line, theorem, figure.switch.printed)
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


def contours(figure: Contours, runs: list[Rows]) -> Drawing | None:
    """A number over a plane, its level sets with their powers, and those of a prediction; None
    where the cells are no full grid."""
    cells = {(float(run.task.coordinates[figure.x]), float(run.task.coordinates[figure.y_along])):
             run for run in runs}  # fmt: skip
    x, y = (np.array(sorted({cell[i] for cell in cells})) for i in (0, 1))
    if len(cells) < len(x) * len(y) or min(len(x), len(y)) < 2:
        return None
    table = np.stack([[figure.number.of(cells[a, b]) for a in x] for b in y])  # (y, x, seed)
    told = {
        name: np.array([[of(cells[a, b].task) for a in x] for b in y])
        for name, of in (("predicted", figure.predicted), ("bound", figure.bound))
        if of is not None
    }
    none = ("", ())
    powers = [_level_power(x, y, table, level) if figure.power else none
              for level in figure.levels]  # fmt: skip
    levels = [f"{level:g}{told}" for level, (told, _) in zip(figure.levels, powers, strict=True)]
    names = figure.x_label, figure.y_label
    picture = Map(x, y, table.mean(-1), names).draw(
        figure.title, figure.number.name, dict(zip(levels, figure.levels, strict=True)), told,
        figure.printed,
    )  # fmt: skip
    lines: list[tuple[Any, ...]] = [
        (a, b, float(table[j, i].mean()), float(table[j, i].min()), float(table[j, i].max()),
         *(float(one[j, i]) for one in told.values()))
        for i, a in enumerate(x) for j, b in enumerate(y)
    ]  # fmt: skip
    lines += [(f"power along {level:g}", "", *numbers) for level, (_, numbers) in
              zip(figure.levels, powers, strict=True) if numbers]  # fmt: skip
    return Drawing(picture, (*names, figure.number.name, "lowest", "highest", *told), lines)


def _level_power(
    x: np.ndarray, y: np.ndarray, table: np.ndarray, level: float
) -> tuple[str, tuple[float, ...]]:
    """The power of x in y along a level set, in words and with its interval over seeds."""
    mean = table.mean(-1)
    rises = 1.0 if mean[:, -1].sum() >= mean[:, 0].sum() else -1.0  # along x
    turned = rises * np.moveaxis(table, -1, 0)
    made = jackknife(turned, lambda mean: level_slope(x, y, mean, rises * level))
    if not np.isfinite(made).all():
        return ", too few rows cross it", (np.nan,) * 3
    low, high = interval(made)
    power = float(made.mean())
    ends = f" [{low:.2f}, {high:.2f}]" if np.isfinite(low) else ""
    return f": power {power:.2f}{ends}", (power, low, high)


def powers(figure: Powers, rows: Evidence) -> Drawing:
    """A number against what is swept, one panel a sweep: the fitted power and the claimed one."""
    swept = {name: _swept(figure, rows, name, meant) for name, meant in figure.sweeps.items()}
    panels = {name: runs for name, runs in swept.items() if len(runs) > 1}
    across = max(1, min(4, len(panels)))
    down = max(1, -(-len(panels) // across))
    size = (max(5.0, 1 + 2.9 * across), 0.8 + 3.0 * down)
    picture, axes = canvas(size, down, across)
    lines: list[tuple[Any, ...]] = []
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for i, (axis, (name, runs)) in enumerate(zip(axes.flat, panels.items(), strict=False)):
        x = np.array(list(runs))
        values = np.stack([figure.number.of(run) for run in runs.values()], axis=1)
        values = values[np.isfinite(values).all(1)]
        if not len(values):
            axis.set(xlabel=name, ylabel=figure.y_label, title="in no seed within the run")
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
        claimed = figure.claimed.get(name)
        if claimed is not None:
            ahead = centre[1] * (x / centre[0]) ** claimed
            axis.plot(x, ahead, "k--", linewidth=1, label=f"claimed {claimed:.3g}")
        axis.set(xscale="log", yscale="log", xlabel=typeset(name))
        axis.set_xticks(x, [plain_number(v) for v in x])
        log_ticks(axis.yaxis)
        axis.minorticks_off()
        axis.legend(frameon=False, fontsize=7.5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        if i % across == 0:
            axis.set_ylabel(folded(typeset(figure.y_label), 30))
        lines += [
            (name, *numbers)
            for numbers in zip(x, middle, values.min(0), values.max(0), strict=True)
        ]
        told = "power" if claimed is None else f"power; claimed {claimed:g}"
        lines.append((name, told, float(powers.mean()), low, high))
    headed(picture, figure.title)
    return Drawing(picture, ("swept", "value", "mean", "low", "high"), lines)


def _swept(figure: Powers, rows: Evidence, name: str, meant: Where) -> dict[float, Rows]:
    """The runs of one sweep that recorded what is read, by what is swept."""
    runs = rows.where(meant).by(figure.along.get(name, name))
    return {float(x): run for x, run in runs.items() if all(n in run.series for n in figure.y)}
