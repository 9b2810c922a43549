"""Pictures of grids: phase diagrams, heat maps, lines of a sweep, attacks by strength."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.plans.boundary import Boundary
from adversarium.report.figures.style import (
    COLOURS,
    DASHES,
    NO_VALUE,
    ON_BRIGHT,
    ON_DARK,
    canvas,
    folded,
    headed,
    legend_below,
    log_ticks,
    save,
    styled,
    typeset,
    write_csv,
)

PRINTED = "#8c3fbf"  # a printed power, beside the seven colours of levels


@dataclass(frozen=True)
class Plane:
    """Values at points of two positive parameters."""

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    names: tuple[str, str]
    marks: Sequence[str] = ()  # a letter for every point

    @styled
    def draw(
        self,
        title: str,
        what: str,
        line: Boundary | None,
        theorem: np.ndarray,
        printed: float | None = None,
    ) -> Any:
        """A phase diagram on logarithmic axes: coloured cells, the theorem's boundary (dashed,
        one (x, y) a row, or no row), the fitted one (solid, with its band) and one of the printed
        power through the middle of the fitted one (dotted)."""
        picture, ((axis,),) = canvas((6.4, 4.8))
        shown = self._cells(axis)
        middle = np.nanmean(self.values) if np.isfinite(self.values).any() else 0.0
        for mark, x, y, v in zip(self.marks, self.x, self.y, self.values, strict=False):
            colour = ON_BRIGHT if v > middle or not np.isfinite(v) else ON_DARK
            axis.text(x, y, mark, ha="center", va="center", color=colour, fontsize=8)
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
            middle_x = np.exp(np.log(inside if len(inside) else across).mean())
            through = line.y(np.array([middle_x]))[0] * (across / middle_x) ** printed
            label = f"printed power {printed:g}, the constant fitted"
            axis.plot(across, through, color="black", linestyle=":", linewidth=2, label=label)
        if len(theorem):
            label = "predicted"
            if line is not None:
                off, a, b = line.factor(*theorem.T)
                label += f"; apart by a factor {off:.2f} [{a:.2f}, {b:.2f}]"
            axis.plot(
                *theorem.T, color="black", linestyle="--", linewidth=1.6, label=label, zorder=4
            )
        _on_log_axes(axis, self.x, self.y, self.names)
        if line is not None or len(theorem):
            axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        headed(picture, title)
        picture.colorbar(shown, label=folded(typeset(what), 45))
        return picture

    def _cells(self, axis: Any) -> Any:
        """The values in colour: tiles that meet where the points are a full grid, else squares."""
        xs, ys = np.unique(self.x), np.unique(self.y)
        if len(xs) * len(ys) == len(self.values):
            tiles = np.empty((len(ys), len(xs)))
            tiles[np.searchsorted(ys, self.y), np.searchsorted(xs, self.x)] = self.values
            seamless: dict[str, Any] = dict(edgecolors="face", linewidth=0.5, zorder=1)
            return axis.pcolormesh(_edges(xs), _edges(ys), tiles, cmap=_colours(), **seamless)
        side = 250 / max(8, len(xs), len(ys))
        squares: dict[str, Any] = dict(marker="s", s=side**2, zorder=1)
        return axis.scatter(
            self.x, self.y, c=self.values, cmap=_colours(), plotnonfinite=True, **squares
        )


@dataclass(frozen=True)
class Map:
    """Values on a full grid of two positive parameters, (y, x)."""

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    names: tuple[str, str]

    @styled
    def draw(
        self,
        title: str,
        what: str,
        levels: Mapping[str, float],
        told: Mapping[str, np.ndarray],
        printed: float | None,
    ) -> Any:
        """Coloured cells and level sets, one colour a level: measured (solid), predicted (dashed)
        and where the bound has it (dotted); the printed power has no constant, and is drawn
        through the middle of the map (dash-dotted)."""
        from matplotlib.lines import Line2D

        picture, ((axis,),) = canvas((7.6, 5.4))
        greys = _pale_greys()
        tiles: dict[str, Any] = dict(edgecolors="face", linewidth=0.5, zorder=1, cmap=greys)
        shown = axis.pcolormesh(_edges(self.x), _edges(self.y), self.values, **tiles)
        kinds = {"measured": self.values, **told}
        dashes: dict[str, Any] = dict(zip(kinds, ("solid", "dashed", "dotted"), strict=False))
        for i, level in enumerate(levels.values()):
            for kind, values in kinds.items():
                if values.min() < level < values.max():
                    axis.contour(self.x, self.y, values, [level], colors=COLOURS[i % 7],
                                 linestyles=dashes[kind], linewidths=1.8, zorder=3)  # fmt: skip
        named = [Line2D([], [], color=COLOURS[i % 7], label=text) for i, text in enumerate(levels)]
        ink: dict[str, Any] = dict(color="#666666")
        words = {"measured": "measured", "predicted": "predicted, without a fit",
                 "bound": "bound: no classifier has more"}  # fmt: skip
        seen = {k for k in kinds for v in levels.values() if kinds[k].min() < v < kinds[k].max()}
        named += [Line2D([], [], linestyle=dashes[k], label=words[k], **ink) for k in kinds
                  if k in seen]  # fmt: skip
        if printed is not None:
            middle = np.exp(np.log(self.x).mean()), np.exp(np.log(self.y).mean())
            through = middle[1] * (self.x / middle[0]) ** printed
            label = f"printed power {printed:g} (no constant is printed)"
            named += axis.plot(self.x, through, color=PRINTED, linestyle="-.", label=label)
        _on_log_axes(axis, self.x, self.y, self.names)
        headed(picture, title)
        picture.colorbar(shown, label=folded(typeset(what), 45))
        picture.legend(handles=named, loc="outside lower center", ncols=2, frameon=False,
                       fontsize=8)  # fmt: skip
        return picture


def _on_log_axes(axis: Any, x: np.ndarray, y: np.ndarray, names: tuple[str, str]) -> None:
    """Logarithmic axes that end with the tiles."""
    axis.set(xscale="log", yscale="log")
    axis.set_xlim(*_edges(x)[[0, -1]])
    axis.set_ylim(*_edges(y)[[0, -1]])
    log_ticks(axis.xaxis)
    log_ticks(axis.yaxis)
    axis.set(xlabel=typeset(names[0]), ylabel=typeset(names[1]))


def _pale_greys() -> Any:
    """From a middle grey to white: lines of every colour stand out on it."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("pale", ["#8f8f8f", "#fdfdfd"])


