"""Sweeps: a grid of changed runs, refined where the outcome changes, with the boundary between."""

import inspect
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from adversarium.plans.boundary import Boundary, crossings, fit
from adversarium.plans.catalogue import claims
from adversarium.plans.evidence import Evidence, Quantity, Summary, summary
from adversarium.plans.experiment import Experiment
from adversarium.plans.figures import Switch
from adversarium.plans.run import Task
from adversarium.plans.verdict import Why
from adversarium.plans.words import counted
from adversarium.runs.audit import Ask, Report, judged, needed, run_missing
from adversarium.runs.changes import own_name, parse_value, planned
from adversarium.runs.jobs import Job, Recipe, resolve
from adversarium.runs.knobs import present, reaching
from adversarium.runs.reader import Reader, evidence

_MOST = 10_000  # values of an axis, and cells of a grid


@dataclass(frozen=True)
class Axis:
    """One --over axis of a sweep."""

    name: str
    values: tuple[Any, ...]
    log: bool = False

    def word(self, value: Any) -> str:
        """A value in words: of a part only the fields in which the axis's parts differ, or, where
        it is alone of its kind, those that are not the usual.

        >>> from adversarium.attacks import PGD
        >>> axis = Axis("attack", tuple(PGD(radius=r) for r in (0.1, 0.2)))
        >>> axis.word(axis.values[1]), Axis("n", (4, 8)).word(8)
        ('PGD(radius=0.2)', '8')
        """
        if not is_dataclass(value):
            return f"{value:.4g}" if isinstance(value, float) else str(value)
        alike = [one for one in self.values if type(one) is type(value) and one != value]
        differ = [
            f"{f.name}={getattr(value, f.name)}" for f in fields(value)
            if any(getattr(one, f.name) != getattr(value, f.name) for one in alike)
            or (not alike and f.init and getattr(value, f.name) != f.default)
        ]  # fmt: skip
        return f"{type(value).__name__}({', '.join(differ)})"

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
    """The axis with values rounded where its knob, or field n or steps, takes whole numbers, and
    real ones where it takes these."""
    parameters = inspect.signature(experiment.plan).parameters
    name = own_name(experiment, axis.name)
    held = (present if name in parameters else _field)(experiment, preset, name)
    sample = held[0] if isinstance(held, (tuple, list)) and held else held
    if isinstance(sample, float) and all(type(v) in (int, float) for v in axis.values):
        return Axis(axis.name, tuple(float(v) for v in axis.values), axis.log)
    counts = isinstance(sample, int) and not isinstance(sample, bool)
    if not (counts or axis.name in ("n", "steps", "N", "d", "m", "P")):
        return axis
    if not axis.log:
        return axis
    return Axis(axis.name, tuple(dict.fromkeys(max(1, round(v)) for v in axis.values)), axis.log)


def _field(experiment: Experiment, preset: str, path: str) -> Any:
    """A field's value in the first run that has it; None where there is none."""
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
        raise ValueError(f"a range is made of numbers, got {text!r}") from None


def _count(text: str) -> int:
    if not text.strip().isdigit():
        raise ValueError(f"a log range has a whole number of values, got {text!r}")
    return int(text)


def parse_axis(word: str) -> Axis:
    """name=a:b:step, name=v1,v2,… or name=log:a:b:n."""
    name, equals, text = word.partition("=")
    if not equals or not text:
        raise ValueError(f"--over needs name=a:b:step, name=v1,v2 or name=log:a:b:n, got {word!r}.")
    parts = text.split(":")
    try:
        if parts[0] == "log" and len(parts) == 4:
            low, high, count = _number(parts[1]), _number(parts[2]), _count(parts[3])
            if not 0 < low < math.inf or not 0 < high < math.inf or not 1 <= count <= _MOST:
                raise ValueError(f"a log range needs both ends > 0 and 1 to {_MOST} values")
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
                raise ValueError(f"{count} values; at most {_MOST} an axis")
            grid = [low + step * i for i in range(count)]
        elif len(parts) > 1:
            raise ValueError("a range is a:b:step or log:a:b:n")
        else:
            values = tuple(parse_value(v, name) for v in _split(text))
            if twice := [v for i, v in enumerate(values) if v in values[:i]]:
                raise ValueError(f"{twice[0]} comes twice; name every value once")
            words = [v for v in values if isinstance(v, str)]
            if words and len(words) < len(values):
                raise ValueError(f"{words[0]!r} stands among numbers")
            return Axis(name, values)
    except (ValueError, OverflowError) as fault:
        raise ValueError(f"--over {word}: {str(fault).rstrip('.')}.") from fault
    whole = all(abs(v - round(v)) < 1e-9 for v in grid)
    along = tuple(round(v) if whole else float(f"{v:.12g}") for v in grid)
    return Axis(name, along, parts[0] == "log")


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


