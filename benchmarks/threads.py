"""One thread against all: CPU and wall seconds of short runs of several sizes, the numbers of their
largest tensor, and what `fitting_threads` chooses."""

import os
import time
from dataclasses import replace

import torch

from adversarium.plans.loading import load
from adversarium.plans.run import Run
from adversarium.runs.changes import planned
from adversarium.runs.compute import compute
from adversarium.runs.jobs import Unit, fitting_threads, largest_tensor, resolve

CASES = {  # experiment, changes
    "conv.eq16": dict(rules=("exact",)),
    "boat.published": dict(steps=40),
    "cgro.thm4.1": dict(steps=400, scaling=(), counts=(), many=()),
    "rnrf.fig3": dict(steps=12, n=20, d=20, P=8, m=16),
    "rnrf.theorems": dict(steps=60, places=((5, 50),)),
    "rnrf.recursions": dict(steps=30),
    "cgrm.tab1.digits": dict(epochs=1, n=100),
}
BIG = {"rnrf.fig3": dict(steps=6)}
SEEDS = tuple(range(5))


def spent(unit: Unit) -> tuple[float, float]:
    """CPU and wall seconds of a unit."""
    cpu, wall = time.process_time(), time.perf_counter()
    outcome = compute(unit)
    assert not outcome.failures, outcome.failures
    return time.process_time() - cpu, time.perf_counter() - wall


def main() -> None:
    """Prints a line a case."""
    cores = os.cpu_count() or 1
    torch.set_num_threads(cores)
    print(
        f"{'':<40}{'numbers':>10}{'cpu 1':>8}{f'cpu {cores}':>8}{'s 1':>8}{f's {cores}':>8}  chosen"
    )
    for id, changes in (*CASES.items(), *BIG.items()):
        task = [t for t in planned(load(id), "quick", changes) if isinstance(t, Run)][-1]
        bare = replace(task, probes=task.probes[:1], final=(), folds=())
        unit = Unit((resolve(bare),), (SEEDS,))
        spent(unit)
        one, many = spent(unit), spent(replace(unit, threads=cores))
        size, chosen = largest_tensor(unit), fitting_threads(unit)
        name = f"{id} {task.label}"[:39]
        print(
            f"{name:<40}{size:>10}{one[0]:>8.2f}{many[0]:>8.2f}{one[1]:>8.2f}{many[1]:>8.2f}{chosen:>6}"
        )


if __name__ == "__main__":
    main()
