"""Draw grids: phase diagrams, heat maps, lines of a sweep, and accuracy by attack and radius."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adversarium.plans.boundary import Boundary
from adversarium.report.figures.style import (
    COLOURS,
    DASHES,
    NO_VALUE,
    ON_BRIGHT,
    ON_DARK,
    add_legend,
    add_title,
    canvas,
    log_ticks,
    mathtext,
    save,
    with_style,
    wrapped,
    write_csv,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, QuadMesh
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure


PRINTED = "#8c3fbf"  # for a published power: different from the seven colours of levels


@dataclass(frozen=True)
class Plane:
    """Values at points of two positive parameters."""

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    names: tuple[str, str]
    marks: Sequence[str] = ()  # one character per point

    @with_style
    def draw(
        self,
        title: str,
        value_name: str,
        line: Boundary | None,
        theorem: np.ndarray,
        printed: float | None = None,
    ) -> "Figure":
        """Draw a phase diagram on logarithmic axes.

        It has coloured cells, the boundary of the theorem (dashed, through the rows (x, y) of
        `theorem`), the fitted boundary (solid, with its interval), and a line with the published
        power through the middle of the fitted one (dotted).
        """
        picture, ((axis,),) = canvas((6.4, 4.8))
        cells = self._cells(axis)
        _mark_cells(axis, zip(self.x, self.y, self.values, self.marks, strict=False), self.values)
        across = np.geomspace(self.x.min(), self.x.max(), 60)
        if line is not None:
            y, low, high = line.y(across)
            slope, a, b = line.slope()
            label = f"fitted, power {slope:.2f} [{a:.2f}, {b:.2f}]"
            axis.plot(across, y, color=COLOURS[1], linewidth=2, label=label, zorder=3)
            axis.fill_between(across, low, high, color=COLOURS[1], alpha=0.3, linewidth=0, zorder=2)
        if line is not None and printed is not None:
            y = line.y(across)[0]
            inside = across[(y >= self.y.min()) & (y <= self.y.max())]
            middle = np.exp(np.log(inside if len(inside) else across).mean())
            through = line.y(np.array([middle]))[0] * (across / middle) ** printed
            label = f"published power {printed:g}, constant fitted"
            axis.plot(across, through, color="black", linestyle=":", linewidth=2, label=label)
        if len(theorem):
            label = "predicted"
            if line is not None:
                off, a, b = line.factor(*theorem.T)
                label += f"; off by a factor of {off:.2f} [{a:.2f}, {b:.2f}]"
            style: dict[str, Any] = dict(color="black", linestyle="--", linewidth=1.6, zorder=4)
            axis.plot(*theorem.T, label=label, **style)
        _set_log_axes(axis, self.x, self.y, self.names)
        if line is not None or len(theorem):
            axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        add_title(picture, title)
        picture.colorbar(cells, label=wrapped(mathtext(value_name), 45))
        return picture

    def _cells(self, axis: "Axes") -> "QuadMesh | PathCollection":
        """Draw the values in colour: as adjacent tiles if the points form a full grid, else as
        separate squares."""
        xs, ys = np.unique(self.x), np.unique(self.y)
        if len(xs) * len(ys) == len(self.values):
            tiles = np.empty((len(ys), len(xs)))
            tiles[np.searchsorted(ys, self.y), np.searchsorted(xs, self.x)] = self.values
            return _tiles(axis, self.x, self.y, tiles, _colours())
        side = 250 / max(8, len(xs), len(ys))
        squares: dict[str, Any] = dict(marker="s", s=side**2, plotnonfinite=True, zorder=1)
        return axis.scatter(self.x, self.y, c=self.values, cmap=_colours(), **squares)


@dataclass(frozen=True)
class Map:
    """Values on a full grid of two positive parameters, (y, x)."""

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    names: tuple[str, str]

    @with_style
    def draw(
        self,
        title: str,
        value_name: str,
        levels: Mapping[str, float],
        theory: Mapping[str, np.ndarray],
        printed: float | None,
    ) -> "Figure":
        """Draw coloured cells and level sets, one colour per level: of the measured values (solid),
        of the prediction (dashed) and of the bound (dotted). A line with the published power goes
        through the middle of the map, because no constant is published (dash-dotted)."""
        from matplotlib.lines import Line2D

        picture, ((axis,),) = canvas((7.6, 5.4))
        cells = _tiles(axis, self.x, self.y, self.values, _pale_greys())
        kinds = {"measured": self.values, **theory}
        dashes: dict[str, Any] = dict(zip(kinds, ("solid", "dashed", "dotted"), strict=False))
        crossed = {}  # the kinds of level sets that are in the map
        for i, level in enumerate(levels.values()):
            for kind, values in kinds.items():
                if values.min() < level < values.max():
                    crossed[kind] = True
                    axis.contour(self.x, self.y, values, [level], colors=COLOURS[i % 7],
                                 linestyles=dashes[kind], linewidths=1.8, zorder=3)  # fmt: skip
        named = [Line2D([], [], color=COLOURS[i % 7], label=text) for i, text in enumerate(levels)]
        texts = {"measured": "measured", "predicted": "predicted, without a fit",
                 "bound": "upper bound for every classifier"}  # fmt: skip
        named += [
            Line2D([], [], linestyle=dashes[kind], label=texts[kind], color="#666666")
            for kind in kinds
            if kind in crossed
        ]
        if printed is not None:
            middle = np.exp(np.log(self.x).mean()), np.exp(np.log(self.y).mean())
            through = middle[1] * (self.x / middle[0]) ** printed
            label = f"published power {printed:g} (no constant is published)"
            named += axis.plot(self.x, through, color=PRINTED, linestyle="-.", label=label)
        _set_log_axes(axis, self.x, self.y, self.names)
        add_title(picture, title)
        picture.colorbar(cells, label=wrapped(mathtext(value_name), 45))
        picture.legend(handles=named, loc="outside lower center", ncols=2, frameon=False,
                       fontsize=8)  # fmt: skip
        return picture


def _set_log_axes(axis: "Axes", x: np.ndarray, y: np.ndarray, names: tuple[str, str]) -> None:
    """Make both axes logarithmic, and end them at the outer edges of the tiles."""
    axis.set(xscale="log", yscale="log")
    axis.set_xlim(*_edges(x)[[0, -1]])
    axis.set_ylim(*_edges(y)[[0, -1]])
    log_ticks(axis.xaxis)
    log_ticks(axis.yaxis)
    axis.set(xlabel=mathtext(names[0]), ylabel=mathtext(names[1]))


def _tiles(
    axis: "Axes", x: np.ndarray, y: np.ndarray, values: np.ndarray, colours: "Colormap"
) -> "QuadMesh":
    """Draw adjacent tiles around the points of a full grid."""
    seamless: dict[str, Any] = dict(edgecolors="face", linewidth=0.5, zorder=1)
    return axis.pcolormesh(_edges(x), _edges(y), values, cmap=colours, **seamless)


def _mark_cells(
    axis: "Axes", cells: Iterable[tuple[float, float, float, str]], values: np.ndarray
) -> None:
    """Write a character into cells (x, y, value, character), in a colour that contrasts."""
    middle = np.nanmean(values) if np.isfinite(values).any() else 0.0
    for x, y, value, letter in cells:
        colour = ON_BRIGHT if value > middle or not math.isfinite(value) else ON_DARK
        axis.text(x, y, letter, ha="center", va="center", color=colour, fontsize=8)


def _pale_greys() -> "Colormap":
    """Return colours from grey to white, on which lines of every colour are visible."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("pale", ["#8f8f8f", "#fdfdfd"])


