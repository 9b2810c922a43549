"""Implement `--dry-run`: show what would run, without running it.

For each run, it shows the configuration, the engine and why other engines do not apply, the time
and the memory, and which of the paper's hypotheses the run satisfies.
"""

import math
import os
from collections.abc import Iterable, Sequence

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map

from adversarium.commands.options import Answer
from adversarium.digest import Json
from adversarium.plans.experiment import Experiment
from adversarium.plans.papers import experiments
from adversarium.plans.run import Run, Task
from adversarium.plans.wording import counted
from adversarium.report.tables import json_text
from adversarium.report.terminal import configuration_lines
from adversarium.rng import stream
from adversarium.runs.audit import AuditOptions
from adversarium.runs.axes import cells
from adversarium.runs.jobs import Job, lacks, resolve
from adversarium.runs.planning import Plan
from adversarium.runs.reader import Reader
from adversarium.runs.scope import assumptions
from adversarium.runs.store import Store
from adversarium.runs.sweep import Grid, grid_jobs
from adversarium.training.problem import misfit

_SOON = 2**26  # data and weights up to this size in bytes are quick to create


def dry(plans: Sequence[Plan], options: AuditOptions, store: Store, json: bool) -> int | Answer:
    """Show what would run; do not run it."""
    lines = [(asked, i, _line(asked, i, options, store)) for asked in plans
             for i in range(len(asked.jobs))]  # fmt: skip
    if json:
        return Answer(json_text({"runs": [line for _, _, line in lines]}))
    for asked, i, run in lines:
        known = f"about {run['seconds']:.0f} s" if run["seconds"] is not None else "time unknown"
        lacking = f"{run['missing']} of {run['seeds']} seeds to run"
        if not run["missing"]:
            lacking = f"nothing to run (the rows of {run['seeds']} seeds are stored or shipped)"
        print(
            f"{run['id']} {run['label']}: {lacking}, "
            f"{run['steps']} steps, engine {run['engine']}, {known}, "
            f"{run['bytes'] / 2**20:.0f} MiB of data and weights per block"
            f"{_too_large(run['bytes'], options.device)}"
        )
        for text in configuration_lines(asked.jobs[i].task, run["changed"]):
            print(f"  {text}")
        if run["lacking"]:
            print(f"  cannot run yet: {run['lacking']}")
        for name, why in run["refused"].items():
            print(f"  engine {name} does not apply: {why}")
        for gate in run["assumptions"]:
            print(f"  {gate['told']}")
    for asked in plans:
        if asked.mark:
            print(f"{asked.experiment.id}, changed: {asked.mark}")
    for note in dict.fromkeys(note for asked in plans for note in asked.notes):
        print(note)
    for id in dict.fromkeys(asked.experiment.id for asked in plans):
        if id in experiments():
            print(f"{id}, measured cost: {experiments()[id].cost}")
    return 0


def _too_large(size: int, device: str) -> str:
    """Return a warning if this machine does not have that much memory."""
    has = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if device == "cpu" else math.inf
    return f", more than this machine's {has / 2**20:.0f} MiB" if size > has else ""


def _line(asked: Plan, i: int, options: AuditOptions, store: Store) -> Json:
    experiment, job = asked.experiment, asked.jobs[i]
    seeds, task, changed = options.chosen(experiment), job.task, asked.changed(i)
    size = data_bytes(job, options.device) if isinstance(task, Run) else 0
    lacking, seconds = estimate(experiment, job, seeds, store, options.fresh)
    if seconds is None and (like := asked.published[i]) is not None:
        pace = _pace([resolve(like)], store)
        seconds = None if pace is None else pace * _work(job) * lacking
    return {
        "id": experiment.id,
        "label": task.label,
        "config": task.dynamics,
        "changed": changed,
        "engine": job.engine_name,
        "refused": job.refused,
        "steps": task.steps if isinstance(task, Run) else 0,
        "seeds": len(seeds),
        "missing": lacking,
        "lacking": (lacks(job) or _misfit(task, changed, size)) if lacking else "",
        "seconds": seconds,
        "bytes": size,
        "assumptions": assumptions(experiment, task),
    }


