"""One unit → blocks of rows: where data, network, attack, training and probes meet. Pure: it
writes nothing, and gives the same numbers wherever it runs."""

import pickle
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from adversarium.plans.evidence import Series
from adversarium.plans.run import Run, Trial
from adversarium.probes.measuring import measured
from adversarium.probes.scene import AnyScene, Scene
from adversarium.rng import stream
from adversarium.runs.blocks import TRIAL, Block, Kept, Outcome
from adversarium.runs.faults import RAISED, PartFault, part_fault, told
from adversarium.runs.jobs import Job, Unit
from adversarium.runs.machine import machine
from adversarium.runs.repeating import Unrepeated, known_files, must_repeat, same_numbers
from adversarium.sockets import Along, AnyFold, AnyProbe, Measure, Recorded, State
from adversarium.training import train
from adversarium.training.engines.sharing import SharingSetting

Progress = Callable[[int, int], None]  # (steps done, steps in all)
QUICK = 1.0  # seconds of a trial that is made twice


def compute(unit: Unit, experiment: str = "", progress: Progress | None = None) -> Outcome:
    """Runs a unit: the blocks it makes, and what failed. A run that fails does not stop those
    beside it."""
    with threads(unit.threads):
        if unit.jobs[0].engine is None:
            return _trial(unit, experiment)
        try:
            with own_streams(*unit.jobs), known_files(*unit.jobs):
                return _trained(unit, experiment, progress)
        except RAISED as fault:  # whatever a part raises
            if len(unit.jobs) == 1:
                return Outcome((), {unit.jobs[0].key: told(fault)})
        blocks: list[Block] = []  # one of them cannot even start: each alone, so it fails alone
        failures: dict[str, str] = {}
        for job, seeds in zip(unit.jobs, unit.seeds, strict=True):
            alone = compute(Unit((job,), (seeds,), unit.device, unit.threads), experiment)
            blocks += alone.blocks
            failures |= alone.failures
        return Outcome(tuple(blocks), failures)


def draw_ahead(unit: Unit) -> None:
    """Draws what a unit will ask for first, where its settings hold draws for each other. What goes
    wrong here goes wrong again where it is told."""
    with suppress(*RAISED):
        for job, seeds in zip(unit.jobs, unit.seeds, strict=True):
            setting = job.setting(seeds, unit.device) if job.engine is not None else None
            if isinstance(setting, SharingSetting):
                setting.ahead()


@contextmanager
def own_streams(*jobs: Job) -> Iterator[None]:
    """Refuses what draws from a common stream of random numbers: other calls would change it, and
    no seed repeats it. Python's own is looked at where somebody's code runs, and in the main thread
    alone: in a cluster's worker other threads draw from it."""
    main = threading.current_thread() is threading.main_thread()
    python = main and any(job.own is not None for job in jobs)
    before, unrepeated = _common_streams(python), None
    try:
        yield
    except Unrepeated as fault:  # a common stream, if that is why, is told below
        unrepeated = fault
    after = _common_streams(python)
    for whose in (name for name in before if before[name] != after[name]):
        raise PartFault(
            f"a part drew from {whose}'s common random numbers, which no seed repeats; draw from "
            "the rng that it is given (of an attack: a generator for every seed)"
        )
    if unrepeated is not None:
        raise unrepeated


def _common_streams(python: bool) -> dict[str, Any]:
    return {
        "torch": torch.get_rng_state().numpy().tobytes(),
        "Python": random.getstate() if python else None,
        "numpy": pickle.dumps(np.random.get_state()),  # noqa: NPY002 (it is looked at, not used)
    }


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads for torch while it lasts."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _trial(unit: Unit, experiment: str) -> Outcome:
    (job,), (seeds,) = unit.jobs, unit.seeds
    trial = job.task
    assert isinstance(trial, Trial)
    began = time.perf_counter()
    try:
        with own_streams(job), known_files(job):
            numbers = _exactly(trial, len(seeds)) if trial.exact else [
                trial.function(stream(s, "trial"), **trial.parameters) for s in seeds
            ]  # fmt: skip
            if job.own is not None:
                _again(trial, seeds[0], numbers[0], time.perf_counter() - began)
        if not all(isinstance(row, Mapping) and row for row in numbers):
            raise TypeError(f"a trial returns numbers by name, got {numbers[0]!r}")
        series = {name: _numbers([row[name] for row in numbers]) for name in numbers[0]}
    except RAISED as fault:  # whatever a trial raises
        what = f"trial {getattr(trial.function, '__name__', trial.function)}"
        return Outcome((), {job.key: told(part_fault(what, fault))})
    seconds = (time.perf_counter() - began) / len(seeds)
    kept = {TRIAL: Kept(None, series)}
    return Outcome((_block(job, experiment, seeds, seconds, unit, kept),), {})


