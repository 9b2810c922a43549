"""What a claim needs against the whole plan: Figure 3 of RNRF swept over the attack's radius and
judged by `rnrf.fig3.transition`, short runs of two seeds."""

import tempfile
import time
from pathlib import Path

from adversarium.plans.loading import load
from adversarium.runs.audit import AuditOptions, run_missing
from adversarium.runs.changes import planned
from adversarium.runs.jobs import Job, Recipe, resolve
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store
from adversarium.runs.sweep import Axis, Grid, sweep

CLAIM, RADII = "rnrf.fig3.transition", (0.6, 1.2, 1.8)
SMALL = dict(steps=100, d=40, n=30, m=20, points=50)
ASK = AuditOptions(seeds=(0, 1))


def counted(store: Store, jobs: list[Job]) -> tuple[int, int]:
    """How many runs there are in a store, and how many recordings they have."""
    there = [{probe for _, probe in store.recorded(job.key)} for job in jobs]
    return sum(bool(probes) for probes in there), sum(map(len, there))


def main() -> None:
    """Prints the seconds, the runs and the recordings of both, and the ratio."""
    experiment = load("rnrf.fig3")
    cells = [{**SMALL, "eps": radius} for radius in RADII]
    jobs = [
        resolve(task, Recipe(experiment.id, "quick", tuple(changes.items())))
        for changes in cells
        for task in planned(experiment, "quick", changes)
    ]
    every = list({job.key: job for job in jobs}.values())
    with tempfile.TemporaryDirectory() as folder:
        needed, whole = (Store(Path(folder) / name) for name in ("needed", "whole"))
        began = time.perf_counter()
        reader = Reader(needed, experiment.id)
        made = sweep(experiment, Grid((Axis("eps", RADII),), CLAIM, SMALL), reader, ASK)
        ours = time.perf_counter() - began
        assert not made.failures, made.failures
        began = time.perf_counter()
        failures = run_missing(experiment, every, ASK.seeds, Reader(whole, experiment.id), ASK)
        plain = time.perf_counter() - began
        assert not failures, failures
        (runs, recordings), (all_runs, all_recordings) = (
            counted(s, every) for s in (needed, whole)
        )
    print(
        f"{len(RADII)} cells judged by {CLAIM}: the whole plan ({all_runs} runs, {all_recordings} "
        f"recordings) {plain:.1f} s, what the check needs ({runs} runs, {recordings} recordings) "
        f"{ours:.1f} s; {plain / ours:.1f} × faster",
        flush=True,
    )


if __name__ == "__main__":
    main()
