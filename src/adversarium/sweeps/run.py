"""One run → rows: where data, network, attack, training and probes meet.

`python -m adversarium.sweeps.run ID --preset P --seeds S --device D --store FILE --ship FOLDER`
needs only the core packages (the standard library, numpy, torch; scipy for some checks): a bare GPU
machine.
"""

import math
import platform
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from adversarium.experiments.spec import Run, Trial, configuration, key
from adversarium.probes.folds import At, probe_name
from adversarium.probes.scene import Scene
from adversarium.rng import stream
from adversarium.sweeps.store import Block, Store, write_rows
from adversarium.training import GradientDescent, Risk, Rule, Setting, choose
from adversarium.training.engines import Engine
from adversarium.training.signal_noise import signal_noise_cells

Progress = Callable[[int, int], None]  # (steps done, steps in all)
Recorded = dict[str, tuple[np.ndarray, np.ndarray]]


def rule_of(run: Run) -> Rule:
    """The training rule of a run."""
    return Rule(
        n=run.n,
        steps=run.steps,
        eta=run.eta,
        risk=run.risk or Risk(),
        optimiser=run.optimiser or GradientDescent(),
    )


def engine_of(task: Run | Trial) -> tuple[str, int, dict[str, str]]:
    """The name and version of the engine that runs a task, and why those before it refused."""
    if isinstance(task, Trial):
        return "trial", task.version, {}
    engine, refused = choose(task.data, task.network, task.attack, rule_of(task), task.engine)
    return engine.name, engine.version, refused


def key_of(task: Run | Trial) -> str:
    """The key under which a task's rows are stored."""
    name, version, _ = engine_of(task)
    return key(task, name, version)


def padded(seeds: Sequence[int], width: int) -> list[tuple[int, ...]]:
    """Blocks of a fixed width; the last is filled up with its own last seed, whose rows are
    dropped. A row then does not depend on how many seeds were asked for."""
    blocks = [tuple(seeds[i : i + width]) for i in range(0, len(seeds), width)]
    return [block + (block[-1],) * (width - len(block)) for block in blocks]


def states(run: Run, seeds: tuple[int, ...], device: str = "cpu") -> tuple[Engine, Scene, Any]:
    """The engine of a run, the scene, and the iterator of its states."""
    rule = rule_of(run)
    engine, _ = choose(run.data, run.network, run.attack, rule, run.engine)
    dtype = torch.float64 if run.dtype == "float64" else torch.float32
    setting = Setting(run.data, run.network, run.attack, rule, seeds, device, dtype)
    return engine, Scene(setting), engine.states(setting)


def _values(name: str, value: Tensor) -> dict[str, np.ndarray]:
    array = value.detach().double().cpu().numpy()
    if array.ndim == 1:
        return {name: array}
    return {f"{name}[{c}]": array[:, c] for c in range(array.shape[1])}


class Recorder:
    """What is written down of one run while its states go by."""

    def __init__(self, run: Run, scene: Scene) -> None:
        self.run, self.scene = run, scene
        self.times = set(run.times)
        self._rows: dict[str, dict[int, np.ndarray]] = {}
        self._memories: list[Any] = [None] * len(run.folds)

    def see(self, state: Any) -> None:
        """Folds see every state, probes those of the record times."""
        run, scene, t = self.run, self.scene, state.t
        self._memories = [
            fold.see(memory, state, scene)
            for fold, memory in zip(run.folds, self._memories, strict=True)
        ]
        due = [p for p in run.probes if t in (p.times if isinstance(p, At) else self.times)]
        for probe in (*due, *(run.final if t == run.steps else ())):
            for name, value in _values(probe_name(probe), probe(state, scene)).items():
                if not np.isfinite(value).all():
                    raise ArithmeticError(f"the run diverged: {name} is not finite at t = {t}")
                self._rows.setdefault(name, {})[t] = value

    def rows(self) -> Recorded:
        """Times and values (seed, t) of everything that was seen."""
        rows = dict(self._rows)
        for fold, memory in zip(self.run.folds, self._memories, strict=True):
            if memory is None:  # a run too short for it
                continue
            for name, value in fold.rows(memory).items():
                by_t = {self.run.steps: value} if isinstance(value, Tensor) else value
                rows[name] = {t: v.detach().double().cpu().numpy() for t, v in by_t.items()}
        return {
            name: (np.array(list(by_t)), np.stack(list(by_t.values()), axis=1))
            for name, by_t in rows.items()
        }


