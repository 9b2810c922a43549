"""An experiment as data: a plan with presets, its checks, figures, gates. No torch at import."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adversarium.plans.digest import digest
from adversarium.plans.run import Run, Task, Trial


@dataclass(frozen=True)
class Experiment:
    """A plan with presets, checks (one line a claim) and figures.

    `file` is the file of a user's own experiment; `gates(run)` are the hypotheses of its paper for
    one run.
    """

    id: str
    title: str
    plan: Callable[..., Iterable[Task]]
    presets: Mapping[str, Mapping[str, Any]]
    checks: Mapping[str, Any]
    figures: tuple[Any, ...] = ()
    switch: Any = None  # what a sweep looks for, where no claim is named
    gates: Callable[[Run], Sequence[Any]] | None = None
    file: Path | None = None

    @property
    def name(self) -> str:
        """The id as the stem of file names (an own file's without its folder)."""
        return self.file.stem if self.file is not None else self.id

    def seeds(self, preset: str) -> int:
        """How many seeds the preset asks for."""
        asked = self.presets[preset].get("seeds", 5)
        if not isinstance(asked, int) or asked < 1:
            raise ValueError(f"the preset {preset} of {self.id} needs seeds >= 1, got {asked!r}.")
        return asked

    def knobs(self, preset: str) -> dict[str, Any]:
        """The preset's knobs of the plan."""
        return {k: v for k, v in self.presets[preset].items() if k != "seeds"}

    def tasks(self, preset: str, **changes: Any) -> tuple[Task, ...]:
        """The plan at a preset, with knobs changed."""
        tasks = tuple(self.plan(**{**self.knobs(preset), **changes}))
        if not all(isinstance(task, (Run, Trial)) for task in tasks):
            raise ValueError(f"the plan of {self.id} must yield Run or Trial values.")
        return distinct(tasks, self.id)


def distinct(tasks: Iterable[Task], id: str) -> tuple[Task, ...]:
    """The tasks, each once: changes may have made some equal. Two that differ need two places."""
    places: dict[str, Task] = {}
    for task in tasks:
        before = places.setdefault(task.label, task)
        if before is not task and digest(before.dynamics) != digest(task.dynamics):
            raise ValueError(
                f"two runs of {id} stand in the same place ({task.label or 'no family'}); give "
                "them families or coordinates: Run(family=…, at={…})."
            )
    return tuple(places.values())


def merged(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """The tasks after a change, one a place: of runs that the change brought together, the longest
    is kept (the others end sooner on the same way)."""
    places: dict[str, Task] = {}
    for task in tasks:
        before = places.get(task.label)
        longer = isinstance(task, Run) and isinstance(before, Run) and task.steps > before.steps
        if before is None or longer:
            places[task.label] = task
    return tuple(places.values())
