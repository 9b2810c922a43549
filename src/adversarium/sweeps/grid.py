"""Words of the command line → seeds, changed runs, grids. Public names and literals only:
nothing is evaluated."""

import ast
import inspect
import itertools
import math
import typing
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import FunctionType, UnionType
from typing import Any

from adversarium.experiments.catalogue import nearest
from adversarium.experiments.spec import Experiment, Run, Trial, changed

# the parts of a run, and what each must have
_PARTS = {
    "data": "sample",
    "network": "init",
    "attack": "__call__",
    "risk": "lam",
    "optimiser": "__dataclass_fields__",
}
_MOST = 10_000  # values of an axis, and cells of a grid
_OWN = ("n", "steps", "eta", "dtype", "engine", *_PARTS)


def parse_seeds(text: str) -> tuple[int, ...]:
    """ "10" → 0 … 9, "3,17" → those two, "5:15" → 5 … 14, "" → none given."""
    if not text:
        return ()
    try:
        if ":" in text:
            low, high = (int(part) for part in text.split(":"))
            seeds = tuple(range(low, min(high, low + 10_001)))
        elif "," in text:
            seeds = tuple(int(part) for part in text.split(","))
        else:
            seeds = tuple(range(min(int(text), 10_001)))
    except (ValueError, MemoryError, OverflowError):
        seeds = ()
    if not seeds or min(seeds) < 0 or len(set(seeds)) != len(seeds) or len(seeds) > 10_000:
        raise ValueError(
            f"--seeds needs a number (10), a list (3,17) or a range (5:15), got {text!r}."
        )
    return seeds


