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


def run_block(
    run: Run, seeds: tuple[int, ...], device: str = "cpu", progress: Progress | None = None
) -> Recorded:
    """Trains one block of seeds and records it."""
    _, scene, iterator = states(run, seeds, device)
    times, last = set(run.times), run.steps
    rows: dict[str, dict[int, np.ndarray]] = {}
    memories: list[Any] = [None] * len(run.folds)
    for state in iterator:
        t = state.t
        memories = [f.see(m, state, scene) for f, m in zip(run.folds, memories, strict=True)]
        due = [p for p in run.probes if t in (p.times if isinstance(p, At) else times)]
        for probe in (*due, *(run.final if t == last else ())):
            for name, value in _values(probe_name(probe), probe(state, scene)).items():
                if not np.isfinite(value).all():
                    raise ArithmeticError(f"the run diverged: {name} is not finite at t = {t}")
                rows.setdefault(name, {})[t] = value
        if progress is not None:
            progress(t, last)
    for fold, memory in zip(run.folds, memories, strict=True):
        if memory is None:  # a run too short for it
            continue
        for name, value in fold.rows(memory).items():
            by_t = {last: value} if isinstance(value, Tensor) else value
            rows[name] = {t: v.detach().double().cpu().numpy() for t, v in by_t.items()}
    return {
        name: (np.array(list(by_t)), np.stack(list(by_t.values()), axis=1))
        for name, by_t in rows.items()
    }


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
    name, version, refused = engine_of(task)
    digest = key(task, name, version)
    stored = set() if fresh else store.seeds(digest)
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
        dtype = getattr(task, "dtype", "float64")
        store.write(
            Block(
                digest,
                experiment,
                configuration(task),
                name,
                refused,
                real,
                seconds / len(real),
                provenance(device, dtype, width),
                rows,
            )
        )
    return spent


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
    try:
        if options.device.startswith("cuda") and not torch.cuda.is_available():
            raise ValueError("--device cuda needs a CUDA device, and torch sees none; use cpu.")
        store = Store(options.store)
        ids = [options.id] if options.id.endswith(".py") else experiment_ids(options.id)
        for id in ids:
            experiment = load(id)
            seeds = parse_seeds(options.seeds) or tuple(range(experiment.seeds(options.preset)))
            for task in experiment.runs(options.preset):
                spent = execute(task, id, seeds, store, options.device)
                print(f"{id} {task.label or 'run'}: {spent:.1f} s", flush=True)
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
    return 0


if __name__ == "__main__":
    print(f"python {platform.python_version()}, torch {torch.__version__}", flush=True)
    raise SystemExit(main())
