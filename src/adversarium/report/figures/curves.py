"""Draw curves over time, the course of one seed, and profiles along an axis."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from adversarium.digest import Json
from adversarium.plans.evidence import Evidence, Rows
from adversarium.plans.figures import Course, Curves, Profile
from adversarium.report.figures.numbers import Drawing, lines_of, run_place, symbols
from adversarium.report.figures.style import (
    COLOURS,
    DASHES,
    add_legend,
    canvas,
    draw_marks,
    mathtext,
    set_log_scale,
    set_panel_title,
    visible_length,
)

MARKERS = "osD^vPX"

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curves(figure: Curves, runs: list[Rows], rows: Evidence, under: Mapping[str, Rows]) -> Drawing:
    """Draw quantities against t, one panel per run; published runs (`under`) are drawn pale."""
    picture, axes, across = _panels(len(runs))
    lines, names = [], {}
    for axis, run in zip(axes, runs, strict=True):
        known, styles = symbols(run), map(_style, count())
        for probe in figure.y:
            name = names[probe] = figure.names.get(probe) or known.get(probe, probe)
            pale = under[run.label].series.get(probe) if run.label in under else None
            published = {} if pale is None else dict(lines_of(pale, figure.pick))
            for place, values in lines_of(run[probe], figure.pick):
                label = mathtext(f"{name} ({place})" if place else name)
                row = f"{probe}, {place}" if place else probe
                style = next(styles)
                if pale is not None and place in published:
                    pale_style = dict(alpha=0.4, label=f"{label}, published", **style)
                    band = _band(axis, pale.t, published[place], **pale_style)
                    lines += [(f"{run.label}, published", row, *numbers) for numbers in band]
                band = _band(axis, run[probe].t, values, fill=0.18, label=label, **style)
                lines += [(run.label, row, *numbers) for numbers in band]
        if figure.log_x:
            _set_symlog_time(axis)
        if figure.log_y:
            set_log_scale(axis, "y")
        moments = {**figure.lines, **_moments(figure, run, rows)}
        known_levels = {k: v(run.task) if callable(v) else v for k, v in figure.levels.items()}
        levels = {k: v for k, v in known_levels.items() if math.isfinite(v)}
        text_lines = draw_marks(axis, moments, levels)
        lines += [(run.label, text, "", value, "", "") for text, value in levels.items()]
        axis.set_xlabel(mathtext(figure.x_label))
        set_panel_title(axis, run.label if len(runs) > 1 else "", text_lines)
    for axis in axes[::across]:
        axis.set_ylabel(mathtext(figure.y_label or _joined(names.values()) or "value"))
    add_legend(picture, axes[0])
    return Drawing(picture, ("run", "probe", "t", "mean", "lowest", "highest"), lines)


def _band(
    axis: "Axes",
    x: np.ndarray | Sequence[float],
    values: np.ndarray,
    fill: float = 0.0,
    **style: Any,
) -> Iterator[tuple[float, ...]]:
    """Draw the mean over seeds and, if `fill` > 0, the range over seeds with this opacity. Return
    (x, mean, lowest, highest) of every point."""
    low, high, mean = values.min(0), values.max(0), values.mean(0)
    axis.plot(x, mean, **style)
    if fill:
        axis.fill_between(x, low, high, color=style["color"], alpha=fill, linewidth=0)
    return zip(x, mean, low, high, strict=True)


def _moments(figure: Curves, run: Rows, rows: Evidence) -> dict[str, float]:
    """Return the measured times to mark in the panel of a run: label → mean over seeds."""
    times = {}
    for text, moment in figure.moments.items():
        if moment.run.meets(run.task):
            t = moment.of.of(rows)
            if np.isfinite(t).any():
                times[f"{text}: {np.nanmean(t):.0f}"] = float(np.nanmean(t))
    return times


def course(figure: Course, run: Rows) -> Drawing:
    """Draw one seed of one run against t, one panel per group of quantities."""
    picture, axes = canvas((1.2 + 3.7 * len(figure.panels), 4.3), 1, len(figure.panels))
    seed = min(figure.seed, len(run.seeds) - 1)
    times = {
        text: float(run.last(probe)[seed])
        for text, probe in figure.times.items()
        if probe in run.series
    }
    lines = []
    for axis, (title, probes) in zip(axes[0], figure.panels.items(), strict=True):
        for i, (probe, symbol) in enumerate(probes.items()):
            parts = lines_of(run[probe], {})
            for j, (place, values) in enumerate(parts):
                width = 1.6 if len(parts) == 1 else 0.8
                label = mathtext(symbol) if j == 0 else None
                axis.plot(run[probe].t, values[seed], linewidth=width, label=label, **_style(i))
                row = f"{probe}, {place}" if place else probe
                lines += [(row, *v) for v in zip(run[probe].t, values[seed], strict=True)]
        _set_symlog_time(axis)
        marked = {text: t for text, t in times.items() if math.isfinite(t) and t < 1e12}
        text_lines = draw_marks(axis, marked, {})
        axis.set_xlabel(mathtext(figure.x_label))
        axis.set_ylabel(mathtext(_joined(probes.values(), 1) or title))
        set_panel_title(axis, title, text_lines)
        axis.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    lines += [(text, t, "") for text, t in times.items()]
    return Drawing(picture, ("probe", "t", f"seed {run.seeds[seed]}"), lines)


def _set_symlog_time(axis: "Axes") -> None:
    axis.set_xscale("symlog", linthresh=1)
    axis.set_xlim(left=0)


def profile(figure: Profile, runs: list[Rows]) -> Drawing:
    """Draw last values along their axis, one panel per run."""
    if figure.by:
        return _profile_by_number(figure, runs)
    picture, axes, across = _panels(len(runs))
    lines, names = [], {}
    for axis, run in zip(axes, runs, strict=True):
        known, means = symbols(run), {}
        for i, probe in enumerate(figure.y):
            x, values = _last_values(figure, run, probe)
            name = names[probe] = figure.names.get(probe) or known.get(probe, probe)
            low, high, means[probe] = values.min(0), values.max(0), values.mean(0)
            if figure.stack:
                below = sum(list(means.values())[:-1], start=np.zeros(len(x)))
                axis.fill_between(x, below, below + means[probe], color=COLOURS[i % 7], alpha=0.75,
                                  linewidth=0, label=mathtext(name))  # fmt: skip
            elif figure.places:
                shift = 0.6 * ((i + 0.5) / len(figure.y) - 0.5)
                reach = np.stack([means[probe] - low, high - means[probe]]).clip(min=0)  # rounded
                axis.errorbar(np.arange(len(x)) + shift, means[probe], reach, fmt=MARKERS[i % 7],
                              color=COLOURS[i % 7], capsize=2, label=mathtext(name))  # fmt: skip
            else:
                marker = dict(marker="o", markersize=3, label=mathtext(name))
                _band(axis, x, values, fill=0.15, **marker, **_style(i))
            lines += [(run.label, probe, *v) for v in zip(x, means[probe], low, high, strict=True)]
        if figure.between is not None:
            a, b = figure.between
            (x,) = run[a].axes.values()
            axis.fill_between(x, means[a], means[b], color="#999999", alpha=0.25, linewidth=0,
                              label="between certified and attacked")  # fmt: skip
        for text, points in figure.steps.items():
            axis.step(*zip(*points, strict=True), where="post", color="black", linewidth=1,
                      label=text)  # fmt: skip
        set_panel_title(axis, run.label, _finish_profile(axis, figure))
    for axis in axes[::across]:
        axis.set_ylabel(mathtext(figure.y_label or _joined(names.values()) or "value"))
    add_legend(picture, axes[-1])
    return Drawing(picture, ("run", "probe", "x", "mean", "lowest", "highest"), lines)


def _profile_by_number(figure: Profile, runs: list[Rows]) -> Drawing:
    """Draw last values along their axis, one panel per quantity, one line per run."""
    across = len(figure.y)
    picture, axes = canvas((1.2 + 3.9 * across, 4.4), 1, across)
    lines = []
    for axis, probe in zip(axes.flat, figure.y, strict=True):
        for i, run in enumerate(runs):
            place = run_place(run, figure.by)
            x, values = _last_values(figure, run, probe)
            band = _band(axis, x, values, fill=0.12, label=mathtext(place), **_style(i))
            lines += [(probe, place, *numbers) for numbers in band]
        title = mathtext(figure.names.get(probe, probe))
        set_panel_title(axis, title, _finish_profile(axis, figure))
    axes.flat[0].set_ylabel(mathtext(figure.y_label or "value"))
    add_legend(picture, axes.flat[0])
    return Drawing(picture, ("probe", "run", "x", "mean", "lowest", "highest"), lines)


def _last_values(figure: Profile, run: Rows, probe: str) -> tuple[tuple[float, ...], np.ndarray]:
    """Return the axis of a quantity and its last values (seed, axis); NaN if too small for logs."""
    (x,) = run[probe].axes.values()
    values = 1 - run.last(probe) if figure.complement else run.last(probe)
    return x, np.where(values > 1e-12, values, np.nan) if figure.log_y else values


def _finish_profile(axis: "Axes", figure: Profile) -> int:
    """Set the scales, marks and x label of a panel; return how many lines of text are above it."""
    if figure.log_x:
        set_log_scale(axis, "x")
    if figure.log_y:
        axis.set_yscale("log")
    if figure.places:
        axis.set_xticks(range(len(figure.places)), figure.places)
    axis.set_xlabel(mathtext(figure.x_label))
    return draw_marks(axis, figure.lines, figure.levels)


def _joined(names: Iterable[str], most: int = 3) -> str:
    """Return the names of several quantities as one axis label, on separate lines if they are long;
    empty if they are too long or too many."""
    known = list(dict.fromkeys(names))
    if sum(map(visible_length, known)) <= 32:
        return ", ".join(known)
    fits = len(known) <= most and max(map(visible_length, known)) <= 32
    return ",\n".join(known) if fits else ""


def _panels(number: int) -> tuple[Any, Any, int]:
    """Return a picture, its axes (one per run), and the number of axes in a row."""
    across = number if number < 4 else 2
    down = -(-number // across)
    size = (1.2 + (4.6 if across < 3 else 3.5) * across, 0.7 + 3.6 * down)
    picture, axes = canvas(size, down, across, sharey=True)
    for axis in axes.flat[number:]:
        axis.set_axis_off()
    return picture, axes.flat[:number], across


def _style(i: int) -> Json:
    return dict(color=COLOURS[i % 7], linestyle=DASHES[i % 7])