def _exactly(trial: Trial, count: int) -> list[Mapping[str, Any]]:
    """The numbers of a trial that draws nothing, the same for every seed."""
    rng = stream(0, "trial")
    before = rng.get_state()
    numbers = trial.function(rng, **trial.parameters)
    if not torch.equal(before, rng.get_state()):
        raise ValueError("it is called exact, and drew a random number")
    return [numbers] * count


def _again(trial: Trial, seed: int, numbers: Mapping[str, Any], seconds: float) -> None:
    """Refuses somebody's own trial that gives other numbers when made again: a quick one always, a
    long one at every tenth seed."""
    if seconds < QUICK or seed % 10 == 0:
        other = trial.function(stream(0 if trial.exact else seed, "trial"), **trial.parameters)
        if isinstance(numbers, Mapping) and not same_numbers(numbers, other):
            raise Unrepeated(f"trial {getattr(trial.function, '__name__', trial.function)}")


def _numbers(given: list[float | Along]) -> Series:
    """A trial's number of every seed."""
    zero = np.zeros(1, dtype=int)
    if isinstance(given[0], Along):
        rows = [[list(along.values)] for along in given if isinstance(along, Along)]
        return Series(zero, np.array(rows, dtype=float), {given[0].axis: tuple(given[0].at)})
    plain = [np.asarray(v) for v in given if not isinstance(v, Along)]
    if any(one.size != 1 for one in plain):
        raise TypeError(
            f"a number of a trial has the shape {plain[0].shape}; several are given as "
            "Along(axis, at, values)"
        )
    return Series(zero, np.array([[float(one.item())] for one in plain]))


def _trained(unit: Unit, experiment: str, progress: Progress | None) -> Outcome:
    began = time.perf_counter()
    engine = unit.jobs[0].engine
    assert engine is not None
    settings = [
        job.setting(seeds, unit.device) for job, seeds in zip(unit.jobs, unit.seeds, strict=True)
    ]
    seen = [
        must_repeat(job, seeds[0], unit.device)
        for job, seeds in zip(unit.jobs, unit.seeds, strict=True)
    ]
    _ = [setting.train for setting in settings]  # drawn first: else one's fault is another's
    recorders = [
        Recorder(job, Scene(setting)) for job, setting in zip(unit.jobs, settings, strict=True)
    ]
    looked = None if any(r.folds for r in recorders) else {t for r in recorders for t in r.times}
    failures: dict[str, str] = {}
    steps = settings[0].rule.steps
    for t, whole in enumerate(train(engine, settings)):
        if looked is None or t in looked:
            for recorder, state in zip(recorders, engine.apart(whole), strict=True):
                if recorder.job.key not in failures:
                    try:
                        recorder.see(state)
                    except RAISED as fault:  # whatever one run raises, the others go on
                        failures[recorder.job.key] = told(fault)
        if len(failures) == len(recorders):
            break
        if progress is not None:
            progress(t, steps)
    seconds = (time.perf_counter() - began) / unit.replicas
    blocks = []
    for recorder, seeds, first in zip(recorders, unit.seeds, seen, strict=True):
        if recorder.job.key not in failures:
            real = tuple(dict.fromkeys(seeds))
            share = seconds * len(seeds) / len(real)
            kept = recorder.kept(len(real))
            known_by = {"first": {str(seeds[0]): first}} if first else {}
            blocks.append(_block(recorder.job, experiment, real, share, unit, kept, known_by))
    return Outcome(tuple(blocks), failures)


