"""Draw fits over several runs: phase diagrams, level sets, and the exponents of sweeps."""

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
    log_ticks,
    mathtext,
    plain_number,
    wrapped,
)


def phase(figure: Phase, runs: list[Rows]) -> Drawing:
    """Draw a quantity over two coordinates, with the predicted and the fitted boundary."""
    x, y = np.array([_place(figure, run) for run in runs]).T
    values = np.stack([run.last(figure.switch.probe) for run in runs])
    line = fit(x, y, values, figure.switch.above) if figure.line else None
    name = figure.switch.name or figure.switch.probe
    theorem = np.empty((0, 2))
    if figure.switch.predicted is not None:
        margins = np.array([figure.switch.predicted(run.task) for run in runs])
        theorem = crossings(x, y, margins)
    plane = Plane(x, y, values.mean(1), (figure.x_label, figure.y_label))
    picture = plane.draw(figure.title, name, line, theorem, figure.switch.printed)
    if figure.point is not None:
        text, *point = figure.point
        picture.axes[0].plot(*point, marker="*", markersize=14, color=COLOURS[1], zorder=5)
        picture.axes[0].annotate(
            text, (point[0], point[1]), xytext=(8, 6), textcoords="offset points", zorder=5
        )
    lines: list[tuple[Any, ...]] = [
        (a, b, float(v.mean()), float(v.min()), float(v.max()))
        for a, b, v in zip(x.tolist(), y.tolist(), values, strict=True)
    ]
    lines += [(a, b, "predicted boundary", "", "") for a, b in theorem.tolist()]
    if line is not None:
        for a in np.unique(x):
            b, low, high = (float(v[0]) for v in line.y(np.array([a])))
            lines.append((a, b, "fitted boundary", low, high))
    return Drawing(picture, (figure.x_label, figure.y_label, name, "lowest", "highest"), lines)


def _place(figure: Phase | Contours, run: Rows) -> tuple[float, float]:
    """Return the two coordinates of a run that a figure uses as axes."""
    at = run.task.coordinates
    return float(at[figure.x]), float(at[figure.y_along])


def contours(figure: Contours, runs: list[Rows]) -> Drawing | None:
    """Draw a quantity over two coordinates, its level sets with fitted exponents, and the level
    sets of a prediction; return None if the runs do not form a full grid."""
    cells = {_place(figure, run): run for run in runs}
    x, y = (np.array(sorted({cell[i] for cell in cells})) for i in (0, 1))
    if len(cells) < len(x) * len(y) or min(len(x), len(y)) < 2:
        return None
    table = np.stack([[figure.number.of(cells[a, b]) for a in x] for b in y])  # (y, x, seed)
    theory = {
        name: np.array([[of(cells[a, b].task) for a in x] for b in y])
        for name, of in (("predicted", figure.predicted), ("bound", figure.bound))
        if of is not None
    }
    powers = {
        level: _level_power(x, y, table, level) if figure.power else ("", ())
        for level in figure.levels
    }
    names = figure.x_label, figure.y_label
    levels = {f"{level:g}{text}": level for level, (text, _) in powers.items()}
    picture = Map(x, y, table.mean(-1), names).draw(
        figure.title, figure.number.name, levels, theory, figure.printed
    )
    lines: list[tuple[Any, ...]] = [
        (a, b, float(table[j, i].mean()), float(table[j, i].min()), float(table[j, i].max()),
         *(float(one[j, i]) for one in theory.values()))
        for i, a in enumerate(x) for j, b in enumerate(y)
    ]  # fmt: skip
    fitted = {f"power along {level:g}": numbers for level, (_, numbers) in powers.items()}
    lines += [(text, "", *numbers) for text, numbers in fitted.items() if numbers]
    return Drawing(picture, (*names, figure.number.name, "lowest", "highest", *theory), lines)


def _level_power(
    x: np.ndarray, y: np.ndarray, table: np.ndarray, level: float
) -> tuple[str, tuple[float, ...]]:
    """Return the fitted p of y ∝ x^p on a level set as text, and as numbers with its interval."""
    mean = table.mean(-1)
    sign = 1.0 if mean[:, -1].sum() >= mean[:, 0].sum() else -1.0  # rises or falls along x
    rising = sign * np.moveaxis(table, -1, 0)
    powers = jackknife(rising, lambda mean: level_slope(x, y, mean, sign * level))
    if not np.isfinite(powers).all():
        return ": too few rows of the grid cross this level", (np.nan,) * 3
    low, high = interval(powers)
    power = float(powers.mean())
    ends = f" [{low:.2f}, {high:.2f}]" if np.isfinite(low) else ""
    return f": power {power:.2f}{ends}", (power, low, high)


def powers(figure: Powers, rows: Evidence) -> Drawing:
    """Draw a quantity against swept coordinates, one panel each, with fitted and claimed power."""
    swept = {name: _swept(figure, rows, name, where) for name, where in figure.sweeps.items()}
    panels = {name: runs for name, runs in swept.items() if len(runs) > 1}
    across = max(1, min(4, len(panels)))
    down = max(1, -(-len(panels) // across))
    picture, axes = canvas((max(5.0, 1 + 2.9 * across), 0.8 + 3.0 * down), down, across)
    lines: list[tuple[Any, ...]] = []
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for i, (axis, (name, runs)) in enumerate(zip(axes.flat, panels.items(), strict=False)):
        x = np.array(list(runs))
        values = np.stack([figure.number.of(run) for run in runs.values()], axis=1)
        values = values[np.isfinite(values).all(1)]
        if not len(values):
            axis.set(xlabel=name, ylabel=figure.y_label, title="not reached in any seed")
            continue
        middle = np.exp(np.log(values).mean(0))
        reach = np.stack([middle - values.min(0), values.max(0) - middle])
        axis.errorbar(x, middle, reach, fmt="o", color=COLOURS[0], capsize=3, markersize=4)
        slopes = slope(x, values)
        low, high = interval(slopes)
        power, claimed = float(slopes.mean()), figure.claimed.get(name)
        at, height = np.exp(np.log(x).mean()), np.exp(np.log(middle).mean())
        label = f"fitted {power:.2f} [{low:.2f}, {high:.2f}]"
        axis.plot(x, height * (x / at) ** slopes.mean(), color=COLOURS[1], label=label)
        if claimed is not None:
            label = f"claimed {claimed:.3g}"
            axis.plot(x, height * (x / at) ** claimed, "k--", linewidth=1, label=label)
        axis.set(xscale="log", yscale="log", xlabel=mathtext(name))
        axis.set_xticks(x, [plain_number(v) for v in x])
        log_ticks(axis.yaxis)
        axis.minorticks_off()
        axis.legend(frameon=False, fontsize=7.5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        if i % across == 0:
            axis.set_ylabel(wrapped(mathtext(figure.y_label), 30))
        spread = zip(x, middle, values.min(0), values.max(0), strict=True)
        lines += [(name, *numbers) for numbers in spread]
        text = "power" if claimed is None else f"power; claimed {claimed:g}"
        lines.append((name, text, power, low, high))
    return Drawing(picture, ("swept", "value", "mean", "low", "high"), lines)


def _swept(figure: Powers, rows: Evidence, name: str, where: Where) -> dict[float, Rows]:
    """Return the runs of one sweep that recorded the quantity, keyed by the swept coordinate."""
    runs = rows.where(where).by(figure.along.get(name, name))
    return {float(x): run for x, run in runs.items() if all(n in run.series for n in figure.y)}
