"""Train a unit as a stream of (t, rows), with checkpoints."""

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from adversarium.digest import digest
from adversarium.measure.scene import Scene
from adversarium.plans.run import Run
from adversarium.runs.blocks import StoredSeries
from adversarium.runs.faults import RAISED, describe
from adversarium.runs.jobs import Job, Unit
from adversarium.runs.recorder import Recorder
from adversarium.sockets import Recorded, State
from adversarium.training import checkpoints, train
from adversarium.training.problem import AnyProblem

Rows = Mapping[str, Mapping[str, Recorded]]  # by the key of a job and the name of a quantity


class TrainingStream:
    """Train the runs of a unit side by side. Iterating yields (t, rows) after every step, with the
    quantities recorded at t by job and name. A caller can stop early by ending the iteration.

    A run that raises or diverges is recorded in `failures` and left out; the others continue. If
    the unit has a folder for checkpoints, the stream continues from the last one.
    """

    def __init__(self, unit: Unit) -> None:
        engine = unit.jobs[0].engine
        assert engine is not None
        self.unit, self.engine = unit, engine
        self.problems: list[AnyProblem] = [
            job.problem(seeds, unit.device)
            for job, seeds in zip(unit.jobs, unit.seeds, strict=True)
        ]
        self.steps = self.problems[0].recipe.steps
        self.failures: dict[str, str] = {}
        self.seconds = 0.0  # per job and seed

    def __iter__(self) -> Iterator[tuple[int, Rows]]:
        began = time.perf_counter()
        for problem in self.problems:  # draw the data first, so an error can be traced to its run
            problem.prepare()
        self._recorders = [
            Recorder(job, Scene(problem))
            for job, problem in zip(self.unit.jobs, self.problems, strict=True)
        ]
        recorders = self._recorders
        all_times = any(recorder.folds for recorder in recorders)
        times = {t for recorder in recorders for t in recorder.times}
        state, first = self._resumed()
        saving = Checkpoints(self.unit)
        for t, joined in enumerate(train(self.engine, self.problems, state, first), first):
            resumed = state is not None and t == first
            # a checkpoint precedes the measurements, which may draw the attack of its step
            if saving.due(t, self.steps) and not resumed:
                saving.write(t, joined, [r.memory for r in recorders], self._about(), self.failures)
            rows = self._seen(joined) if all_times or t in times else {}
            if len(self.failures) == len(recorders):
                break
            self.seconds = (time.perf_counter() - began) / self.unit.replicas
            yield t, rows

    def _seen(self, joined: object) -> Rows:
        rows: dict[str, Mapping[str, Recorded]] = {}
        for recorder, state in zip(self._recorders, self.engine.split(joined), strict=True):
            if recorder.job.key not in self.failures:
                try:
                    rows[recorder.job.key] = recorder.see(state)
                except RAISED as fault:  # the other runs continue
                    self.failures[recorder.job.key] = describe(fault)
        return rows

    def _about(self) -> dict[str, object]:
        """Return the fields in which a checkpoint must agree with a unit that continues it."""
        return {
            "format": checkpoints.FORMAT,
            "jobs": [job.key for job in self.unit.jobs],
            "seeds": [list(seeds) for seeds in self.unit.seeds],
            "probes": [sorted(job.asked) for job in self.unit.jobs],
            "device": self.unit.device.split(":")[0],
            "threads": self.unit.threads,
        }

    def _resumed(self) -> tuple[object | None, int]:
        """Return the state of the last checkpoint and its time; None and 0 if there is none."""
        found = Checkpoints(self.unit).latest(self._about())
        if found is None:
            return None, 0
        start = self.engine.init(self.problems)
        state, memory = checkpoints.read(found, start, self.unit.device)
        for recorder, saved in zip(self._recorders, memory["recorders"], strict=True):
            recorder.memory = saved
        self.failures = dict(memory["failures"])
        return state, int(found.stem)

    def kept(self) -> Iterator[tuple[Job, tuple[int, ...], float, dict[str, StoredSeries]]]:
        """Yield every run that did not fail: its job, its seeds, the seconds per seed, its rows."""
        for recorder, seeds in zip(self._recorders, self.unit.seeds, strict=True):
            if recorder.job.key not in self.failures:
                distinct = tuple(dict.fromkeys(seeds))  # a block may repeat its last seed
                seconds = self.seconds * len(seeds) / len(distinct)
                yield recorder.job, distinct, seconds, recorder.kept(len(distinct))


class Checkpoints:
    """The checkpoints of a unit: files NUMBER.npz in a separate folder."""

    def __init__(self, unit: Unit) -> None:
        tasks = [job.task for job in unit.jobs]
        strides = [t.checkpoint for t in tasks if isinstance(t, Run) and t.checkpoint]
        self.stride = min(strides, default=0) if unit.checkpoints else 0
        self.folder = Path(unit.checkpoints) / digest(
            [[job.key for job in unit.jobs], unit.seeds, unit.device]
        )

    def due(self, t: int, steps: int) -> bool:
        """Return whether a checkpoint of W⁽ᵗ⁾ is written."""
        return bool(self.stride) and t > 0 and (t % self.stride == 0 or t == steps)

    def write(
        self,
        t: int,
        state: object,
        recorders: list[dict[str, object]],
        about: Mapping[str, object],
        failures: Mapping[str, str],
    ) -> None:
        """Write the checkpoint of W⁽ᵗ⁾, before anything is measured there."""
        memory = {"recorders": recorders, "failures": dict(failures)}
        checkpoints.write(self.folder / f"{t:010d}.npz", state, memory, about)

    def latest(self, about: Mapping[str, object]) -> Path | None:
        """Return the last readable checkpoint that agrees with a run; None if there is none."""
        for path in sorted(self.folder.glob("*.npz"), reverse=True) if self.stride else ():
            try:
                if checkpoints.read_about(path) == about:
                    return path
            except checkpoints.UNREADABLE:
                continue
        return None


def forget_checkpoints(units: Iterable[Unit]) -> None:
    """Delete the checkpoints of units, so their training starts from the beginning."""
    for unit in units:
        for path in Checkpoints(unit).folder.glob("*.npz") if unit.checkpoints else ():
            path.unlink()


def state_at(job: Job, seed: int, t: int, device: str, folder: str = "") -> State[object]:
    """Return the state of one seed after step t. Training continues from the last checkpoint up to
    t, or starts from the beginning if there is none."""
    assert job.engine is not None
    engine = job.engine
    start, path, seeds = 0, None, (seed,)
    for candidate in Path(folder).glob("*/*.npz") if folder else ():
        try:
            about = checkpoints.read_about(candidate)
        except checkpoints.UNREADABLE:
            continue
        ours = about.get("format") == checkpoints.FORMAT and about["jobs"] == [job.key]
        known = ours and seed in about["seeds"][0]
        if known and start < int(candidate.stem) <= t:
            start, path, seeds = int(candidate.stem), candidate, tuple(about["seeds"][0])
    problem = job.problem(seeds, device)
    state = engine.init((problem,))
    if path is not None:
        state, _ = checkpoints.read(path, state, device)
    for _ in range(t - start):
        state = engine.step(state)
    (alone,) = engine.split(state)
    return alone if len(seeds) == 1 else alone.full.replica(seeds.index(seed))