def _colours() -> "Colormap":
    """Return colours from dark to bright, with grey for missing values."""
    import matplotlib

    return matplotlib.colormaps["cividis"].with_extremes(bad=NO_VALUE)


def _edges(points: np.ndarray) -> np.ndarray:
    """Return the edges of tiles around positive points: halfway between their logarithms."""
    logs = np.log(np.unique(points))
    gap = np.diff(logs) if len(logs) > 1 else np.array([0.28])
    middle = logs[:-1] + gap / 2 if len(logs) > 1 else np.empty(0)
    return np.exp([logs[0] - gap[0] / 2, *middle, logs[-1] + gap[-1] / 2])


@with_style
def heatmap(
    path: Path,
    x: Sequence[object],
    y: Sequence[object],
    grid: np.ndarray,
    marks: np.ndarray,
    names: tuple[str, str],
    title: str,
    value_name: str,
) -> None:
    """Draw cells over two axes, numeric or not, with a colour and a character for each value."""
    size = (max(5.6, 3 + 0.55 * len(x)), max(3.6, 2 + 0.45 * len(y)))
    picture, ((axis,),) = canvas(size)
    image = axis.imshow(grid, origin="lower", aspect="auto", cmap=_colours())
    cells = ((j, i, float(grid[i, j]), mark) for (i, j), mark in np.ndenumerate(marks))
    _mark_cells(axis, cells, grid)
    axis.set_xticks(range(len(x)), [f"{v:.4g}" if isinstance(v, float) else v for v in x])
    axis.set_yticks(range(len(y)), [f"{v:.4g}" if isinstance(v, float) else v for v in y])
    axis.tick_params(axis="x", rotation=45)
    axis.set(xlabel=names[0], ylabel=names[1])
    picture.suptitle(wrapped(title, 60), fontsize=10)
    picture.colorbar(image, label=wrapped(value_name, 34))
    save(picture, path)