def parse_value(text: str) -> Any:
    """A literal, a public name with literal arguments, e.g. pgd(p=2, radius=1.2), or a word."""
    text = text.strip()
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text
    return _value(tree, text)


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or (node.args and not _literals(node.args)):
            raise ValueError(f"{text!r}: only NAME(field=literal, …) of a public name is allowed.")
        part = _public(node.func.id)
        keywords = {k.arg: _value(k.value, text) for k in node.keywords if k.arg}
        return built(part, [ast.literal_eval(a) for a in node.args], keywords)
    if isinstance(node, ast.Name):
        words = {"inf": math.inf, "none": None, "true": True, "false": False}
        return words.get(node.id.lower(), node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
        return -math.inf if node.operand.id == "inf" else text
    try:
        return ast.literal_eval(node)
    except ValueError:
        return text


def _literals(nodes: Sequence[ast.expr]) -> bool:
    return all(isinstance(n, ast.Constant) for n in nodes)


def _public(name: str) -> Any:
    """A public class or function of the rooms of parts, whatever its capitals."""
    from adversarium import attacks, data, networks, training

    public = {n: getattr(r, n) for r in (data, networks, attacks, training) for n in r.__all__}
    parts = {n: v for n, v in public.items() if is_dataclass(v)}
    known = {n.lower(): v for n, v in parts.items()}
    if name in public and isinstance(public[name], FunctionType):
        return public[name]
    if name.lower() not in known:
        raise ValueError(f"no public part {name!r}.{nearest(name.lower(), list(known))}")
    return known[name.lower()]


def built(part: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """part(…), with a sentence instead of a traceback where a field is unknown or does not fit."""
    names = list(inspect.signature(part).parameters)
    for name in keywords:
        if name not in names:
            raise ValueError(f"{part.__name__} has no field {name!r}; it has {', '.join(names)}.")
    if is_dataclass(part):
        keywords = {n: fitted(part, n, v) for n, v in keywords.items()}
    try:
        return part(*arguments, **keywords)
    except (TypeError, IndexError) as fault:
        raise ValueError(f"{part.__name__} cannot be built: {fault}.") from fault


def fitted(part: Any, name: str, value: Any) -> Any:
    """The value if it fits the field's declared type, else a sentence."""
    cls = part if isinstance(part, type) else type(part)
    hint = typing.get_type_hints(cls).get(name, Any)
    if not _fits(value, hint):
        shown = getattr(hint, "__name__", None) or str(hint).replace("typing.", "")
        raise ValueError(f"{cls.__name__}.{name} needs {shown}, got {value!r}.")
    return float(value) if hint is float and isinstance(value, int) else value


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return value in inner
    if (origin is not None and type(None) in inner) or origin is typing.Union or _is_union(hint):
        return any(_fits(value, h) for h in inner)
    if hint is type(None) or hint is None:
        return value is None
    if hint in (int, float):
        number = isinstance(value, (int, float) if hint is float else int)
        return number and not isinstance(value, bool)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        fixed = len(inner) if inner and inner[-1] is not Ellipsis else None
        each = zip(value, inner, strict=False)
        return fixed is None or (len(value) == fixed and all(_fits(v, h) for v, h in each))
    if isinstance(hint, type):
        return isinstance(value, hint)
    return True


def _is_union(hint: Any) -> bool:
    return isinstance(hint, UnionType)


def parse_changes(words: Sequence[str]) -> dict[str, Any]:
    """--set name=value words as a dictionary."""
    changes = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name.strip() or not text.strip():
            raise ValueError(f"--set needs name=value, got {word!r}.")
        changes[name.strip()] = parse_value(text)
    return changes


def planned(
    experiment: Experiment, preset: str, changes: dict[str, Any]
) -> tuple[Run | Trial, ...]:
    """The experiment's tasks with changes: knobs of the plan first (with everything derived from
    them), then fields (data.alpha) and parts (attack) of every run."""
    knobs = inspect.signature(experiment.plan).parameters
    turned = {k: _knob(experiment, preset, k, v) for k, v in changes.items() if k in knobs}
    tasks = list(experiment.runs(preset, **turned))
    for name, value in changes.items():
        if name in knobs:
            continue
        _known(name, list(knobs))
        if not any(isinstance(task, Run) for task in tasks):
            raise ValueError(
                f"{experiment.id} trains nothing, so {name} changes nothing here; its knobs: "
                f"{', '.join(knobs) or 'none'}."
            )
        tasks = [_changed(t, name, value) if isinstance(t, Run) else t for t in tasks]
    return tuple(tasks)


def _known(name: str, knobs: list[str]) -> None:
    """Refuses a name that is neither a knob nor a field of a run or of its parts."""
    head, _, rest = name.partition(".")
    if head not in _OWN or (rest and head not in _PARTS):
        raise ValueError(
            f"nothing is called {name!r} here; knobs: {', '.join(knobs)}; fields: "
            f"{', '.join(_OWN)}, and data.FIELD and so on.{_close(name, [*knobs, *_OWN])}"
        )


def _knob(experiment: Experiment, preset: str, name: str, value: Any) -> Any:
    """A knob's value; a single number for a knob that takes several is one of them."""
    default = inspect.signature(experiment.plan).parameters[name].default
    present = experiment.knobs(preset).get(name, default)
    if isinstance(present, (tuple, list)) and not isinstance(value, (tuple, list)):
        value = (value,)
    samples = present if isinstance(present, (tuple, list)) else (present,)
    for v in value if isinstance(value, (tuple, list)) else (value,):
        sample = samples[0] if samples else None
        if isinstance(sample, bool) or sample is None or sample is inspect.Parameter.empty:
            continue
        kind = (int, float) if isinstance(sample, float) else type(sample)
        if not isinstance(v, kind) or isinstance(v, bool):
            raise ValueError(f"the knob {name} needs {type(sample).__name__}, got {v!r}.")
    return value


def _changed(task: Run, name: str, value: Any) -> Run:
    head, _, rest = name.partition(".")
    if not rest:
        asked = _PARTS.get(head)
        if asked and value is not None and not hasattr(value, asked):
            raise ValueError(f"{head} needs a part such as NAME(field=value), got {value!r}.")
        return changed(task, head, fitted(task, head, value))
    part = getattr(task, head)
    if part is None:
        return task  # a run without that part (clean training has no attack) stays as it is
    known = [f.name for f in fields(part)]
    if rest not in known:
        raise ValueError(f"{type(part).__name__} has no field {rest!r}; it has {', '.join(known)}.")
    return changed(task, name, fitted(part, rest, value))


def _close(name: str, words: list[str]) -> str:
    hint = nearest(name, words)
    return hint if hint.startswith(" Nearest") else ""


@dataclass(frozen=True)
class Axis:
    """One --over axis of a sweep."""

    name: str
    values: tuple[Any, ...]
    log: bool = False

    def between(self, a: Any, b: Any) -> Any:
        """The middle of two values, in the axis's own scale; None where there is none."""
        if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b)):
            return None
        middle = math.sqrt(a * b) if self.log else (a + b) / 2
        whole = all(isinstance(v, int) for v in self.values)
        middle = round(middle) if whole else float(f"{middle:.6g}")
        return None if middle in (a, b) else middle