def run_block(
    run: Run, seeds: tuple[int, ...], device: str = "cpu", progress: Progress | None = None
) -> Recorded:
    """Trains one block of seeds and records it."""
    _, scene, iterator = states(run, seeds, device)
    recorder = Recorder(run, scene)
    for state in iterator:
        recorder.see(state)
        if progress is not None:
            progress(state.t, run.steps)
    return recorder.rows()


def run_trial(trial: Trial, seeds: tuple[int, ...]) -> Recorded:
    """Calls a trial once a seed."""
    found = [trial.function(stream(s, "trial"), **trial.parameters) for s in seeds]
    zero = np.zeros(1, dtype=int)
    return {n: (zero, np.array([[float(f[n])] for f in found])) for n in found[0]}


def provenance(device: str, dtype: str, width: int) -> dict[str, Any]:
    """Where and with what a block was computed."""
    from adversarium.sweeps.machine import machine

    return {**machine(device), "dtype": dtype, "block": width, "time": time.time()}


def execute(
    task: Run | Trial,
    experiment: str,
    seeds: Sequence[int],
    store: Store,
    device: str = "cpu",
    progress: Progress | None = None,
    fresh: bool = False,
) -> float:
    """Runs the seeds that the store lacks (all of them when `fresh`), block by block; returns the
    seconds spent."""
    stored = set() if fresh else store.seeds(key_of(task))
    missing = [s for s in seeds if s not in stored]
    width = 1 if isinstance(task, Trial) else _width(task, device)
    spent = 0.0
    blocks = padded(missing, width)
    for i, block in enumerate(blocks):
        real = tuple(dict.fromkeys(block))
        began = time.perf_counter()
        if isinstance(task, Trial):
            rows = run_trial(task, real)
        else:
            share = _share(progress, i, len(blocks)) if progress else None
            rows = run_block(task, block, device, share)
        seconds = time.perf_counter() - began
        spent += seconds
        rows = {p: (t, v[: len(real)]) for p, (t, v) in rows.items()}
        store.write(_block(task, experiment, real, seconds / len(real), device, width, rows))
    return spent


def _block(
    task: Run | Trial,
    experiment: str,
    seeds: tuple[int, ...],
    seconds: float,
    device: str,
    width: int,
    rows: Recorded,
) -> Block:
    """Rows as the store keeps them; `seconds` a seed, `width` replicas in the block."""
    name, version, refused = engine_of(task)
    origin = provenance(device, getattr(task, "dtype", "float64"), width)
    digest, whole = key(task, name, version), configuration(task)
    return Block(digest, experiment, whole, name, refused, seeds, seconds, origin, rows)


def cell_shape(task: Run | Trial) -> tuple[Any, ...] | None:
    """What must agree for runs to share one replica axis; None for a run that goes alone (another
    engine, or folds, which want every step of every run)."""
    if isinstance(task, Trial) or task.folds or engine_of(task)[0] != "signal_noise":
        return None
    return task.n, task.data.P, task.network.m, task.steps, task.dtype


