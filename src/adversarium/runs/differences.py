"""Describe how changed runs differ from the published ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from adversarium.digest import configuration, digest
from adversarium.plans.run import Run, Task

_HIDDEN = ("is", "version")


def resolved(task: Task) -> dict[str, object]:
    """Return every field of a task and of its parts by path; these determine its numbers.

    >>> from adversarium.plans.run import Trial
    >>> resolved(Trial(function=len, parameters={"x": {"y": 3}}))["x.y"]
    3
    """
    dynamics = task.dynamics
    return dict(_flat(dynamics if isinstance(task, Run) else dynamics["parameters"]))


def _flat(plain: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in plain.items():
        if isinstance(value, Mapping):
            yield f"{above}{name}", value.get("is", "")
            yield from _flat(value, f"{above}{name}.")
        elif name not in _HIDDEN:
            yield f"{above}{name}", value


def configured(task: Task) -> list[str]:
    """Return a task as lines of text: its plain fields, then every part with its fields."""
    dynamics = task.dynamics if isinstance(task, Run) else task.dynamics["parameters"]
    plain = {k: v for k, v in dynamics.items() if not isinstance(v, Mapping)}
    own = ", ".join(f"{k} = {shown(v)}" for k, v in plain.items() if v is not None)
    parts = {k: v for k, v in dynamics.items() if isinstance(v, Mapping)}
    return [own, *(f"{k}: {shown(v)}" for k, v in parts.items())] if own or parts else []


def shown(value: object) -> str:
    """Return a plain value as text: a part as NAME(field=value, …)."""
    if isinstance(value, Mapping):
        name = str(value.get("is", "")).partition("@")[0]
        given = (f"{k}={shown(v)}" for k, v in value.items() if k not in _HIDDEN)
        return f"{name}({', '.join(given)})"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(shown, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def changes_of(task: Task, before: Task | None) -> dict[str, tuple[object, object]]:
    """Return the fields in which a task differs from the published task: path → (old, new). Return
    an empty dictionary if there is no published task."""
    if before is None:
        return {}
    was, now = resolved(before), resolved(task)
    paths = dict.fromkeys((*was, *now))
    return {
        p: (was.get(p, _left_open(before, p)), now.get(p, _left_open(task, p)))
        for p in paths
        if was.get(p) != now.get(p)
    }


def _left_open(task: Task, path: str) -> object:
    """Return the value of a field that a configuration omits because it is the default."""
    head, _, name = path.partition(".")
    return getattr(getattr(task, head, None), name, None) if name.isidentifier() else None


def published_pairs(tasks: Sequence[Task], plain: Sequence[Task]) -> list[Task | None]:
    """Return the published counterpart of each changed task. If a family has as many tasks as in
    the published plan, it is the task at the same position in the family, else the task with the
    same label, or None."""
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


def reach_note(name: str, tasks: Sequence[Task], without: Sequence[Task | None]) -> str:
    """Name the runs that a change does not affect; empty if it affects all of them, or none."""
    same = [
        task.label or "the run"
        for task, before in zip(tasks, without, strict=True)
        if before is not None and digest(task.identity) == digest(before.identity)
    ]
    if not 0 < len(same) < len(tasks):
        return ""
    named = "; ".join(same[:4]) + (f"; and {len(same) - 4} more" if len(same) > 4 else "")
    return f"{name} changes {len(tasks) - len(same)} of {len(tasks)} runs, but not {named}"


def kept_radii(
    changes: Mapping[str, object], tasks: Sequence[Task], published: Sequence[Task | None]
) -> list[str]:
    """If the radius of the training attack changed, name the measurements at the old radius."""
    notes = []
    for task, before in zip(tasks, published, strict=True) if "attack.radius" in changes else ():
        if isinstance(task, Run) and before is not None:
            was, now = (resolved(one).get("attack.radius") for one in (before, task))
            kept = [
                name
                for r in task.recordings
                if was != now and _has_field(configuration(r.probe), "radius", was)
                for name in sorted(r.names)
            ]
            if kept:
                where = f" of {task.label}" if task.label else ""
                verb = "is" if len(kept) == 1 else "are"
                names = ", ".join(kept[:3])
                notes.append(f"{names}{where} {verb} still measured at radius {was}")
    return notes


def _has_field(plain: object, field: str, value: object) -> bool:
    """Return whether a field of this name has this value anywhere in a configuration."""
    if isinstance(plain, Mapping):
        return plain.get(field) == value or any(_has_field(v, field, value) for v in plain.values())
    return isinstance(plain, list) and any(_has_field(one, field, value) for one in plain)
