"""`--dry-run`: what would run, on which engine and why not on the others, how long, how large, and
which of the paper's hypotheses each run meets."""

import math
from collections.abc import Sequence
from typing import Any

from torch.utils._pytree import tree_leaves

from adversarium.plans.catalogue import experiments
from adversarium.plans.experiment import Experiment
from adversarium.plans.run import Run
from adversarium.report.tables import json_text
from adversarium.rng import stream
from adversarium.runs.audit import Ask
from adversarium.runs.jobs import Job
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store


def dry(
    plans: Sequence[tuple[Experiment, list[Job], tuple[str, ...]]],
    ask: Ask,
    store: Store,
    json: bool,
) -> int:
    """Tells what would run; runs nothing."""
    lines = [_line(experiment, job, ask, store) for experiment, jobs, _ in plans for job in jobs]
    if json:
        print(json_text({"runs": lines}))
        return 0
    for run in lines:
        known = f"about {run['seconds']:.0f} s" if run["seconds"] is not None else "time unknown"
        print(
            f"{run['id']} {run['label']}: {run['missing']} of {run['seeds']} seeds to run, "
            f"{run['steps']} steps, engine {run['engine']}, {known}, "
            f"{run['bytes'] / 2**20:.0f} MiB of data and weights in a block"
        )
        for name, why in run["refused"].items():
            print(f"  not {name}: {why}")
        for gate in run["assumptions"]:
            print(f"  {gate['told']}")
    known_costs = {e.id: experiments()[e.id].cost for e, _, _ in plans if e.id in experiments()}
    for id, cost in known_costs.items():
        print(f"{id}, measured: {cost}")
    return 0


def _line(experiment: Experiment, job: Job, ask: Ask, store: Store) -> dict[str, Any]:
    seeds, task = ask.chosen(experiment), job.task
    lacking = {
        s for _, missing in Reader(store, experiment.id).lacking(job, seeds) for s in missing
    }
    done = sorted(store.seeds(job.key))
    spent = store.provenance(job.key, done)["seconds"] / len(done) if done else None
    gates = experiment.gates(task) if experiment.gates and isinstance(task, Run) else ()
    return {
        "id": experiment.id,
        "label": task.label,
        "engine": job.engine_name,
        "refused": job.refused,
        "steps": task.steps if isinstance(task, Run) else 0,
        "seeds": len(seeds),
        "missing": len(lacking),
        "seconds": None if spent is None else spent * len(lacking),
        "bytes": data_bytes(job, ask.device) if isinstance(task, Run) else 0,
        "assumptions": [
            {
                "text": g.text,
                "factor": g.factor,
                "holds": g.holds,
                "printed": g.printed,
                "told": str(g),
            }
            for g in gates
        ],
    }


def data_bytes(job: Job, device: str = "cpu") -> int:
    """The memory of one block's training set and weights (the attack and the gradient need a few
    times as much)."""
    run, engine = job.task, job.engine
    assert isinstance(run, Run) and engine is not None
    one = run.network.init(stream(0, "init"), run.data.shape, run.data.k)
    weights = sum(w.numel() for w in tree_leaves(one))
    size = 8 if run.dtype == "float64" else 4
    width = engine.width["cuda" if device.startswith("cuda") else "cpu"]
    return int(width * size * (run.n * math.prod(run.data.shape) + weights))