def _colours() -> Any:
    """Dark to bright; grey where there is no value."""
    import matplotlib

    return matplotlib.colormaps["cividis"].with_extremes(bad=NO_VALUE)


def _edges(points: np.ndarray) -> np.ndarray:
    """The edges of tiles about positive points: half-way in the logarithm."""
    logs = np.log(np.unique(points))
    gap = np.diff(logs) if len(logs) > 1 else np.array([0.28])
    middle = logs[:-1] + gap / 2 if len(logs) > 1 else np.empty(0)
    return np.exp([logs[0] - gap[0] / 2, *middle, logs[-1] + gap[-1] / 2])


@styled
def heatmap(
    path: Path,
    x: Sequence[Any],
    y: Sequence[Any],
    grid: np.ndarray,
    verdicts: np.ndarray,
    names: tuple[str, str],
    title: str,
    what: str,
) -> None:
    """Cells over two axes of any kind, coloured by the measured value, marked by the verdict."""
    size = (max(5.6, 3 + 0.55 * len(x)), max(3.6, 2 + 0.45 * len(y)))
    picture, ((axis,),) = canvas(size)
    shown = axis.imshow(grid, origin="lower", aspect="auto", cmap=_colours())
    marks = {"holds": "✓", "fails": "✗", "undecided": "?", "mixed": "±", "not testable": "–"}
    middle = np.nanmean(grid) if np.isfinite(grid).any() else 0
    for (i, j), word in np.ndenumerate(verdicts):
        bright = not math.isfinite(grid[i, j]) or grid[i, j] > middle
        axis.text(
            j,
            i,
            marks.get(word, "!"),
            ha="center",
            va="center",
            color=ON_BRIGHT if bright else ON_DARK,
        )
    axis.set_xticks(range(len(x)), [f"{v:.4g}" if isinstance(v, float) else v for v in x])
    axis.set_yticks(range(len(y)), [f"{v:.4g}" if isinstance(v, float) else v for v in y])
    axis.tick_params(axis="x", rotation=45)
    axis.set(xlabel=names[0], ylabel=names[1])
    picture.suptitle(folded(title, 60), fontsize=10)
    picture.colorbar(shown, label=folded(what, 34))
    save(picture, path)