def refined(
    axes: Sequence[Axis], points: Sequence[dict[str, Any]], words: Sequence[str]
) -> list[dict[str, Any]]:
    """New cells halfway between neighbours along an axis that have different words."""
    known = {tuple(p.values()): word for p, word in zip(points, words, strict=True)}
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
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
                    found[new] = dict(zip((x.name for x in axes), new, strict=True))
    return list(found.values())


def whole_axis(experiment: Experiment, preset: str, axis: Axis) -> Axis:
    """The axis with values rounded where its knob, or field n or steps, takes whole numbers."""
    parameters = inspect.signature(experiment.plan).parameters
    default = parameters[axis.name].default if axis.name in parameters else None
    present = experiment.knobs(preset).get(axis.name, default)
    sample = present[0] if isinstance(present, (tuple, list)) and present else present
    counts = isinstance(sample, int) and not isinstance(sample, bool)
    if not (counts or axis.name in ("n", "steps", "N", "d", "m", "P")):
        return axis
    if not axis.log:
        return axis
    return Axis(axis.name, tuple(dict.fromkeys(max(1, round(v)) for v in axis.values)), axis.log)


def parse_axis(word: str) -> Axis:
    """name=a:b:step, name=v1,v2,… or name=log:a:b:n."""
    name, equals, text = word.partition("=")
    if not equals or not text:
        raise ValueError(f"--over needs name=a:b:step, name=v1,v2 or name=log:a:b:n, got {word!r}.")
    parts = text.split(":")
    try:
        if parts[0] == "log" and len(parts) == 4:
            low, high, count = float(parts[1]), float(parts[2]), int(parts[3])
            if not 0 < low < math.inf or not 0 < high < math.inf or not 1 <= count <= _MOST:
                raise ValueError(f"a log range needs both ends > 0 and 1 to {_MOST} values")
            ratio = (high / low) ** (1 / max(1, count - 1))
            grid: list[Any] = [low * ratio**i for i in range(count)]
        elif len(parts) == 3 and parts[0] != "log":
            low, high, step = (float(p) for p in parts)
            count = math.floor((high - low) / step + 1e-9) + 1
            if count > _MOST:
                raise ValueError(f"{count} values; at most {_MOST} an axis")
            grid = [low + step * i for i in range(count)]
        elif len(parts) > 1:
            raise ValueError("a range is a:b:step or log:a:b:n")
        else:
            return Axis(name, tuple(parse_value(v) for v in _split(text)))
    except (ValueError, ZeroDivisionError, OverflowError) as fault:
        raise ValueError(f"--over {word}: {fault}.") from fault
    if not grid:
        raise ValueError(f"--over {word} has no values.")
    whole = all(abs(v - round(v)) < 1e-9 for v in grid)
    values = tuple(round(v) if whole else float(f"{v:.12g}") for v in grid)
    return Axis(name, values, parts[0] == "log")


def _split(text: str) -> list[str]:
    """Pieces between commas that stand outside brackets."""
    pieces, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += c
    return pieces


def cells(axes: Sequence[Axis], zipped: bool = False) -> list[dict[str, Any]]:
    """The changes of every cell: all combinations, or the axes walked together."""
    names = [axis.name for axis in axes]
    if not zipped and math.prod(len(a.values) for a in axes) > _MOST:
        raise ValueError(f"a sweep has at most {_MOST} cells; take fewer values.")
    if len(set(names)) < len(names):
        raise ValueError(f"--over names an axis twice: {', '.join(names)}.")
    if zipped and len({len(a.values) for a in axes}) > 1:
        sizes = ", ".join(f"{a.name}: {len(a.values)}" for a in axes)
        raise ValueError(f"--zip needs axes of one length, got {sizes}.")
    walk = (
        zip(*(a.values for a in axes), strict=True)
        if zipped
        else itertools.product(*(a.values for a in axes))
    )
    return [dict(zip((a.name for a in axes), point, strict=True)) for point in walk]