@dataclass(frozen=True)
class Cell:
    """One cell of a sweep: what was set, what came out, and the tasks it ran."""

    set: Mapping[str, Any]
    verdict: str  # a word, a side of the switch, or "failed"
    reason: str = ""
    measured: Summary | None = None
    tasks: tuple[Task, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Sweep:
    """A finished sweep: its axes, what every cell was judged by, the cells, what failed, and the
    fitted and predicted boundary where the experiment has a switch."""

    experiment: Experiment
    axes: tuple[Axis, ...]
    zipped: bool
    watched: str
    cells: tuple[Cell, ...]
    failures: tuple[str, ...] = ()
    boundary: Boundary | None = None
    theorem: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))

    @property
    def positive(self) -> bool:
        """Whether all cells stand at positive numbers."""
        places = (v for cell in self.cells for v in cell.set.values())
        return all(isinstance(v, (int, float)) and v > 0 for v in places)


def watched_by(experiment: Experiment, id: str, claim: str, preset: str = "quick") -> str:
    """What every cell is judged by: the claim that was named, or the experiment's switch, or the
    first claim whose runs the preset has."""
    known = {c.lower(): c for c in experiment.checks}
    alias = {c.id.lower(): c.alias_of for c in claims().values() if c.alias_of in known.values()}
    named = known.get(id.lower()) or alias.get(id.lower())
    if not claim and named is None and experiment.switch is not None:
        return str(experiment.switch.probe)
    if not experiment.checks:
        raise ValueError(f"{experiment.id} judges no claim, so a sweep has nothing to look for.")
    watched = claim or named or _first_with_runs(experiment, preset)
    if watched not in experiment.checks:
        raise ValueError(
            f"{experiment.id} has no claim {watched!r}; it has {', '.join(experiment.checks)}."
        )
    return watched


def _first_with_runs(experiment: Experiment, preset: str) -> str:
    tasks = experiment.tasks(preset)
    whole = (
        id
        for id, check in experiment.checks.items()
        if all(any(need.where.meets(task) for task in tasks) for need in check.needs)
    )
    return next(whole, next(iter(experiment.checks)))


@dataclass(frozen=True)
class Grid:
    """What a sweep walks over: its axes, what every cell is judged by, what is fixed, and how."""

    axes: tuple[Axis, ...]
    watched: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    zipped: bool = False
    rounds: int = 0  # of new cells halfway between neighbours that differ
    partly: bool = False  # a change may leave out some runs


def grid_jobs(
    experiment: Experiment, grid: Grid, preset: str, new: Sequence[Mapping[str, Any]]
) -> list[tuple[list[Job], str]]:
    """The jobs of every cell, or why it has none; refused where no cell has any."""
    plans = [_planned(experiment, preset, grid, cell) for cell in new]
    if plans and all(fault for _, fault in plans):
        raise ValueError(plans[0][1])
    return plans


def sweep(
    experiment: Experiment, grid: Grid, reader: Reader, ask: Ask, report: Report | None = None
) -> Sweep:
    """Runs a grid, and in rounds the cells halfway between neighbours that differ. A cell trains
    only the runs, and records only the numbers, that what it is judged by needs."""
    axes, watched, zipped, rounds = grid.axes, grid.watched, grid.zipped, grid.rounds
    seeds = ask.chosen(experiment)
    new = cells(axes, zipped)
    made: list[Cell] = []
    failures: list[str] = []
    for turn in range(rounds + 1):
        plans = (
            [_planned(experiment, ask.preset, grid, cell) for cell in new]
            if made
            else grid_jobs(experiment, grid, ask.preset, new)
        )
        jobs = [job for cell_jobs, _ in plans for job in cell_jobs]
        what = counted(len(new), "cell") + (f", round {turn} of {rounds}" if turn else "")
        failures += run_missing(experiment, jobs, seeds, reader, ask, _titled(report, what))
        for place, (cell_jobs, fault) in zip(new, plans, strict=True):
            made.append(_judged(experiment, watched, place, reader, cell_jobs, seeds, fault))
        failures += [fault for _, fault in plans if fault]
        points, words = [dict(c.set) for c in made], [c.verdict for c in made]
        new = refined(axes, points, words) if rounds else []
        if not new:
            break
    whole = Sweep(experiment, tuple(axes), zipped, watched, tuple(made), tuple(failures))
    if len(axes) == 2 and not zipped and whole.positive and watched not in experiment.checks:
        boundary, theorem = _boundary(axes, experiment.switch, made)
        return replace(whole, boundary=boundary, theorem=theorem)
    return whole


