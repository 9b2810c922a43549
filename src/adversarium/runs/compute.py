"""Compute the rows of one unit of jobs. This writes nothing, and the numbers depend only on the
unit."""

import pickle
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

import numpy as np
import torch

from adversarium.digest import Json
from adversarium.plans.evidence import Series
from adversarium.plans.run import Run, Trial
from adversarium.rng import stream
from adversarium.runs.blocks import TRIAL, Block, StoredSeries, UnitResult
from adversarium.runs.faults import RAISED, PartFault, describe, part_fault
from adversarium.runs.jobs import Job, Unit
from adversarium.runs.machine import machine
from adversarium.runs.training_stream import TrainingStream
from adversarium.sockets import Along
from adversarium.training.engines.sharing import SharingProblem

Progress = Callable[[int, int], None]  # (steps done, total steps)


def compute(unit: Unit, experiment: str = "", progress: Progress | None = None) -> UnitResult:
    """Run a unit and return its blocks and its failures. A run that fails does not stop the other
    runs of the unit."""
    with threads(unit.threads):
        if unit.jobs[0].engine is None:
            return _trial(unit, experiment)
        try:
            with no_global_random_numbers():
                return _trained(unit, experiment, progress)
        except RAISED as fault:  # data, networks, attacks and probes may raise anything
            if len(unit.jobs) == 1:
                return UnitResult((), {unit.jobs[0].key: describe(fault)})
        blocks: list[Block] = []  # some run cannot start: compute each separately
        failures: dict[str, str] = {}
        for job, seeds in zip(unit.jobs, unit.seeds, strict=True):
            alone = compute(Unit((job,), (seeds,), unit.device, unit.threads), experiment)
            blocks += alone.blocks
            failures |= alone.failures
        return UnitResult(tuple(blocks), failures)


def draw_ahead(unit: Unit) -> None:
    """Draw the first data of a unit ahead of time, if its problems share random draws. An error is
    ignored here, because `compute` raises and reports it again."""
    with suppress(*RAISED):
        for job, seeds in zip(unit.jobs, unit.seeds, strict=True):
            problem = job.problem(seeds, unit.device) if job.engine is not None else None
            if isinstance(problem, SharingProblem):
                problem.ahead()


@contextmanager
def no_global_random_numbers() -> Iterator[None]:
    """Raise if the enclosed code draws from a global random generator, which no seed reproduces.
    Python's own generator is checked in the main thread only, because other threads of a worker
    draw from it."""
    before = _global_states()
    yield
    after = _global_states()
    for library in (name for name in before if before[name] != after[name]):
        raise PartFault(
            f"a part drew from the global generator of {library}, which no seed reproduces; draw "
            "from the given rng instead (an attack gets one generator per seed)"
        )


def _global_states() -> dict[str, object]:
    main = threading.current_thread() is threading.main_thread()
    main = main and "beartype" not in sys.modules  # beartype draws to choose what it checks
    return {
        "torch": torch.get_rng_state().numpy().tobytes(),
        "Python": random.getstate() if main else None,
        "numpy": pickle.dumps(np.random.get_state()),  # noqa: NPY002 (it is read, not used)
    }


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Set torch's number of threads within the context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _trial(unit: Unit, experiment: str) -> UnitResult:
    (job,), (seeds,) = unit.jobs, unit.seeds
    trial = job.task
    assert isinstance(trial, Trial)
    began = time.perf_counter()
    try:
        with no_global_random_numbers():
            numbers = _exactly(trial, len(seeds)) if trial.exact else [
                trial.function(stream(s, "trial"), **trial.parameters) for s in seeds
            ]  # fmt: skip
        if not all(isinstance(row, Mapping) and row for row in numbers):
            raise TypeError(
                f"a trial must return a dictionary of named numbers, got {numbers[0]!r}"
            )
        series = {name: _numbers([row[name] for row in numbers]) for name in numbers[0]}
    except RAISED as fault:  # a trial may raise anything
        what = f"trial {getattr(trial.function, '__name__', trial.function)}"
        return UnitResult((), {job.key: describe(part_fault(what, fault))})
    seconds = (time.perf_counter() - began) / len(seeds)
    kept = {TRIAL: StoredSeries(None, series)}
    return UnitResult((_block(job, experiment, seeds, seconds, unit, kept),), {})


def _exactly(trial: Trial, count: int) -> list[Json]:
    """Return the numbers of a trial that draws no random numbers, repeated for every seed."""
    rng = stream(0, "trial")
    before = rng.get_state()
    numbers = trial.function(rng, **trial.parameters)
    if not torch.equal(before, rng.get_state()):
        raise ValueError("the trial is declared exact but drew a random number")
    return [numbers] * count


def _numbers(given: list[float | Along]) -> Series:
    """Return the series of one quantity of a trial, given its value for every seed."""
    zero = np.zeros(1, dtype=int)
    if isinstance(given[0], Along):
        rows = [[list(along.values)] for along in given if isinstance(along, Along)]
        return Series(zero, np.array(rows, dtype=float), {given[0].axis: tuple(given[0].at)})
    plain = [np.asarray(v) for v in given if not isinstance(v, Along)]
    if any(one.size != 1 for one in plain):
        raise TypeError(
            f"a trial must return single numbers, got an array of shape {plain[0].shape}; return "
            "several as Along(axis, at, values)"
        )
    return Series(zero, np.array([[float(one.item())] for one in plain]))


def _trained(unit: Unit, experiment: str, progress: Progress | None) -> UnitResult:
    training = TrainingStream(unit)
    for t, _ in training:
        if progress is not None:
            progress(t, training.steps)
    blocks = [
        _block(job, experiment, seeds, seconds, unit, kept)
        for job, seeds, seconds, kept in training.kept()
    ]
    return UnitResult(tuple(blocks), training.failures)


def _block(
    job: Job,
    experiment: str,
    seeds: tuple[int, ...],
    seconds: float,
    unit: Unit,
    kept: dict[str, StoredSeries],
) -> Block:
    dtype = job.task.dtype if isinstance(job.task, Run) else "float64"
    origin = {
        **machine(unit.device),
        "dtype": dtype,
        "block": unit.replicas,
        "threads": unit.threads,
        "time": time.time(),
    }
    return Block(
        job.key,
        experiment,
        job.task.dynamics,
        job.engine_name,
        job.refused,
        seeds,
        seconds,
        origin,
        kept,
    )
