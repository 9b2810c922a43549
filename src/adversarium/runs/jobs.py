"""Define jobs (a task with the engine that runs it) and units (jobs that are computed together)."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from adversarium.digest import digest
from adversarium.plans.run import Run, Task, Trial, filtered
from adversarium.runs.blocks import TRIAL
from adversarium.sockets import Placing, RealLabelled, Sized
from adversarium.training import AnyEngine, GradientDescent, Problem, Recipe, Risk, choose
from adversarium.training.problem import AnyProblem


@dataclass(frozen=True)
class Job:
    """A task with the engine that runs it (None for a trial, which is a plain function), the key of
    its stored results, and the reasons why engines that would come first cannot run it."""

    task: Task
    engine: AnyEngine | None
    key: str
    refused: Mapping[str, str]

    @property
    def engine_name(self) -> str:
        """Return the engine's name."""
        return self.engine.name if self.engine is not None else "trial"

    @cached_property
    def asked(self) -> dict[str, tuple[int, ...] | None]:
        """Return the times to record (None for every step), by the digest of the probe."""
        if isinstance(self.task, Trial):
            return {TRIAL: None}
        asked: dict[str, tuple[int, ...] | None] = {}
        for r in self.task.recordings:
            if r.times is None:
                asked[r.id] = None
            elif r.times:
                asked[r.id] = tuple(sorted({*(asked.get(r.id) or ()), *r.times}))
        return asked

    def problem(self, seeds: tuple[int, ...], device: str) -> AnyProblem:
        """Return the training problem of a run for the given seeds, on a device."""
        assert isinstance(self.task, Run)
        run, dtype = self.task, getattr(torch, self.task.dtype)
        problem: AnyProblem = Problem(
            run.data, run.network, run.attack, recipe_of(run), seeds, device, dtype
        )
        return self.engine.placed(problem) if isinstance(self.engine, Placing) else problem

    def only(self, ids: frozenset[str]) -> "Job":
        """Return the same job with only some of its recordings."""
        if isinstance(self.task, Trial):
            return self
        return replace(self, task=filtered(self.task, lambda r: r.id in ids))


def recipe_of(run: Run) -> Recipe:
    """Return the training recipe of a run. The default loss is the cross-entropy, or the square
    loss for real-valued labels."""
    regression = isinstance(run.data, RealLabelled)
    return Recipe(
        n=run.n,
        steps=run.steps,
        eta=run.eta,
        risk=run.risk or Risk(loss="square" if regression else "cross_entropy"),
        optimiser=run.optimiser or GradientDescent(),
    )


def resolve(task: Task) -> Job:
    """Return the job of a task: the engine that runs it, its key, and why other engines cannot run
    it."""
    if isinstance(task, Trial):
        return Job(task, None, run_key(task.dynamics, "trial", task.version), {})
    engine, refused = choose(task.data, task.network, task.attack, recipe_of(task), task.engine)
    key = run_key(task.dynamics, engine.name, engine.version)
    return Job(task, engine, key, refused)


def run_key(dynamics: Mapping[str, object], engine: str, version: int) -> str:
    """Return the key of stored results: a digest of dynamics, engine name and version."""
    return digest({"task": dynamics, "engine": engine, "version": version})


@dataclass(frozen=True)
class Unit:
    """Jobs that can be stacked (`batching.shape`), with seeds for each, computed together. The
    numbers depend only on the jobs, seeds, device and threads, not on the machine."""

    jobs: tuple[Job, ...]
    seeds: tuple[tuple[int, ...], ...]  # of each job
    device: str = "cpu"
    threads: int = 1
    checkpoints: str = ""  # a folder; if empty, no checkpoints are written

    @property
    def replicas(self) -> int:
        """Return how many training runs are computed together: one per job and seed."""
        return sum(len(seeds) for seeds in self.seeds)


class MissingDataError(ValueError):
    """Raised before any run if the runs need data that are not on this machine."""


def lacks(job: Job) -> str:
    """Return the data set's message about missing files; empty if none are missing."""
    lacking = getattr(getattr(job.task, "data", None), "lacking", None)
    return str(lacking(job.task.n)) if lacking is not None and isinstance(job.task, Run) else ""


