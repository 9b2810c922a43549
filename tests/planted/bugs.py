"""Define planted bugs, and compute the verdicts with and without them.

Each bug must change the verdicts of its claims. A bug can set parameters and seeds that make runs
smaller, if the healthy verdict stays the same. Parameters that leave out runs cost nothing without
the bug, because the rows of the other runs are shipped.
"""

import functools
import inspect
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from adversarium.plans.loading import load
from adversarium.plans.papers import claims
from adversarium.plans.run import Run, Task
from adversarium.runs.audit import AuditOptions, needed, run_missing
from adversarium.runs.jobs import resolve
from adversarium.runs.reader import Reader, evidence
from adversarium.runs.scope import judged
from adversarium.runs.store import Store
from adversarium.training import ENGINES, AnyEngine
from adversarium.training.problem import AnyProblem

Plant = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Bug:
    """A bug, and the claims of one experiment whose verdict it must change."""

    name: str
    plant: Plant
    turns: tuple[str, ...]
    knobs: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 0  # 0: as many as the quick preset has
    parameters: Mapping[str, Any] = field(default_factory=dict)  # set in trials
    reading: bool = False  # the bug is in code that reads rows: use the shipped ones of `paper`

    @property
    def home(self) -> str:
        """Return the experiment to which its claims belong."""
        (home,) = {claims()[id].experiment for id in self.turns}
        return home

    @property
    def resized(self) -> bool:
        """Return whether the runs differ from those of the quick preset."""
        return bool(self.knobs or self.seeds or self.parameters)

    @property
    def size(self) -> str:
        """Return the size of the runs as text; one healthy run serves all bugs of the same size."""
        return repr((self.home, self.knobs, self.seeds, self.parameters))


def swapped(owner: Any, name: str, change: Callable[..., Any]) -> Plant:
    """Replace a function of a module, or a method of a class, by change(original, …)."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def changed(*arguments: Any, **named: Any) -> Any:
        return change(original, *arguments, **named)

    return lambda: patch.object(owner, name, changed)


def scaled(owner: Any, name: str, factor: float) -> Plant:
    """Multiply what a function returns by a factor."""
    return swapped(owner, name, lambda original, *a, **k: factor * original(*a, **k))


def derived(owner: type, name: str, value: Callable[[Any], Any]) -> Plant:
    """Replace a property of a class."""
    return lambda: patch.object(owner, name, property(value))


def defaults(function: Any, **values: Any) -> Plant:
    """Change the default values of a function."""

    def plant() -> AbstractContextManager[Any]:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        known = names[len(names) - len(function.__defaults__) :]
        assert set(values) <= set(known), (function.__name__, known)
        before = dict(zip(known, function.__defaults__, strict=True))
        return patch.object(function, "__defaults__", tuple({**before, **values}.values()))

    return plant


def together(*plants: Plant) -> Plant:
    """Plant several bugs at once."""

    def plant() -> ExitStack:
        stack = ExitStack()
        for one in plants:
            stack.enter_context(one())
        return stack

    return plant


@dataclass(frozen=True)
class Misled:
    """An engine that runs other settings than it was given."""

    engine: AnyEngine
    change: Callable[[AnyProblem], AnyProblem]

    def init(self, settings: Sequence[AnyProblem]) -> Any:
        """Return the initial state of the changed settings, with the training sets of the given
        ones."""
        told = [self.change(setting) for setting in settings]
        for given, other in zip(settings, told, strict=True):
            vars(other)["train"] = given.train  # a cached property: what was drawn is shared
        return self.engine.init(told)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


def misled(name: str, change: Callable[[AnyProblem], AnyProblem]) -> Plant:
    """Replace an engine by one that runs a changed setting; probes see the given setting."""
    return lambda: patch.dict(ENGINES, {name: Misled(ENGINES[name], change)})  # type: ignore


def verdicts(bug: Bug, wanted: Iterable[str], fresh: bool) -> dict[str, str]:
    """Return the verdicts of claims from the rows that they need: all computed (`fresh`), or those
    computed that are not shipped."""
    experiment = load(bug.home)
    checks = {id: experiment.checks[id] for id in wanted}
    needs = [need for check in checks.values() for need in check.needs]
    preset = "paper" if bug.reading else "quick"
    tasks = needed(experiment.tasks(preset, **bug.knobs), needs)
    jobs = [resolve(_smaller(task, bug.parameters)) for task in tasks]
    seeds = range(bug.seeds or experiment.seeds(preset))
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Store(Path(folder) / "s.sqlite"), experiment.id)
        failures = run_missing(
            experiment, jobs, seeds, reader, AuditOptions(preset=preset, fresh=fresh)
        )
        rows = evidence(reader, jobs, seeds)
    if failures or rows is None:
        return dict.fromkeys(checks, f"failed: {failures}")
    return {id: judged(check, rows).verdict for id, check in checks.items()}


def _smaller(task: Task, parameters: Mapping[str, Any]) -> Task:
    """Return a trial with those of the parameters that it takes; return a run unchanged."""
    if isinstance(task, Run):
        return task
    known = inspect.signature(task.function).parameters
    taken = {name: value for name, value in parameters.items() if name in known}
    return replace(task, parameters={**task.parameters, **taken})


def planted(bugs: Iterable[Bug]) -> Iterator[dict[str, Any]]:
    """Yield the name of every bug, and its claims' verdicts with it and (at changed sizes) without
    it. One healthy run serves all bugs with the same runs."""
    bugs = tuple(bugs)
    healthy: dict[str, dict[str, str]] = {}
    for bug in bugs:
        if bug.size not in healthy and bug.resized:
            alike = dict.fromkeys(
                id for other in bugs if other.size == bug.size for id in other.turns
            )
            healthy[bug.size] = verdicts(bug, alike, fresh=False)
        with bug.plant():
            found = verdicts(bug, bug.turns, fresh=not bug.reading)
        before = {id: healthy[bug.size][id] for id in found} if bug.resized else {}
        yield {"bug": bug.name, "healthy": before, "found": found}