def estimate(
    experiment: Experiment, job: Job, seeds: Sequence[int], store: Store, fresh: bool = False
) -> tuple[int, float | None]:
    """Return how many seeds of a job are missing (all if `fresh`), and the estimated seconds to
    train and measure them, extrapolated from the stored seeds; None if no seed is stored."""
    pieces = Reader(store, experiment.id).lacking(job, seeds)
    lacking = len(seeds) if fresh else len({seed for _, missing in pieces for seed in missing})
    done = sorted(store.seeds(job.key))
    if not lacking:
        return 0, 0.0
    spent = store.provenance(job.key, done)["seconds"] / len(done) if done else None
    return lacking, None if spent is None else spent * lacking


def dry_sweep(
    experiment: Experiment, grid: Grid, options: AuditOptions, store: Store, json: bool
) -> int | Answer:
    """Show how many cells and runs a sweep has, how many seeds are missing, and how long these
    would take, estimated from the stored runs of the sweep; do not run them."""
    seeds = options.chosen(experiment)
    points = cells(grid.axes, grid.zipped)
    jobs = {job.key: job for made, _ in grid_jobs(experiment, grid, options.preset, points)
            for job in made}  # fmt: skip
    estimates = [estimate(experiment, job, seeds, store, options.fresh) for job in jobs.values()]
    lacking = sum(count for count, _ in estimates)
    pace = _pace(list(jobs.values()), store)
    work = sum(_work(job) * count for job, (count, _) in zip(jobs.values(), estimates, strict=True))
    seconds = 0.0 if not lacking else None if pace is None else pace * work
    cost = experiments()[experiment.id].cost if experiment.id in experiments() else ""
    if json:
        numbers = dict(cells=len(points), runs=len(jobs), missing=lacking, seconds=seconds)
        whole = {"id": experiment.id, "claim": grid.watched, **numbers, "measured": cost}
        return Answer(json_text(whole))
    known = "time unknown until a first cell has run" if seconds is None else (
        f"about {seconds:.0f} s including measurements")  # fmt: skip
    more = f", and up to {grid.rounds} rounds of new cells" if grid.rounds else ""
    print(
        f"{experiment.id}, judged by {grid.watched}: {counted(len(points), 'cell')}, "
        f"{counted(len(jobs), 'run')}, "
        f"{lacking} of {len(jobs) * len(seeds)} seeds to run, {known}{more}"
    )
    if cost:
        print(f"{experiment.id}, measured cost: {cost}")
    return 0


def _work(job: Job) -> int:
    return max(1, job.task.steps) if isinstance(job.task, Run) else 1


def _pace(jobs: Sequence[Job], store: Store) -> float | None:
    """Return the average seconds per step and seed, including measurements, of those jobs that are
    stored; None if none is stored."""
    spent, work = 0.0, 0
    for job in jobs:
        done = sorted(store.seeds(job.key))
        if done:
            spent += store.provenance(job.key, done)["seconds"]
            work += _work(job) * len(done)
    return spent / work if work else None


def _misfit(task: Task, changed: Iterable[str], size: int) -> str:
    """Explain why the network of a run does not fit its data; empty if it fits. This is tested only
    if one of them was changed and both are small; else the error appears when the run starts."""
    touched = {path.partition(".")[0] for path in changed} & {"network", "data"}
    if not isinstance(task, Run) or not touched or size > _SOON:
        return ""
    one = task.network.init(stream(0, "init"), task.data.shape, task.data.k)
    W = tree_map(lambda w: w[None].float() if w.is_floating_point() else w[None], one)
    return misfit(task.network, task.data, W, torch.zeros(1, 1, *task.data.shape))


def data_bytes(job: Job, device: str = "cpu") -> int:
    """Return the memory of one block's training set and weights, computed without allocating it;
    the attack and the gradient need a few times as much."""
    run, engine = job.task, job.engine
    assert isinstance(run, Run) and engine is not None
    shape = job.problem((), device).data.shape  # in the engine's coordinates
    try:
        with FakeTensorMode():
            one = run.network.init(stream(0, "init"), shape, run.data.k)
    except DataDependentOutputException:  # init seeds torch's generator: create real weights
        one = run.network.init(stream(0, "init"), shape, run.data.k)
    weights = sum(w.numel() for w in tree_leaves(one))
    size = 8 if run.dtype == "float64" else 4
    width = engine.batching.block_size["cuda" if device.startswith("cuda") else "cpu"]
    return int(width * size * (run.n * math.prod(shape) + weights))
