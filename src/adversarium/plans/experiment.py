"""Describe an experiment as data: a plan with presets, checks, figures and gates.

Importing this module does not import torch.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adversarium.digest import digest, unnamed
from adversarium.plans.run import Run, Task, Trial


@dataclass(frozen=True)
class Experiment:
    """A plan with presets, checks (one per claim) and figures.

    `file` is the file of a user's experiment. `gates(task)` returns the hypotheses of its paper
    for one run or trial.
    """

    id: str
    title: str
    plan: Callable[..., Iterable[Task]]
    presets: Mapping[str, Mapping[str, Any]]
    checks: Mapping[str, Any]
    figures: tuple[Any, ...] = ()
    switch: Any = None  # the Switch that judges the cells of a sweep if no claim is named
    gates: Callable[[Task], Sequence[Any]] | None = None
    file: Path | None = None

    @property
    def name(self) -> str:
        """Return the name for output files: the id, or the name of a user's file without suffix."""
        return self.file.stem if self.file is not None else self.id

    def seeds(self, preset: str) -> int:
        """Return the number of seeds of the preset."""
        asked = self._preset(preset).get("seeds", 5)
        if not isinstance(asked, int) or asked < 1:
            raise ValueError(f"the preset {preset} of {self.id} needs seeds >= 1, got {asked!r}.")
        return asked

    def knobs(self, preset: str) -> dict[str, object]:
        """Return the plan's parameters (knobs) that the preset sets."""
        return {k: v for k, v in self._preset(preset).items() if k != "seeds"}

    def knob_value(self, preset: str, name: str) -> object:
        """Return the value of a plan's parameter at a preset, or else its default."""
        default = inspect.signature(self.plan).parameters[name].default
        return self.knobs(preset).get(name, default)

    def _preset(self, preset: str) -> Mapping[str, object]:
        if preset not in self.presets:
            raise ValueError(
                f"{self.file or self.id} has no preset {preset}, only {', '.join(self.presets)}; "
                f"define {preset} = dict(…) next to quick = dict(…)."
            )
        return self.presets[preset]

    def tasks(self, preset: str, **changes: object) -> tuple[Task, ...]:
        """Return the runs and trials of the plan at a preset, with some parameters changed."""
        tasks = tuple(self.plan(**{**self.knobs(preset), **changes}))
        if not all(isinstance(task, (Run, Trial)) for task in tasks):
            raise ValueError(f"the plan of {self.id} must yield Run or Trial values.")
        if not tasks:
            raise ValueError(f"the plan of {self.id} must yield a Run or a Trial, got none.")
        for task in tasks:
            if name := unnamed(task.identity):
                raise ValueError(
                    f"{self.file or self.id}: {name} is a lambda or is defined inside a function, "
                    "so its rows cannot be identified; define it at the top level of the file, "
                    "with functools.partial or a dataclass for its parameters."
                )
        return distinct(tasks, self.id)


def distinct(tasks: Iterable[Task], id: str) -> tuple[Task, ...]:
    """Return each task once; changes of parameters may have made some tasks equal.

    Raise if two different tasks have the same label.
    """
    places: dict[str, Task] = {}
    for task in tasks:
        before = places.setdefault(task.label, task)
        if before is not task and digest(before.dynamics) != digest(task.dynamics):
            raise ValueError(
                f"two different runs of {id} have the same label ({task.label or 'none'}); give "
                "them families or coordinates: Run(family=…, at={…})."
            )
    return tuple(places.values())


def merged(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Merge tasks that have the same label after a change.

    Of runs that differ only in the number of steps, only the longest remains, because it contains
    the others. Runs that differ in anything else remain separate and are numbered.
    """
    places: dict[str, list[Task]] = {}
    for task in tasks:
        here = places.setdefault(task.label, [])
        for i, before in enumerate(here):
            if _way(before) == _way(task):
                here[i] = max(before, task, key=_length)
                break
        else:
            here.append(task)
    return tuple(
        task if i == 0 else replace(task, at={**task.at, "copy": i + 1})
        for here in places.values()
        for i, task in enumerate(here)
    )


def _way(task: Task) -> str:
    """Return a digest of all that determines a task's numbers except the number of steps."""
    return digest({k: v for k, v in task.dynamics.items() if k != "steps"})


def _length(task: Task) -> int:
    return task.steps if isinstance(task, Run) else 0
