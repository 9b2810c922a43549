"""A unit as words that another process can carry out: recipes, keys, probes and seeds. Nothing of
a user's code travels; the worker plans the same tasks again and finds them by their keys."""

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from adversarium.plans.catalogue import load, name_directory, named_directories, own_file
from adversarium.runs.blocks import Outcome
from adversarium.runs.changes import planned
from adversarium.runs.compute import compute
from adversarium.runs.jobs import Job, Recipe, Unit, resolve


@dataclass(frozen=True)
class Line:
    """One job of a unit: how it was planned, its key, what is recorded, and its seeds."""

    recipe: Recipe
    key: str
    probes: frozenset[str]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Order:
    """A unit in words, with the directories of papers that its planner knew."""

    lines: tuple[Line, ...]
    experiment: str
    device: str
    threads: int
    papers: tuple[str, ...] = ()


def order(unit: Unit, experiment: str) -> Order:
    """A unit as an order."""
    lines = []
    for job, seeds in zip(unit.jobs, unit.seeds, strict=True):
        if job.recipe is None:
            raise ValueError(
                "a Run or Trial made in Python runs here; give it a file (./FILE.py) to run it in "
                "other processes."
            )
        lines.append(Line(_anywhere(job.recipe), job.key, frozenset(job.asked), seeds))
    return Order(tuple(lines), experiment, unit.device, unit.threads, named_directories())


def _anywhere(recipe: Recipe) -> Recipe:
    """The recipe as a process in another folder can follow it."""
    file = own_file(recipe.experiment)
    return recipe if file is None else replace(recipe, experiment=str(file.resolve()))


def carried_out(given: Order) -> Outcome:
    """An order, planned again and computed: what a worker does. What a user's code prints on the
    way is no answer, and goes to standard error."""
    with redirect_stdout(sys.stderr):
        return _carried_out(given)


def _carried_out(given: Order) -> Outcome:
    for folder in given.papers:
        name_directory(Path(folder))
    jobs = []
    for line in given.lines:
        found = _found(line)
        if found is None:  # a file may have been edited since it was planned here
            _planned.cache_clear()
            found = _found(line)
        if found is None:
            raise ValueError(
                f"this worker plans {line.recipe.experiment} differently: it has other code or "
                "other files than whoever asked; bring both to one version."
            )
        jobs.append(found.only(line.probes))
    seeds = tuple(line.seeds for line in given.lines)
    return compute(Unit(tuple(jobs), seeds, given.device, given.threads), given.experiment)


def _found(line: Line) -> Job | None:
    """The job of a line: two places of a plan may be one run, and record different things."""
    known = _planned(repr(line.recipe), _Held(line.recipe)).get(line.key, ())
    return next((job for job in known if line.probes <= set(job.asked)), None)


@lru_cache(maxsize=64)
def _planned(words: str, recipe: "_Held") -> dict[str, list[Job]]:
    asked, made = recipe.recipe, dict[str, list[Job]]()
    for task in planned(load(asked.experiment), asked.preset, dict(asked.changes)):
        job = resolve(task)
        made.setdefault(job.key, []).append(job)
    return made


class _Held:
    """A recipe beside its words, which alone are the key of the cache: parts need no hash."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held)
