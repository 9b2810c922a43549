"""Parse the axes of a sweep, and compute its cells and the midpoints between cells."""

import inspect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from adversarium.plans.experiment import Experiment
from adversarium.runs.changes import own_name, parse_value

_MOST = 10_000  # the largest number of values of an axis, and of cells of a grid


@dataclass(frozen=True)
class Axis:
    """One axis of a sweep, as given by --over."""

    name: str
    values: tuple[Any, ...]
    log: bool = False

    def word(self, value: object) -> str:
        """Return a value as text. For a part, such as an attack, the text has only the fields in
        which parts of the same class on this axis differ; for the only one of its class, those that
        are not the default.

        >>> from adversarium.attacks import PGD
        >>> axis = Axis("attack", tuple(PGD(radius=r) for r in (0.1, 0.2)))
        >>> axis.word(axis.values[1]), Axis("n", (4, 8)).word(8)
        ('PGD(radius=0.2)', '8')
        """
        if value is None:
            return "none"
        if not is_dataclass(value):
            return f"{value:.4g}" if isinstance(value, float) else str(value)
        alike = [one for one in self.values if type(one) is type(value) and one != value]
        differ = [
            f"{f.name}={getattr(value, f.name)}" for f in fields(value)
            if any(getattr(one, f.name) != getattr(value, f.name) for one in alike)
            or (not alike and f.init and getattr(value, f.name) != f.default)
        ]  # fmt: skip
        return f"{type(value).__name__}({', '.join(differ)})"

    def between(self, a: object, b: Any) -> Any:
        """Return the midpoint of two values on the axis's scale; None if there is none."""
        if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b)):
            return None
        middle = math.sqrt(a * b) if self.log else (a + b) / 2
        whole = all(isinstance(v, int) for v in self.values)
        middle = round(middle) if whole else float(f"{middle:.6g}")
        return None if middle in (a, b) else middle


def refined(
    axes: Sequence[Axis], points: Sequence[dict[str, object]], words: Sequence[str]
) -> list[dict[str, object]]:
    """Return new cells halfway between neighbours along an axis whose verdicts differ."""
    known = {tuple(p.values()): word for p, word in zip(points, words, strict=True)}
    halfway: dict[tuple[Any, ...], dict[str, Any]] = {}
    for i, axis in enumerate(axes):
        lines: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for point in known:
            lines.setdefault(point[:i] + point[i + 1 :], []).append(point)
        for line in lines.values():
            if not all(isinstance(p[i], (int, float)) for p in line):
                continue
            ordered = sorted(line, key=lambda p: p[i])
            for a, b in itertools.pairwise(ordered):
                middle = axis.between(a[i], b[i]) if known[a] != known[b] else None
                new = (*a[:i], middle, *a[i + 1 :])
                if middle is not None and new not in known:
                    halfway[new] = dict(zip((x.name for x in axes), new, strict=True))
    return list(halfway.values())


def whole_axis(experiment: Experiment, preset: str, axis: Axis) -> Axis:
    """Return the axis with the values of a log range rounded if its parameter is an integer, and
    with floats if its parameter is a float."""
    parameters = inspect.signature(experiment.plan).parameters
    name = own_name(experiment, axis.name)
    known = name in parameters
    held = experiment.knob_value(preset, name) if known else _field(experiment, preset, name)
    sample = held[0] if isinstance(held, (tuple, list)) and held else held
    if isinstance(sample, float) and all(type(v) in (int, float) for v in axis.values):
        return Axis(axis.name, tuple(float(v) for v in axis.values), axis.log)
    counts = isinstance(sample, int) and not isinstance(sample, bool)
    if not (counts or axis.name in ("n", "steps", "N", "d", "m", "P")):
        return axis
    if not axis.log:
        return axis
    return Axis(axis.name, tuple(dict.fromkeys(max(1, round(v)) for v in axis.values)), axis.log)