class Recorder:
    """What is written down of one run while its states go by."""

    def __init__(self, job: Job, scene: AnyScene) -> None:
        assert isinstance(job.task, Run)
        self.job, self.scene = job, scene
        self.probes: list[tuple[str, AnyProbe, tuple[int, ...]]] = []
        self.folds: list[AnyFold] = []
        self._fold_ids: list[str] = []
        for recording in job.task.recordings:
            id = job.id_of(recording.probe)
            if recording.times is None:
                self.folds.append(cast(AnyFold, recording.probe))
                self._fold_ids.append(id)
            elif recording.times:
                self.probes.append((id, cast(AnyProbe, recording.probe), recording.times))
        self.times = {t for _, _, times in self.probes for t in times}
        self._rows: dict[str, dict[str, dict[int, Recorded]]] = {}
        self._memories: list[Any] = [None] * len(self.folds)

    def see(self, state: State[Any]) -> None:
        """Folds see every state, probes those of their record times."""
        t, scene = state.t, self.scene
        asked: AnyProbe | AnyFold | None = None
        try:
            for i, asked in enumerate(self.folds):
                self._memories[i] = asked.see(self._memories[i], state, scene)
            for id, asked in [(id, probe) for id, probe, times in self.probes if t in times]:
                rows = rows_of(asked, asked(state, scene), len(scene.setting.seeds))
                by_name = self._rows.setdefault(id, {})
                for name in rows.keys() & self._taken(id, asked):
                    raise ValueError(f"another probe records {name} too; give one another name")
                for name, row in rows.items():
                    if not bool(torch.isfinite(row.values).all()):
                        raise PartFault(f"the run diverged: {name} is not finite at t = {t}")
                    by_name.setdefault(name, {})[t] = row
            if (t in self.times or t == scene.setting.rule.steps) and not _is_finite(state):
                raise PartFault(f"the run diverged: its weights are not finite at t = {t}")
        except PartFault:
            raise
        except RAISED as fault:
            raise part_fault(f"probe {_name(asked)}", fault) from fault

    def _taken(self, id: str, asked: AnyProbe) -> set[str]:
        """The names that other probes and folds record."""
        others = [probe for _, probe, _ in self.probes if probe is not asked]
        named = {m.name for other in (*others, *self.folds) for m in measured(other)}
        return named | {n for other, by in self._rows.items() if other != id for n in by}

    def kept(self, count: int) -> dict[str, Kept]:
        """Everything that was seen, of the first seeds (the others fill up the block)."""
        made: dict[str, Kept] = {}
        for id, probe, _ in self.probes:
            series = {
                name: _series(_measure(probe, name), list(by_t), list(by_t.values()), count)
                for name, by_t in self._rows.get(id, {}).items()
            }
            made[id] = Kept(self.job.asked[id], series)
        last = self.scene.setting.rule.steps
        for id, fold, memory in zip(self._fold_ids, self.folds, self._memories, strict=True):
            series = {}
            rows = {} if memory is None else fold.rows(memory)  # None: a run too short
            for name, row in rows_of(fold, rows, len(self.scene.setting.seeds)).items():
                whole = row if row.t is not None else Recorded(row.values[:, None], (last,), row.at)
                series[name] = _curve(_measure(fold, name), whole, count)
            made[id] = Kept(None, series)
        return made


def rows_of(probe: AnyProbe | AnyFold, value: object, seeds: int) -> dict[str, Recorded]:
    """What a probe or a fold returned, by name: one number a seed, or an array."""
    given = value if isinstance(value, Mapping) else {measured(probe)[0].name: value}
    rows: dict[str, Recorded] = {}
    for name, one in given.items():
        row = Recorded(one) if isinstance(one, Tensor) else one
        if not isinstance(row, Recorded):
            raise TypeError(f"{name} is a {type(row).__name__}, and a tensor is needed")
        if row.values.is_complex():
            raise TypeError(f"{name} has complex numbers, and real ones are needed")
        if not row.values.ndim or len(row.values) != seeds:
            told = f"{name} has the shape {tuple(row.values.shape)}"
            raise ValueError(f"{told}, and the first axis is {seeds}, seeds and filling")
        rows[name] = row
    return rows


def _is_finite(state: State[Any]) -> bool:
    """Whether every number that a state holds is finite: an error of NaN weights is no error."""
    held = (leaf for leaf in tree_leaves(vars(state)) if isinstance(leaf, Tensor))
    return all(bool(leaf.isfinite().all()) for leaf in held if leaf.is_floating_point())


def _name(probe: object) -> str:
    return measured(probe)[0].name if measured(probe) else type(probe).__name__


def _measure(probe: AnyProbe | AnyFold, name: str) -> Measure:
    known = {measure.name: measure for measure in measured(probe)}
    return known.get(name, Measure(name))


def _series(measure: Measure, t: list[int], rows: list[Recorded], count: int) -> Series:
    """Rows at several times, (seed, t, *axes)."""
    values = torch.stack([row.values for row in rows], dim=1)
    return _curve(measure, Recorded(values, tuple(t), rows[0].at), count)


def _curve(measure: Measure, row: Recorded, count: int) -> Series:
    """A curve with the names and coordinates of its axes."""
    values = row.values.detach().double().cpu().numpy()[:count]
    lengths = values.shape[2:]
    names = measure.axes or tuple(f"axis {i + 1}" for i in range(len(lengths)))
    if len(names) != len(lengths):
        raise ValueError(
            f"{measure.name} has {len(lengths)} axes beside seed and t; its probe names {names}."
        )
    axes = {
        name: tuple(float(v) for v in row.at.get(name, range(length)))
        for name, length in zip(names, lengths, strict=True)
    }
    return Series(np.array(row.t), values, axes)


def _block(
    job: Job,
    experiment: str,
    seeds: tuple[int, ...],
    seconds: float,
    unit: Unit,
    kept: dict[str, Kept],
    more: Mapping[str, Any] | None = None,
) -> Block:
    dtype = job.task.dtype if isinstance(job.task, Run) else "float64"
    origin = {
        **machine(unit.device),
        "dtype": dtype,
        "block": unit.replicas,
        "threads": unit.threads,
        "time": time.time(),
        **(more or {}),
    }
    return Block(
        job.key,
        experiment,
        job.dynamics,
        job.engine_name,
        job.refused,
        seeds,
        seconds,
        origin,
        kept,
    )
