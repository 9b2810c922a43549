"""Jobs: a task with its engine, key and refusals, resolved once; and the units that run at once."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from adversarium.digest import configuration, digest, is_own, with_files
from adversarium.plans.run import Run, Task, Trial, filtered
from adversarium.runs.blocks import TRIAL
from adversarium.sockets import Placing
from adversarium.sources import noting
from adversarium.training import AnyEngine, GradientDescent, Risk, Rule, Setting, choose
from adversarium.training.setting import AnySetting


@dataclass(frozen=True)
class Recipe:
    """How a task was planned: the same words make it again in another process."""

    experiment: str
    preset: str
    changes: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Job:
    """A task as it runs: its engine (none for a trial), the key of its rows, why the engines before
    refused, and how it was planned (a task from Python has no recipe)."""

    task: Task
    engine: AnyEngine | None
    key: str
    refused: Mapping[str, str]
    recipe: Recipe | None = None
    dynamics: Mapping[str, Any] = field(default_factory=dict, compare=False)  # of the task, once
    ids: Mapping[int, str] = field(default_factory=dict, compare=False)  # of its probes, once

    @property
    def engine_name(self) -> str:
        """The engine's name."""
        return self.engine.name if self.engine is not None else "trial"

    @cached_property
    def asked(self) -> dict[str, tuple[int, ...] | None]:
        """What is to be recorded, by the digest of the probe: its times."""
        if isinstance(self.task, Trial):
            return {TRIAL: None}
        asked: dict[str, tuple[int, ...] | None] = {}
        for r in self.task.recordings:
            id = self.id_of(r.probe)
            if r.times is None:
                asked[id] = None
            elif r.times:
                asked[id] = tuple(sorted({*(asked.get(id) or ()), *r.times}))
        return asked

    def id_of(self, probe: object) -> str:
        """The digest of one of its probes, as it was when the job was made: what own code holds
        may change while it runs."""
        return self.ids[id(probe)]

    @cached_property
    def own(self) -> frozenset[Path] | None:
        """The files that the key of somebody's own code tells; None where no part or probe is."""
        recordings = self.task.recordings if isinstance(self.task, Run) else ()
        if not is_own([self.dynamics, *(configuration(r.probe) for r in recordings)]):
            return None
        with noting() as known:
            _ = [self.task.dynamics, *(_told(r.probe) for r in recordings)]
        return frozenset(known)

    def setting(self, seeds: tuple[int, ...], device: str) -> AnySetting:
        """The setting of a run with seeds on a device."""
        assert isinstance(self.task, Run)
        run, dtype = self.task, getattr(torch, self.task.dtype)
        setting: AnySetting = Setting(
            run.data, run.network, run.attack, rule_of(run), seeds, device, dtype
        )
        return self.engine.placed(setting) if isinstance(self.engine, Placing) else setting

    def only(self, ids: frozenset[str]) -> "Job":
        """The same with some of its recordings."""
        if isinstance(self.task, Trial):
            return self
        return replace(self, task=filtered(self.task, lambda r: self.id_of(r.probe) in ids))


def probe_id(probe: object) -> str:
    """The digest under which a probe's rows are stored; its record times are not in it."""
    return digest(_told(probe), 16)


def _told(probe: object) -> Any:
    """A probe as plain JSON, with the files that its fields name."""
    plain = configuration(probe)
    return with_files(plain) if isinstance(plain, dict) else plain


def rule_of(run: Run) -> Rule:
    """The training rule of a run."""
    return Rule(
        n=run.n,
        steps=run.steps,
        eta=run.eta,
        risk=run.risk or Risk(),
        optimiser=run.optimiser or GradientDescent(),
    )


def resolve(task: Task, recipe: Recipe | None = None) -> Job:
    """The job of a task: which engine runs it, under which key, and why not the others."""
    if isinstance(task, Trial):
        told = task.dynamics
        return Job(task, None, run_key(told, "trial", task.version), {}, recipe, told)
    engine, refused = choose(task.data, task.network, task.attack, rule_of(task), task.engine)
    told = task.dynamics
    key = run_key(told, engine.name, engine.version)
    ids = {id(r.probe): probe_id(r.probe) for r in task.recordings}
    return Job(task, engine, key, refused, recipe, told, ids)


def run_key(dynamics: Mapping[str, Any], engine: str, version: int) -> str:
    """The key of a run's rows: its dynamics, its engine and the engine's version."""
    return digest({"task": dynamics, "engine": engine, "version": version})


