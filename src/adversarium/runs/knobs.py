"""Which runs a change reaches: a knob turns every run that has what it names, or is refused with
those that it does not reach; and what of each run was changed from what."""

import inspect
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from adversarium.digest import configuration, digest
from adversarium.plans.experiment import Experiment
from adversarium.plans.run import Read, Run, Task, Trial
from adversarium.plans.words import word, word_of
from adversarium.runs.changes import apart
from adversarium.sources import looked_at_once

_OWN = ("n", "steps", "eta")  # fields of a run itself; they are no fields of its parts
_HIDDEN = ("is", "revision", "version")


def resolved(task: Task) -> dict[str, Any]:
    """Every field of a task and of its parts, by path: what decides its numbers.

    >>> from adversarium.plans.run import Trial
    >>> resolved(Trial(function=len, parameters={"x": {"y": 3}}))["x.y"]
    3
    """
    told = task.dynamics
    return dict(_flat(told if isinstance(task, Run) else told["parameters"]))


def _flat(plain: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in plain.items():
        if isinstance(value, Mapping):
            yield f"{above}{name}", value.get("is", "")
            yield from _flat(value, f"{above}{name}.")
        elif name not in _HIDDEN:
            yield f"{above}{name}", value


def configured(task: Task) -> list[str]:
    """A task in words: the run's own numbers, and every part with all of its fields."""
    told = task.dynamics if isinstance(task, Run) else task.dynamics["parameters"]
    plain = {k: v for k, v in told.items() if not isinstance(v, Mapping)}
    own = ", ".join(f"{k} = {shown(v)}" for k, v in plain.items() if v is not None)
    parts = {k: v for k, v in told.items() if isinstance(v, Mapping)}
    return [own, *(f"{k}: {shown(v)}" for k, v in parts.items())] if own or parts else []


def shown(value: Any) -> str:
    """A plain value in words: a part as NAME(field=value, …)."""
    if isinstance(value, Mapping):
        name = str(value.get("is", "")).partition("@")[0]
        given = (f"{k}={shown(v)}" for k, v in value.items() if k not in _HIDDEN)
        return f"{name}({', '.join(given)})"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(shown, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def changes_of(task: Task, before: Task | None) -> dict[str, tuple[Any, Any]]:
    """What of a task differs from the published one: path → (was, is); nothing without one."""
    if before is None:
        return {}
    was, now = resolved(before), resolved(task)
    paths = dict.fromkeys((*was, *now))
    return {
        p: (was.get(p, _left_open(before, p)), now.get(p, _left_open(task, p)))
        for p in paths
        if was.get(p) != now.get(p)
    }


def _left_open(task: Task, path: str) -> Any:
    """A field of a part that its configuration does not tell, since it is as usual."""
    head, _, name = path.partition(".")
    return getattr(getattr(task, head, None), name, None) if name.isidentifier() else None


def beside(tasks: Sequence[Task], plain: Sequence[Task]) -> list[Task | None]:
    """The published task beside each changed one: of its label, or of its place in its family
    where the family is as large as before; else none."""
    labels = {task.label: task for task in plain}
    before, after = _families(plain), _families(tasks)
    return [
        before[task.family][after[task.family].index(task)]
        if len(before.get(task.family, ())) == len(after[task.family])
        else labels.get(task.label)
        for task in tasks
    ]


def _families(tasks: Iterable[Task]) -> dict[str, list[Task]]:
    grouped: dict[str, list[Task]] = {}
    for task in tasks:
        grouped.setdefault(task.family, []).append(task)
    return grouped


@dataclass(frozen=True)
class _Missed:
    """Runs of one family that have what a knob names, and keep their own value."""

    family: str
    label: str
    path: str
    value: Any

    def __str__(self) -> str:
        name = self.path.rpartition(".")[2]
        return f"{self.label or 'the run'} ({name} = {shown(self.value)} there)"


@looked_at_once()
def reaching(
    experiment: Experiment,
    preset: str,
    changes: Mapping[str, Any],
    tasks: Sequence[Task],
    partly: bool = False,
) -> list[str]:
    """Refuses a change that leaves out some of the tasks which have what it names; says so, where
    it may. A knob of several values says which runs there are, and leaves none out."""
    knobs, fields = apart(experiment, preset, changes)
    told = []
    for name, value in {**knobs, **fields}.items():
        if name in knobs and _dead(experiment, preset, name, knobs):
            raise ValueError(
                f"{name} reaches no run of {experiment.name}: it would change nothing."
            )
        if isinstance(value, (tuple, list)):
            continue
        if name in knobs:
            missed = _missed(experiment, preset, name, value, knobs, tasks)
            ways = [*_by_field(missed, value), *_left_out(experiment, preset, knobs, missed)]
            told += [] if missed else _partial(experiment, preset, name, knobs, tasks)
        else:
            named = (name.rpartition(".")[2],)
            trials = [t for t in tasks if isinstance(t, Trial)]
            missed = [*_stays(trials, named, value), *_alone(trials, named[0], value)]
            missed += _measured(tasks, beside(tasks, experiment.tasks(preset, **knobs)), name)
            ways = _by_knob(experiment, named[0], value) if missed else []
        if missed:
            where = "; ".join(str(m) for m in missed[:4])
            more = f"; and {len(missed) - 4} more" if len(missed) > 4 else ""
            told.append(f"{name} does not reach {where}{more}")
            if not partly:
                way = "--partly (in Python partly=True) leaves them as they are"
                raise ValueError(f"{told[-1]}: {' or '.join((*ways, way))}.")
    return told


def _partial(
    experiment: Experiment,
    preset: str,
    name: str,
    turned: Mapping[str, Any],
    tasks: Sequence[Task],
) -> list[str]:
    """How many runs a knob changes that no run keeps a field of, where it is not all of them."""
    if any(list(_named(task, word(name, experiment.id).fields)) for task in tasks):
        return []
    before = experiment.tasks(preset, **{k: v for k, v in turned.items() if k != name})
    known = set(_told(before))
    changed = sum(one not in known for one in _told(tasks))
    return [f"{name} changes {changed} of {len(tasks)} runs"] if 0 < changed < len(tasks) else []


def _told(tasks: Sequence[Task]) -> list[str]:
    """Tasks by what they are: a function that a plan makes anew is another object each time."""
    return [digest(task.told) for task in tasks]


def _dead(experiment: Experiment, preset: str, name: str, turned: Mapping[str, Any]) -> bool:
    """Whether neither a knob's value nor any other changes the plan."""
    published = present(experiment, preset, name)
    if turned[name] == published:
        return False
    rest = {k: v for k, v in turned.items() if k != name}
    plain = experiment.tasks(preset, **rest)
    for turn in ({name: turned[name]}, *turns(name, turned[name]), *turns(name, published)):
        try:
            other = experiment.tasks(preset, **rest, **turn)
            if other != plain and _told(other) != _told(plain):
                return False
        except (ValueError, ArithmeticError, LookupError, TypeError):
            return False  # a value that this plan does not take
    return True


def _stays(tasks: Sequence[Task], fields: Sequence[str], value: Any) -> list[_Missed]:
    """The tasks that have one of these fields, and another value there."""
    return [
        _Missed(task.family, task.label, path, at)
        for task in tasks
        for path, at in _named(task, fields)
        if at != value
    ]


def _alone(trials: Sequence[Task], name: str, value: Any) -> list[_Missed]:
    """Trials that stand by what is named, and all of their family at one other value: no ladder."""
    missed = []
    for family, some in _families(trials).items():
        there = [resolved(t).get(name, value) for t in some]
        told = bool(list(_named(some[0], (name,))))  # by those that do not stand by it
        if not told and len(set(map(repr, there))) == 1 and there[0] != value:
            missed += [_Missed(family, t.label, name, there[0]) for t in some]
    return missed


def _measured(tasks: Sequence[Task], before: Sequence[Task | None], path: str) -> list[_Missed]:
    """The runs whose measurements keep the radius that the training attack had."""
    missed: list[_Missed] = []
    for task, plain in zip(tasks, before, strict=True):
        if path != "attack.radius" or not isinstance(task, Run) or plain is None:
            continue
        was = resolved(plain).get(path)
        kept = [
            name
            for r in task.recordings
            if resolved(task).get(path) != was and _holds(configuration(r.probe), "radius", was)
            for name in sorted(r.names)
        ]
        if kept:
            told = f"{task.label} in {', '.join(kept[:3])}".strip()
            missed.append(_Missed(task.family, told, "radius", was))
    return missed


def _holds(plain: Any, field: str, value: Any) -> bool:
    """Whether a field has a value somewhere in a configuration."""
    if isinstance(plain, Mapping):
        return plain.get(field) == value or any(_holds(v, field, value) for v in plain.values())
    return isinstance(plain, list) and any(_holds(one, field, value) for one in plain)


def _by_knob(experiment: Experiment, field: str, value: Any) -> list[str]:
    """The knob that turns a field wherever it is."""
    known = inspect.signature(experiment.plan).parameters
    knobs = [name for name in known if field in (name, *word(name, experiment.id).fields)]
    return [f"--set {name}={value} turns them with it" for name in knobs[:1]]


def _missed(
    experiment: Experiment,
    preset: str,
    name: str,
    value: Any,
    turned: Mapping[str, Any],
    tasks: Sequence[Task],
) -> list[_Missed]:
    """The runs that have what a knob names, where no value arrives, or where this one leaves
    them as they were (a plan may cap it)."""
    fields = word(name, experiment.id).fields
    rest = {k: v for k, v in turned.items() if k != name}
    trials = [t for t in tasks if isinstance(t, Trial)]
    alone = [miss for field in fields for miss in _alone(trials, field, value)]
    if alone:
        still = _still(experiment, preset, name, rest, fields)
        alone = [miss for miss in alone if miss.family in still]
    if not _stays(tasks, fields, value):
        return alone
    moving = _moving(experiment, preset, name, rest, fields)
    turns_it = value != present(experiment, preset, name)
    missed = []
    for task, before in zip(tasks, beside(tasks, experiment.tasks(preset, **rest)), strict=True):
        was = dict(_named(before, fields)) if before is not None and turns_it else {}
        missed += [
            miss
            for miss in _stays([task], fields, value)
            if (miss.family, miss.path) not in moving or was.get(miss.path) == miss.value
        ]
    return [*missed, *alone]


def _turned(
    experiment: Experiment, preset: str, name: str, rest: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], tuple[Task, ...]]]:
    """The plans at the turns of a knob that they take."""
    for turn in turns(name, present(experiment, preset, name)):
        with suppress(ValueError, ArithmeticError, LookupError, TypeError):
            yield turn, experiment.tasks(preset, **rest, **turn)


