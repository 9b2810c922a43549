"""Curves over time, the course of one seed, and profiles along an axis."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from adversarium.plans.evidence import Evidence, Rows
from adversarium.plans.figures import Course, Curves, Profile
from adversarium.report.figures.numbers import Drawing, lines_of, located, symbols
from adversarium.report.figures.style import (
    COLOURS,
    DASHES,
    canvas,
    headed,
    legend_below,
    letters,
    log_ticks,
    marks,
    titled,
    typeset,
)


def curves(figure: Curves, runs: list[Rows], rows: Evidence, under: Mapping[str, Rows]) -> Drawing:
    """Numbers against t, one panel a run; `under`: the published runs, drawn pale."""
    picture, axes, across = _panels(len(runs))
    lines, names = [], {}
    for axis, run in zip(axes, runs, strict=True):
        told, count = symbols(run), 0
        for probe in figure.y:
            name = names[probe] = figure.names.get(probe) or told.get(probe, probe)
            pale = under.get(run.label)
            published = pale[probe] if pale is not None and probe in pale.series else None
            beside = {} if published is None else dict(lines_of(published, figure.pick))
            series = run[probe]
            for place, values in lines_of(series, figure.pick):
                shown_as = typeset(f"{name} ({place})" if place else name)
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
            log_ticks(axis.yaxis)
        moments = {**figure.lines, **_moments(figure, run, rows)}
        known = {k: v(run.task) if callable(v) else v for k, v in figure.levels.items()}
        levels = {k: v for k, v in known.items() if math.isfinite(v)}
        high_up = marks(axis, moments, levels)
        lines += [(run.label, text, "", value, "", "") for text, value in levels.items()]
        axis.set_xlabel(typeset(figure.x_label))
        titled(axis, run.label if len(runs) > 1 else "", high_up)
    for axis in axes[::across]:
        axis.set_ylabel(typeset(figure.y_label or _together(names.values()) or "value"))
    legend_below(picture, axes[0])
    headed(picture, figure.title)
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


def course(figure: Course, run: Rows) -> Drawing:
    """One seed of one run against t, one panel a group of numbers."""
    count = len(figure.panels)
    picture, axes = canvas((1.2 + 3.7 * count, 4.3), 1, count)
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
                label = typeset(symbol) if j == 0 else None
                axis.plot(run[probe].t, values[seed], linewidth=thin, label=label, **_style(i))
                row = f"{probe}, {place}" if place else probe
                lines += [(row, *v) for v in zip(run[probe].t, values[seed], strict=True)]
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xlim(left=0)
        times = {k: v for k, v in marked.items() if math.isfinite(v) and v < 1e12}
        high_up = marks(axis, times, {})
        axis.set(
            xlabel=typeset(figure.x_label), ylabel=typeset(_together(probes.values(), 1) or title)
        )
        titled(axis, title, high_up)
        axis.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    headed(picture, figure.title)
    lines += [(text, t, "") for text, t in marked.items()]
    return Drawing(picture, ("probe", "t", f"seed {run.seeds[seed]}"), lines)


def profile(figure: Profile, runs: list[Rows]) -> Drawing:
    """Last values along their axis, one panel a run."""
    if figure.by:
        return _by_number(figure, runs)
    picture, axes, across = _panels(len(runs))
    lines, names = [], {}
    for axis, run in zip(axes, runs, strict=True):
        told, means = symbols(run), {}
        for i, probe in enumerate(figure.y):
            series = run[probe]
            (x,) = series.axes.values()
            values = 1 - series.last() if figure.complement else series.last()
            values = np.where(values > 1e-12, values, np.nan) if figure.log_y else values
            low, high, means[probe] = values.min(0), values.max(0), values.mean(0)
            name = names[probe] = figure.names.get(probe) or told.get(probe, probe)
            if figure.stack:
                below = sum(list(means.values())[:-1], start=np.zeros(len(x)))
                axis.fill_between(x, below, below + means[probe], color=COLOURS[i % 7], alpha=0.75,
                                  linewidth=0, label=typeset(name))  # fmt: skip
            else:
                axis.plot(x, means[probe], marker="o", markersize=3, label=typeset(name),
                          **_style(i))  # fmt: skip
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
        titled(axis, run.label, _scaled(axis, figure))
    for axis in axes[::across]:
        axis.set_ylabel(typeset(figure.y_label or _together(names.values()) or "value"))
    legend_below(picture, axes[-1])
    headed(picture, figure.title)
    return Drawing(picture, ("run", "probe", "x", "mean", "lowest", "highest"), lines)


def _by_number(figure: Profile, runs: list[Rows]) -> Drawing:
    """Last values along their axis, one panel a number, one line a place of `by`."""
    across = len(figure.y)
    picture, axes = canvas((1.2 + 3.9 * across, 4.4), 1, across)
    written = []
    for axis, probe in zip(axes.flat, figure.y, strict=True):
        for i, run in enumerate(runs):
            series, text = run[probe], located(run, figure.by)
            (x,) = series.axes.values()
            values = series.last()
            values = np.where(values > 1e-12, values, np.nan) if figure.log_y else values
            low, high, mean = values.min(0), values.max(0), values.mean(0)
            axis.plot(x, mean, label=typeset(text), **_style(i))
            axis.fill_between(x, low, high, color=COLOURS[i % 7], alpha=0.12, linewidth=0)
            written += [(probe, text, *v) for v in zip(x, mean, low, high, strict=True)]
        titled(axis, typeset(figure.names.get(probe, probe)), _scaled(axis, figure))
    axes.flat[0].set_ylabel(typeset(figure.y_label or "value"))
    legend_below(picture, axes.flat[0])
    headed(picture, figure.title)
    return Drawing(picture, ("probe", "run", "x", "mean", "lowest", "highest"), written)


def _scaled(axis: Any, figure: Profile) -> int:
    """The scales, marks and x label of a panel; how many lines the marks take above it."""
    if figure.log_x:
        axis.set_xscale("log")
        log_ticks(axis.xaxis)
    if figure.log_y:
        axis.set_yscale("log")
    axis.set_xlabel(typeset(figure.x_label))
    return marks(axis, figure.lines, figure.levels)


def _together(names: Iterable[str], most: int = 3) -> str:
    """The names of several numbers on one axis, in some lines where they are long."""
    told = list(dict.fromkeys(names))
    if sum(map(letters, told)) <= 32:
        return ", ".join(told)
    return ",\n".join(told) if len(told) <= most and max(map(letters, told)) <= 32 else ""


def _panels(count: int) -> tuple[Any, Any, int]:
    """A picture with axes for so many runs, and how many stand side by side."""
    across = count if count < 4 else 2
    down = -(-count // across)
    size = (1.2 + (4.6 if across < 3 else 3.5) * across, 0.7 + 3.6 * down)
    picture, axes = canvas(size, down, across, sharey=True)
    for axis in axes.flat[count:]:
        axis.set_axis_off()
    return picture, axes.flat[:count], across


def _style(i: int) -> dict[str, Any]:
    return dict(color=COLOURS[i % 7], linestyle=DASHES[i % 7])