@dataclass(frozen=True)
class Unit:
    """Jobs of one shape with seeds of each: what is computed at once, wherever that is. Rows do
    not depend on the place: the same jobs, seeds, device and threads give the same numbers."""

    jobs: tuple[Job, ...]
    seeds: tuple[tuple[int, ...], ...]  # of each job
    device: str = "cpu"
    threads: int = 1

    @property
    def replicas(self) -> int:
        """How many replicas run side by side."""
        return sum(len(seeds) for seeds in self.seeds)


class NotThere(ValueError):
    """What runs need (data in a directory) is not there; nothing has run."""


def lacks(job: Job) -> str:
    """What the data of a run say that is not there; empty when all is."""
    lacking = getattr(getattr(job.task, "data", None), "lacking", None)
    return str(lacking(job.task.n)) if lacking is not None and isinstance(job.task, Run) else ""


def units(lacking: Sequence[tuple[Job, tuple[int, ...]]], device: str) -> list[Unit]:
    """What is lacking as units: trials a seed at a time (exact ones once), a run alone in blocks of
    a fixed width, runs of one shape side by side."""
    for job, _ in lacking:
        if told := lacks(job):
            raise NotThere(told)
    kind = "cuda" if device.startswith("cuda") else "cpu"
    made: list[Unit] = []
    groups: dict[Hashable, list[tuple[Job, tuple[int, ...]]]] = {}
    for job, seeds in lacking:
        if isinstance(job.task, Trial):
            together = (seeds,) if job.task.exact else tuple((seed,) for seed in seeds)
            made += [Unit((job,), (some,), device) for some in together]
        else:
            assert job.engine is not None
            shape = job.engine.name, job.engine.shape(job.setting((), device))
            groups.setdefault(shape, []).append((job, seeds))
    for group in groups.values():
        engine = group[0][0].engine
        assert engine is not None
        if len(group) == 1:
            job, seeds = group[0]
            blocks = padded(seeds, engine.width[kind])
            made += [Unit((job,), (block,), device) for block in blocks]
        else:
            made += _packed(group, engine.wide[kind], device)
    return [replace(unit, threads=fitting_threads(unit)) for unit in made]


SMALL = 2**18  # numbers of a tensor up to which one thread is quicker (benchmarks/threads.py)


def fitting_threads(unit: Unit) -> int:
    """One thread for a trial, which makes many small tensors, and for a run of small tensors, else
    as many as torch has."""
    small = unit.jobs[0].engine is None or largest_tensor(unit) <= SMALL
    return 1 if small else torch.get_num_threads()


def largest_tensor(unit: Unit) -> int:
    """About how many numbers the largest tensor of a training step has: the points of a block, or
    what the hidden units make of them."""
    run = unit.jobs[0].task
    assert isinstance(run, Run)
    shape, width = tuple(run.data.shape), getattr(run.network, "m", 1)
    points = math.prod(shape) if unit.jobs[0].engine_name in ("full", "sgd") else 1
    return int(unit.replicas * run.n * max(points, width * math.prod(shape[:-1])))


def _packed(group: Sequence[tuple[Job, tuple[int, ...]]], wide: int, device: str) -> list[Unit]:
    """Jobs of one shape in units of at most `wide` replicas."""
    pieces = [
        (job, seeds[i : i + wide]) for job, seeds in group for i in range(0, len(seeds), wide)
    ]
    made: list[Unit] = []
    held: list[tuple[Job, tuple[int, ...]]] = []
    for piece in (*pieces, None):
        full = sum(len(seeds) for _, seeds in held) + (len(piece[1]) if piece else 0) > wide
        if held and (piece is None or full):
            jobs, seeds = zip(*held, strict=True)
            made.append(Unit(tuple(jobs), tuple(seeds), device))
            held = []
        if piece is not None:
            held.append(piece)
    return made


def padded(seeds: Sequence[int], width: int) -> list[tuple[int, ...]]:
    """Blocks of a fixed width; the last is filled up with its own last seed, whose rows are
    dropped. A row then does not depend on how many seeds were asked for.

    >>> padded((1, 2, 3), 2)
    [(1, 2), (3, 3)]
    """
    blocks = [tuple(seeds[i : i + width]) for i in range(0, len(seeds), width)]
    return [block + (block[-1],) * (width - len(block)) for block in blocks]