@with_style
def lines(
    path: Path,
    x: Sequence[float],
    numbers: Mapping[str, np.ndarray],
    x_label: str,
    marks: Sequence[str] = (),
    title: str = "",
) -> None:
    """Draw a sweep along one axis: (mean, low, high) of every quantity, and verdicts above them."""
    picture, ((axis,),) = canvas((6.4, 4.2))
    for i, (name, (mean, low, high)) in enumerate(numbers.items()):
        reach = np.nan_to_num(np.stack([mean - low, high - mean]))
        style = dict(color=COLOURS[i % 7], linestyle=DASHES[i % 7], marker="o", capsize=3)
        axis.errorbar(x, mean, reach, label=wrapped(name, 60), **style)
    for at, mark in zip(x, marks, strict=False):
        axis.annotate(mark, (at, 0.97), xycoords=("data", "axes fraction"), ha="center", va="top")
    pad = 0.06 * (max(x) - min(x)) or 0.5
    axis.set_xlim(min(x) - pad, max(x) + pad)
    axis.margins(y=0.15)
    y_label = wrapped(next(iter(numbers)), 40) if len(numbers) == 1 else "value"
    axis.set(xlabel=x_label, ylabel=y_label)
    if title:
        picture.suptitle(wrapped(title, 60), fontsize=10)
    if len(numbers) > 1:
        add_legend(picture, axis)
    save(picture, path)


@with_style
def strengths(path: Path, attacks: Any, title: str, x_label: str) -> None:
    """Draw accuracy against radius under every attack, the range between certified and attacked
    accuracy, and an upper bound for every classifier."""
    picture, ((axis,),) = canvas((7.4, 4.8))
    for i, (name, errors) in enumerate(attacks.errors.items()):
        style = dict(color=COLOURS[i % 7], linestyle=DASHES[i % 7], marker="o", markersize=3)
        axis.plot(attacks.radii, 1 - np.array(errors), label=name, **style)
    if attacks.proven:
        low, high = 1 - np.array(attacks.proven), 1 - np.array(attacks.errors["all strong attacks"])
        label = "between certified and attacked accuracy"
        axis.fill_between(attacks.radii, low, high, color="#999999", alpha=0.25, label=label)
    if attacks.floor:
        ceiling = 1 - np.array(attacks.floor)
        axis.step(attacks.radii, ceiling, where="post", color="black", linewidth=0.9,
                  label="upper bound for every classifier")  # fmt: skip
    axis.set(xlabel=x_label, ylabel="accuracy", ylim=(-0.03, 1.03))
    picture.suptitle(wrapped(title, 70), fontsize=10)
    add_legend(picture, axis)
    save(picture, path)
    bounds = {"not proven": attacks.proven, "lowest of any classifier": attacks.floor}
    rows = [
        (name, *pair)
        for name, errors in {**attacks.errors, **bounds}.items()
        for pair in zip(attacks.radii, errors, strict=False)
    ]
    write_csv(path.with_suffix(".csv"), ("attack", "radius", "error"), rows)