def units(
    lacking: Sequence[tuple[Job, tuple[int, ...]]], device: str, checkpoints: str = ""
) -> list[Unit]:
    """Split missing work into units. A trial runs one seed at a time, or once if it is exact. If a
    run is large, has checkpoints or cannot be stacked with others, its seeds are computed in blocks
    of a fixed size. Other runs are computed together if they can be stacked."""
    for job, _ in lacking:
        if message := lacks(job):
            raise MissingDataError(message)
    kind = "cuda" if device.startswith("cuda") else "cpu"
    made: list[Unit] = []
    groups: dict[Hashable, list[tuple[Job, tuple[int, ...]]]] = {}
    for job, seeds in lacking:
        if isinstance(job.task, Trial):
            together = (seeds,) if job.task.exact else tuple((seed,) for seed in seeds)
            made += [Unit((job,), (some,), device) for some in together]
        else:
            assert job.engine is not None
            shape = job.engine.name, job.engine.batching.shape(job.problem((), device))
            alone = job.key if job.task.checkpoint or one_by_one(job.task, kind) else ""
            groups.setdefault((shape, alone), []).append((job, seeds))
    for group in groups.values():
        engine = group[0][0].engine
        assert engine is not None
        if len(group) == 1:
            job, seeds = group[0]
            width = 1 if one_by_one(job.task, kind) else engine.batching.block_size[kind]
            blocks = padded(seeds, width)
            made += [Unit((job,), (block,), device) for block in blocks]
        else:
            made += _packed(group, engine.batching.max_batched[kind], device)
    return [replace(unit, threads=fitting_threads(unit), checkpoints=checkpoints) for unit in made]


LARGE = 2**22  # networks with at least this many weights train one seed at a time


def is_large(task: Task) -> bool:
    """Return whether the network of a run is so large that its seeds are trained one at a time."""
    if not isinstance(task, Run) or not isinstance(task.network, Sized):
        return False
    return task.network.sizes(tuple(task.data.shape), task.data.k)[0] >= LARGE


FULL = 2**16  # from this many pixels in a batch, one seed keeps a core busy (benchmarks/images.py)


def one_by_one(task: Task, kind: str) -> bool:
    """Return whether the seeds of a run are trained one at a time: its network is large, or it
    runs on a CPU, where stacking seeds gains nothing for batches of that many pixels."""
    batch = getattr(getattr(task, "optimiser", None), "batch", None)
    if kind != "cpu" or not isinstance(task, Run) or batch is None:
        return is_large(task)
    return is_large(task) or batch * math.prod(task.data.shape) >= FULL


SMALL = 2**18  # for tensors up to this size, one thread is faster (benchmarks/threads.py)


def fitting_threads(unit: Unit) -> int:
    """Return the number of threads: one for a trial and for a run with small tensors, else torch's
    number of threads."""
    small = unit.jobs[0].engine is None or largest_tensor(unit) <= SMALL
    return 1 if small else torch.get_num_threads()


def largest_tensor(unit: Unit) -> int:
    """Estimate the size of the largest tensor of a training step: the training points of all
    seeds, or the hidden units at these points."""
    run = unit.jobs[0].task
    assert isinstance(run, Run)
    shape, width = tuple(run.data.shape), getattr(run.network, "m", 1)
    points = math.prod(shape) if unit.jobs[0].engine_name in ("full", "sgd") else 1
    return int(unit.replicas * run.n * max(points, width * math.prod(shape[:-1])))


def _packed(group: Sequence[tuple[Job, tuple[int, ...]]], wide: int, device: str) -> list[Unit]:
    """Group stackable jobs into units of at most `wide` training runs (one per job and seed)."""
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
    """Split seeds into blocks of a fixed width. The last block is filled with copies of its last
    seed, whose rows are dropped. A row therefore does not depend on how many seeds are requested.

    >>> padded((1, 2, 3), 2)
    [(1, 2), (3, 3)]
    """
    blocks = [tuple(seeds[i : i + width]) for i in range(0, len(seeds), width)]
    return [block + (block[-1],) * (width - len(block)) for block in blocks]