def execute_cells(
    tasks: Sequence[Run],
    experiment: str,
    seeds: Sequence[int],
    store: Store,
    device: str = "cpu",
    progress: Progress | None = None,
) -> dict[str, str]:
    """Runs of one shape side by side on the replica axis; the reasons of those that failed, by
    label. A run that diverges is dropped, the others go on."""
    most = max(1, (4096 if device.startswith("cuda") else 256) // len(seeds))
    chunks = [tasks[i : i + most] for i in range(0, len(tasks), most)]
    failed: dict[str, str] = {}
    for i, chunk in enumerate(chunks):
        share = _share(progress, i, len(chunks)) if progress else None
        failed |= _chunk(chunk, experiment, tuple(seeds), store, device, share)
    return failed


def _chunk(
    tasks: Sequence[Run],
    experiment: str,
    seeds: tuple[int, ...],
    store: Store,
    device: str,
    progress: Progress | None,
) -> dict[str, str]:
    began, failed = time.perf_counter(), {}
    scenes = [states(task, seeds, device)[1] for task in tasks]
    recorders = {t.label: Recorder(t, scene) for t, scene in zip(tasks, scenes, strict=True)}
    times = {t for r in recorders.values() for t in r.times}
    times |= {t for task in tasks for p in task.probes if isinstance(p, At) for t in p.times}
    for parts in signal_noise_cells([scene.setting for scene in scenes], sorted(times)):
        for task, state in zip(tasks, parts, strict=True):
            if task.label not in failed:
                try:
                    recorders[task.label].see(state)
                except Exception as fault:  # whatever one run raises, the others go on
                    failed[task.label] = f"{type(fault).__name__}: {fault}"
        if progress is not None:
            progress(parts[0].t, tasks[0].steps)
    seconds = (time.perf_counter() - began) / (len(tasks) * len(seeds))
    for task in tasks:
        if task.label not in failed:
            rows, width = recorders[task.label].rows(), len(tasks) * len(seeds)
            store.write(_block(task, experiment, seeds, seconds, device, width, rows))
    return failed


def together(tasks: Sequence[Run | Trial]) -> list[list[Run | Trial]]:
    """The tasks in groups that run at once: those of one cell shape side by side, others alone."""
    groups: dict[Any, list[Run | Trial]] = {}
    for task in tasks:
        groups.setdefault(cell_shape(task) or ("alone", id(task)), []).append(task)
    return list(groups.values())


def run_tasks(
    tasks: Sequence[Run | Trial],
    experiment: str,
    seeds: Sequence[int],
    store: Store,
    device: str = "cpu",
    progress: Progress | None = None,
    fresh: bool = False,
) -> dict[str, str]:
    """One group of `together`: runs what the store lacks; the reasons of what failed, by label."""
    if len(tasks) == 1:
        try:
            execute(tasks[0], experiment, seeds, store, device, progress, fresh)
        except Exception as fault:  # whatever a part raises, the rest goes on
            return {tasks[0].label: f"{type(fault).__name__}: {fault}"}
        return {}
    whole = set(seeds)
    missing = [t for t in tasks if fresh or not whole <= set(store.seeds(key_of(t)))]
    cells = [t for t in missing if isinstance(t, Run)]
    if not cells:
        return {}
    try:
        return execute_cells(cells, experiment, seeds, store, device, progress)
    except Exception:  # one of them cannot even start: each alone, so that it fails alone
        failed: dict[str, str] = {}
        for cell in cells:
            alone = run_tasks([cell], experiment, seeds, store, device, progress, fresh)
            failed |= alone
        return failed


def _width(run: Run, device: str) -> int:
    engine, _ = choose(run.data, run.network, run.attack, rule_of(run), run.engine)
    return engine.width["cuda" if device.startswith("cuda") else "cpu"]


def data_bytes(run: Run, device: str = "cpu") -> int:
    """The memory of one block's training set and weights (the attack and the gradient need a few
    times as much)."""
    one = run.network.init(stream(0, "init"), run.data.shape, run.data.k)
    weights = sum(w.numel() for w in tree_leaves(one))
    size = 8 if run.dtype == "float64" else 4
    return _width(run, device) * size * (run.n * math.prod(run.data.shape) + weights)


def _share(progress: Progress, block: int, blocks: int) -> Progress:
    """Progress of one block as progress of all."""
    return lambda done, whole: progress(block * whole + done, blocks * whole)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command of a bare machine: runs an experiment's plan into a store."""
    import argparse

    from adversarium.experiments.catalogue import experiment_ids, load
    from adversarium.sweeps.grid import parse_seeds

    parser = argparse.ArgumentParser(prog="python -m adversarium.sweeps.run")
    parser.add_argument("id")
    parser.add_argument("--preset", default="quick", choices=("quick", "paper"))
    parser.add_argument("--seeds", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--store", default="adversarium.sqlite")
    parser.add_argument("--ship", default="", help="a folder for row files, one an experiment")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    status = 0
    try:
        if options.device.startswith("cuda") and not torch.cuda.is_available():
            raise ValueError("--device cuda needs a CUDA device, and torch sees none; use cpu.")
        store = Store(options.store)
        ids = [options.id] if options.id.endswith(".py") else experiment_ids(options.id)
        for id in ids:
            experiment = load(id)
            seeds = parse_seeds(options.seeds) or tuple(range(experiment.seeds(options.preset)))
            for tasks in together(experiment.runs(options.preset)):
                began = time.perf_counter()
                bad = run_tasks(tasks, id, seeds, store, options.device)
                for task in tasks:
                    if task.label in bad:
                        store.fail(key_of(task), id, task.label, seeds, bad[task.label])
                        print(f"{id} {task.label}: {bad[task.label]}", file=sys.stderr)
                        status = 1
                what = tasks[0].label or "run"
                what += f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
                print(f"{id} {what}: {time.perf_counter() - began:.1f} s", flush=True)
            if options.ship:
                own = (block for block in store.dump() if block.experiment == id)
                Path(options.ship).mkdir(parents=True, exist_ok=True)
                write_rows(Path(options.ship) / f"{id}.jsonl.gz", own)
    except ValueError as fault:
        print(f"adversarium: {fault}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; every finished run is kept. Call again to go on.", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    print(f"python {platform.python_version()}, torch {torch.__version__}", flush=True)
    raise SystemExit(main())