def _field(experiment: Experiment, preset: str, path: str) -> object:
    """Return a field's value in the first run that has the field; None if no run has it."""
    for task in experiment.tasks(preset):
        value: Any = task
        for name in path.split("."):
            value = getattr(value, name, None)
        if value is not None:
            return value
    return None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"a range needs numbers, got {text!r}") from None


def _count(text: str) -> int:
    if not text.strip().isdigit():
        raise ValueError(f"a log range needs a whole number of values, got {text!r}")
    return int(text)


def parse_axis(word: str) -> Axis:
    """Parse name=a:b:step, name=v1,v2,… or name=log:a:b:n."""
    name, equals, text = word.partition("=")
    if not equals or not text:
        raise ValueError(f"--over needs name=a:b:step, name=v1,v2 or name=log:a:b:n, got {word!r}.")
    parts = text.split(":")
    try:
        if parts[0] == "log" and len(parts) == 4:
            low, high, count = _number(parts[1]), _number(parts[2]), _count(parts[3])
            if not 0 < low < math.inf or not 0 < high < math.inf or not 1 <= count <= _MOST:
                raise ValueError(f"a log range log:a:b:n needs a > 0, b > 0 and 1 <= n <= {_MOST}")
            ratio = (high / low) ** (1 / max(1, count - 1))
            grid: list[Any] = [low * ratio**i for i in range(count)]
        elif len(parts) == 3 and parts[0] != "log":
            low, high, step = map(_number, parts)
            leads = step != 0 and step * (high - low) >= 0
            if not leads or not all(map(math.isfinite, (low, high, step))):
                raise ValueError(
                    f"a range a:b:step needs a step other than 0 that leads from {low:g} to "
                    f"{high:g}, got {step:g}"
                )
            count = math.floor((high - low) / step + 1e-9) + 1
            if count > _MOST:
                raise ValueError(f"an axis can have at most {_MOST} values, got {count}")
            grid = [low + step * i for i in range(count)]
        elif len(parts) > 1:
            raise ValueError("a range has the form a:b:step or log:a:b:n")
        else:
            values = tuple(parse_value(v, name) for v in _split(text))
            if twice := [v for i, v in enumerate(values) if v in values[:i]]:
                raise ValueError(f"{twice[0]} occurs twice; give every value once")
            words = [v for v in values if isinstance(v, str)]
            if words and len(words) < len(values):
                raise ValueError(f"{words[0]!r} is not a number, but other values are")
            return Axis(name, values)
    except (ValueError, OverflowError) as fault:
        raise ValueError(f"--over {word}: {str(fault).rstrip('.')}.") from fault
    whole = all(abs(v - round(v)) < 1e-9 for v in grid)
    along = tuple(round(v) if whole else float(f"{v:.12g}") for v in grid)
    return Axis(name, along, parts[0] == "log")


def _split(text: str) -> list[str]:
    """Split text at the commas outside brackets."""
    pieces, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += c
    return pieces


def cells(axes: Sequence[Axis], zipped: bool = False) -> list[dict[str, object]]:
    """Return the changes of every cell: all combinations of values or, with `zipped`, the first
    values of all axes, then the second ones, and so on."""
    names = [axis.name for axis in axes]
    if not zipped and math.prod(len(a.values) for a in axes) > _MOST:
        raise ValueError(f"a sweep can have at most {_MOST} cells; use fewer values.")
    if len(set(names)) < len(names):
        raise ValueError(f"--over names an axis twice ({', '.join(names)}); name every axis once.")
    if zipped and len({len(a.values) for a in axes}) > 1:
        sizes = ", ".join(f"{a.name}: {len(a.values)}" for a in axes)
        raise ValueError(f"--zip needs axes of equal length, got {sizes}.")
    walk = (
        zip(*(a.values for a in axes), strict=True)
        if zipped
        else itertools.product(*(a.values for a in axes))
    )
    return [dict(zip((a.name for a in axes), point, strict=True)) for point in walk]