def _titled(report: Report | None, what: str) -> Report | None:
    if report is None:
        return None
    told = report
    return lambda w, done, whole: told(f"{what}: {w}", done, whole)


def _planned(
    experiment: Experiment, preset: str, grid: Grid, cell: Mapping[str, Any]
) -> tuple[list[Job], str]:
    """The jobs of a cell, or why there are none."""
    changes, watched = {**grid.fixed, **cell}, grid.watched
    try:
        tasks: Sequence[Task] = planned(experiment, preset, changes)
        if watched in experiment.checks:
            tasks = needed(tasks, experiment.checks[watched].needs)
            if not tasks:
                raise ValueError(
                    f"{watched} needs runs that the preset {preset} has not; --preset paper may "
                    "have them, and --claim names another claim."
                )
        reaching(experiment, preset, changes, tasks, grid.partly)
    except ValueError as fault:
        at = ", ".join(f"{k}={v}" for k, v in changes.items())
        return [], f"{at}: {fault}"
    if watched not in experiment.checks and len(tasks) > 1:
        raise ValueError(
            f"a cell of this sweep holds {len(tasks)} runs ({tasks[0].label}; {tasks[1].label}; "
            "…), and one is needed; fix what still varies with --set or --over."
        )
    recipe = Recipe(experiment.id, preset, tuple(changes.items()))
    return [resolve(task, recipe) for task in tasks], ""


def _judged(
    experiment: Experiment,
    watched: str,
    place: Mapping[str, Any],
    reader: Reader,
    jobs: Sequence[Job],
    seeds: Sequence[int],
    fault: str,
) -> Cell:
    tasks = tuple(job.task for job in jobs)
    rows = evidence(reader, jobs, seeds) if not fault else None
    if rows is None:
        reasons = [reader.store.why(job.key) for job in jobs]
        why = fault or "; ".join(r for r in reasons if r) or "a run failed"
        return Cell(place, "failed", why, None, tasks)
    if watched not in experiment.checks:
        return _side(experiment.switch, rows, place, tasks)
    try:
        verdict = judged(experiment.checks[watched], rows)
    except KeyError as lacking:
        return Cell(place, "undecided", f"{Why.REGIME}: {lacking}", None, tasks)
    first = verdict.measured[0] if verdict.measured else None
    return Cell(place, verdict.verdict, verdict.reason, first, tasks)


def _side(
    switch: Switch, rows: Evidence, place: Mapping[str, Any], tasks: tuple[Task, ...]
) -> Cell:
    """On which side of the switch the run of a cell lies: its 99 % interval decides."""
    values = next(run.last(switch.probe) for run in rows if switch.probe in run.series)
    made = summary(Quantity(switch.name or switch.probe, lambda _: values), values)
    word = "undecided"
    if made.low is not None and made.high is not None:
        above, below = made.low > switch.above, made.high < switch.above
        word = "above" if above else "below" if below else "undecided"
    reason = "" if word != "undecided" else f"the interval crosses {switch.above:g}"
    return Cell(place, word, reason, made, tasks)


def _boundary(
    axes: Sequence[Axis], switch: Switch | None, made: Sequence[Cell]
) -> tuple[Boundary | None, np.ndarray]:
    """The fitted line between above and below, and the theorem's points, for a switch."""
    none = np.empty((0, 2))
    good = [cell for cell in made if cell.measured is not None]
    if switch is None or not good:
        return None, none
    x, y = (np.array([float(cell.set[a.name]) for cell in good]) for a in axes)
    values = [[np.nan if v is None else v for v in c.measured.values] for c in good if c.measured]
    line = fit(x, y, np.array(values, dtype=float), switch.above)
    if switch.predicted is None:
        return line, none
    margins = np.array([switch.predicted(cell.tasks[0]) for cell in good])
    return line, crossings(x, y, margins)
