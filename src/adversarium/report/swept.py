"""Write the numbers and the picture of a sweep."""

from pathlib import Path
from typing import Any

import numpy as np

from adversarium.digest import Json
from adversarium.report.figures import planes
from adversarium.report.figures.style import save, write_csv
from adversarium.runs.sweep import Sweep

_MARKS = {
    "holds": "✓",
    "fails": "✗",
    "mixed": "±",
    "undecided": "?",
    "not testable": "–",
    "above": "+",
    "below": "−",
}
_NUMBERS = ("mean", "low", "high")
_LINES = 5  # largest number of quantities in one picture


def write_sweep(stem: Path, sweep: Sweep) -> None:
    """Write the numbers as CSV and the picture as SVG."""
    _write_numbers(Path(f"{stem}.csv"), sweep)
    picture = Path(f"{stem}.svg")
    if len(sweep.axes) != 2 or sweep.zipped:
        _draw_line(picture, sweep)
    elif sweep.positive:
        _draw_plane(picture, sweep)
    elif len(sweep.cells) == len(sweep.axes[0].values) * len(sweep.axes[1].values):
        _draw_heatmap(picture, sweep)
    else:
        _draw_line(picture, sweep)


def _write_numbers(path: Path, sweep: Sweep) -> None:
    """Write one line per cell and quantity."""
    lines = []
    for cell in sweep.cells:
        places = ["none" if v is None else v for v in cell.set.values()]
        for m in cell.numbers or (None,):
            numbers = ("", None, None, None) if m is None else (m.name, m.mean, m.low, m.high)
            lines.append((*places, cell.verdict, *numbers, cell.reason))
    names = (axis.name for axis in sweep.axes)
    write_csv(path, (*names, "verdict", "quantity", *_NUMBERS, "reason"), lines)


def _marks(sweep: Sweep) -> list[str]:
    """Return one character per cell that stands for its verdict."""
    return [_MARKS.get(cell.verdict, "!") for cell in sweep.cells]


def _first_number(sweep: Sweep) -> tuple[str, str, np.ndarray]:
    """Return the name of the first quantity of the cells, a note if there are others, and its mean
    in every cell; NaN in cells without any quantity."""
    name = next((c.numbers[0].name for c in sweep.cells if c.numbers), sweep.watched)
    count = max((len(cell.numbers) for cell in sweep.cells), default=0)
    note = f" (one of {count} numbers; the others are in the CSV file)" if count > 1 else ""
    means = [_real(cell.numbers[0].mean if cell.numbers else None) for cell in sweep.cells]
    return name, note, np.array(means)


def _draw_plane(path: Path, sweep: Sweep) -> None:
    x, y = (np.array([float(c.set[a.name]) for c in sweep.cells]) for a in sweep.axes)
    name, note, means = _first_number(sweep)
    names = (sweep.axes[0].name, sweep.axes[1].name)
    plane = planes.Plane(x, y, means, names, _marks(sweep))
    title = f"{sweep.experiment.id}: {name}{note}"
    save(plane.draw(title, name, sweep.boundary, sweep.theorem), path)


def _draw_heatmap(path: Path, sweep: Sweep) -> None:
    one, two = sweep.axes
    shape = (len(one.values), len(two.values))
    name, note, means = _first_number(sweep)
    marks = np.array(_marks(sweep)).reshape(shape)
    x, y = (
        tuple(v if isinstance(v, (int, float)) else axis.word(v) for v in axis.values)
        for axis in (one, two)
    )
    title, names = f"{sweep.watched}: {name}{note}", (one.name, two.name)
    planes.heatmap(path, x, y, means.reshape(shape).T, marks.T, names, title, name)


def _draw_line(path: Path, sweep: Sweep) -> None:
    order = list(range(len(sweep.cells)))
    along = [c.set[sweep.axes[0].name] for c in sweep.cells]
    numeric = all(isinstance(v, (int, float)) for v in along)
    numeric = numeric and (len(sweep.axes) == 1 or sweep.zipped)
    if numeric:
        order.sort(key=lambda i: along[i])
    x = [along[i] if numeric else i for i in order]
    marks = [_marks(sweep)[i] for i in order]
    names = list(dict.fromkeys(m.name for c in sweep.cells for m in c.numbers))[:_LINES]
    lines = {}
    for name in names or [sweep.watched]:
        known = [next((m for m in sweep.cells[i].numbers if m.name == name), None) for i in order]
        lines[name] = np.array([[_real(getattr(m, n, None)) for m in known] for n in _NUMBERS])
    planes.lines(path, x, lines, sweep.axes[0].name, marks, sweep.watched)


def _real(value: float | None) -> float:
    return np.nan if value is None else float(value)


def boundary_numbers(sweep: Sweep) -> Json | None:
    """Return the fitted boundary as JSON: p of y ∝ x^p, and its factor to the predicted one."""
    if sweep.boundary is None:
        return None
    numbers: dict[str, Any] = {"power": dict(zip(_NUMBERS, sweep.boundary.slope(), strict=True))}
    if len(sweep.theorem):
        factor = sweep.boundary.factor(*sweep.theorem.T)
        numbers["factor"] = dict(zip(_NUMBERS, factor, strict=True))
    return numbers