@styled
def lines(
    path: Path,
    x: Sequence[float],
    numbers: Mapping[str, np.ndarray],
    x_label: str,
    marks: Sequence[str] = (),
    title: str = "",
) -> None:
    """A sweep along one axis: (mean, low, high) of every number, and how the cells were judged,
    above them."""
    picture, ((axis,),) = canvas((6.4, 4.2))
    for i, (name, (mean, low, high)) in enumerate(numbers.items()):
        reach = np.nan_to_num(np.stack([mean - low, high - mean]))
        style = dict(color=COLOURS[i % 7], linestyle=DASHES[i % 7], marker="o", capsize=3)
        axis.errorbar(x, mean, reach, label=folded(name, 60), **style)
    for at, mark in zip(x, marks, strict=False):
        axis.annotate(mark, (at, 0.97), xycoords=("data", "axes fraction"), ha="center", va="top")
    pad = 0.06 * (max(x) - min(x)) or 0.5
    axis.set_xlim(min(x) - pad, max(x) + pad)
    axis.margins(y=0.15)
    axis.set(
        xlabel=x_label, ylabel=folded(next(iter(numbers)), 40) if len(numbers) == 1 else "value"
    )
    if title:
        picture.suptitle(folded(title, 60), fontsize=10)
    if len(numbers) > 1:
        legend_below(picture, axis)
    save(picture, path)


@styled
def strengths(path: Path, made: Any, title: str, x_label: str) -> None:
    """Accuracy against radius under every attack, the certified bracket, and what is impossible."""
    picture, ((axis,),) = canvas((7.4, 4.8))
    for i, (name, errors) in enumerate(made.errors.items()):
        style = dict(color=COLOURS[i % 7], linestyle=DASHES[i % 7], marker="o", markersize=3)
        axis.plot(made.radii, 1 - np.array(errors), label=name, **style)
    if made.proven:
        low, high = 1 - np.array(made.proven), 1 - np.array(made.errors["all strong attacks"])
        label = "bracket: proven to unbroken"
        axis.fill_between(made.radii, low, high, color="#999999", alpha=0.25, label=label)
    if made.floor:
        ceiling = 1 - np.array(made.floor)
        axis.step(made.radii, ceiling, where="post", color="black", linewidth=0.9,
                  label="no classifier above")  # fmt: skip
    axis.set_xlabel(x_label)
    axis.set_ylabel("accuracy")
    axis.set_ylim(-0.03, 1.03)
    picture.suptitle(folded(title, 70), fontsize=10)
    legend_below(picture, axis)
    save(picture, path)
    rows = [
        (n, r, e) for n, row in made.errors.items() for r, e in zip(made.radii, row, strict=True)
    ]
    for told, bound in (("not proven", made.proven), ("least of any classifier", made.floor)):
        rows += [(told, r, e) for r, e in zip(made.radii, bound, strict=False)]
    write_csv(path.with_suffix(".csv"), ("attack", "radius", "error"), rows)