def _still(
    experiment: Experiment,
    preset: str,
    name: str,
    rest: Mapping[str, Any],
    fields: Sequence[str],
) -> set[str]:
    """The families that no turn of a knob gives another value of its fields."""
    seen: dict[str, set[tuple[Any, ...]]] = {}
    for _, tasks in _turned(experiment, preset, name, rest):
        for family, some in _families(tasks).items():
            known = [repr(resolved(t).get(f)) for t in some for f in fields]
            seen.setdefault(family, set()).add(tuple(known))
    return {family for family, values in seen.items() if len(values) == 1}


def _named(task: Task, fields: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Where a task keeps what a knob names: its own field before those of its parts; not where it
    stands by it, for then another knob says which values there are."""
    known = resolved(task)
    read = {at.path for at in task.at.values() if isinstance(at, Read)}
    for name in fields:
        own = name in known or name in _OWN
        for path in [name] if own else [p for p in known if p.rpartition(".")[2] == name]:
            stands = path in read or any(name in (at, word_of(at)) for at in task.at)
            if path in known and not stands:
                yield path, known[path]


def _moving(
    experiment: Experiment,
    preset: str,
    name: str,
    rest: Mapping[str, Any],
    fields: Sequence[str],
) -> set[tuple[str, str]]:
    """The families, and the paths in them, that take another value at some turn of a knob; not
    those that take its own value at a turn, for there another one is a cap."""
    direct: set[tuple[str, str]] = set()
    seen: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for turn, tasks in _turned(experiment, preset, name, rest):
        there: dict[tuple[str, str], list[str]] = {}
        for task in tasks:
            for path, at in _named(task, fields):
                there.setdefault((task.family, path), []).append(repr(at))
                if turn and at == turn[name]:
                    direct.add((task.family, path))
        for place, values in there.items():
            seen.setdefault(place, set()).add(tuple(values))
    return {place for place, values in seen.items() if len(values) > 1} - direct


def present(experiment: Experiment, preset: str, name: str) -> Any:
    """The value of a knob at a preset."""
    default = inspect.signature(experiment.plan).parameters[name].default
    return experiment.knobs(preset).get(name, default)


def turns(name: str, value: Any) -> list[dict[str, Any]]:
    """A knob as it is, and at other values, as changes of the plan."""
    return [{}, *({name: other} for other in _others(value))]


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [n for n in (value // 2, value // 10, 2, 4, value * 2) if n != value and n > 0]
    if isinstance(value, float):
        return [value / 2, value * 2, value * 0.9]
    if value is None:
        return [0.7, 3, 12]
    if isinstance(value, (tuple, list)) and value:
        each = [_others(v) for v in value]
        mixed = [tuple(row) for row in itertools.islice(zip(*each, strict=False), 3) if row]
        return [*mixed, tuple(value[:-1]), ()]
    return []


def _by_field(missed: Sequence[_Missed], value: Any) -> list[str]:
    """The field that reaches every run, where a part keeps what the knob names."""
    paths = {miss.path for miss in missed}
    if len(paths) == 1 and next(iter(paths)).split(".")[0] in ("data", "network"):
        return [f"--set {next(iter(paths))}={value} changes every run"]
    return []


def _left_out(
    experiment: Experiment, preset: str, turned: Mapping[str, Any], missed: Sequence[_Missed]
) -> list[str]:
    """The knob that leaves those runs out when it is empty, or off."""
    families = {miss.family for miss in missed}
    for name in inspect.signature(experiment.plan).parameters:
        value = present(experiment, preset, name)
        if not families or not isinstance(value, (tuple, list, bool)):
            continue
        none = False if isinstance(value, bool) else ()
        try:
            kept = experiment.tasks(preset, **{**turned, name: none})
        except (ValueError, ArithmeticError, LookupError, TypeError):
            continue
        if not families & {task.family for task in kept}:
            return [f"--set {name}={none if isinstance(value, bool) else repr(str(none))} "
                    "leaves them out"]  # fmt: skip
    return []
