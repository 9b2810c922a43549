"""A sweep as numbers and a picture."""

from pathlib import Path
from typing import Any

import numpy as np

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
_LINES = 5  # numbers that one picture shows


def write_sweep(stem: Path, sweep: Sweep) -> None:
    """Writes the numbers as CSV and the picture as SVG."""
    _write_numbers(Path(f"{stem}.csv"), sweep)
    picture = Path(f"{stem}.svg")
    if len(sweep.axes) == 2 and not sweep.zipped and sweep.positive:
        _plane(picture, sweep)
    elif len(sweep.axes) == 2 and not sweep.zipped and _rectangle(sweep):
        _heatmap(picture, sweep)
    else:
        _line(picture, sweep)


def _write_numbers(path: Path, sweep: Sweep) -> None:
    """A line a number of every cell."""
    lines = []
    for cell in sweep.cells:
        places = ["none" if v is None else v for v in cell.set.values()]
        for m in cell.numbers or (None,):
            numbers = ("", None, None, None) if m is None else (m.name, m.mean, m.low, m.high)
            lines.append((*places, cell.verdict, *numbers, cell.reason))
    names = (a.name for a in sweep.axes)
    write_csv(path, (*names, "verdict", "quantity", *_NUMBERS, "reason"), lines)


def _column(sweep: Sweep, name: str) -> np.ndarray:
    """The first number of every cell; NaN where there is none."""
    return np.array([_real(getattr(c.numbers[0], name) if c.numbers else None)
                     for c in sweep.cells])  # fmt: skip


def what(sweep: Sweep) -> str:
    """What the cells measured, in words."""
    return next((c.numbers[0].name for c in sweep.cells if c.numbers), sweep.watched)


def _rest(sweep: Sweep) -> str:
    """That a picture of two axes shows one number of several."""
    more = max((len(cell.numbers) for cell in sweep.cells), default=0) - 1
    return f" (of {more + 1} numbers; the others in the CSV)" if more > 0 else ""


def _plane(path: Path, sweep: Sweep) -> None:
    x, y = (np.array([float(c.set[a.name]) for c in sweep.cells]) for a in sweep.axes)
    letters = [_MARKS.get(c.verdict, "!") for c in sweep.cells]
    names = (sweep.axes[0].name, sweep.axes[1].name)
    plane = planes.Plane(x, y, _column(sweep, "mean"), names, letters)
    told = what(sweep)
    title = f"{sweep.experiment.id}: {told}{_rest(sweep)}"
    save(plane.draw(title, told, sweep.boundary, sweep.theorem), path)


def _rectangle(sweep: Sweep) -> bool:
    return len(sweep.cells) == len(sweep.axes[0].values) * len(sweep.axes[1].values)


def _heatmap(path: Path, sweep: Sweep) -> None:
    one, two = sweep.axes
    shape = (len(one.values), len(two.values))
    verdicts = np.array([c.verdict for c in sweep.cells]).reshape(shape)
    grid = _column(sweep, "mean").reshape(shape)
    told = what(sweep)
    title, names = f"{sweep.watched}: {told}{_rest(sweep)}", (one.name, two.name)
    x, y = (
        tuple(v if isinstance(v, (int, float)) else axis.word(v) for v in axis.values)
        for axis in (one, two)
    )
    planes.heatmap(path, x, y, grid.T, verdicts.T, names, title, told)


def _line(path: Path, sweep: Sweep) -> None:
    order = list(range(len(sweep.cells)))
    along = [c.set[sweep.axes[0].name] for c in sweep.cells]
    numeric = all(isinstance(v, (int, float)) for v in along)
    numeric = numeric and (len(sweep.axes) == 1 or sweep.zipped)
    if numeric:
        order.sort(key=lambda i: along[i])
    x = [along[i] if numeric else i for i in order]
    marks = [_MARKS.get(sweep.cells[i].verdict, "!") for i in order]
    names = list(dict.fromkeys(m.name for c in sweep.cells for m in c.numbers))[:_LINES]
    lines = {}
    for name in names or [sweep.watched]:
        known = [next((m for m in sweep.cells[i].numbers if m.name == name), None) for i in order]
        lines[name] = np.array([[_real(getattr(m, n, None)) for m in known] for n in _NUMBERS])
    planes.lines(path, x, lines, sweep.axes[0].name, marks, sweep.watched)


def _real(value: float | None) -> float:
    return np.nan if value is None else float(value)


def boundary_numbers(sweep: Sweep) -> dict[str, Any] | None:
    """The fitted boundary as JSON has it: its power, and how far the predicted one is."""
    if sweep.boundary is None:
        return None
    told: dict[str, Any] = {"power": dict(zip(_NUMBERS, sweep.boundary.slope(), strict=True))}
    if len(sweep.theorem):
        apart = sweep.boundary.factor(*sweep.theorem.T)
        told["factor"] = dict(zip(_NUMBERS, apart, strict=True))
    return told
