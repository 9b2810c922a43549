"""Run an experiment's plan and store its rows: `python -m adversarium.runs ID --preset P --seeds S
--device D --store FILE --ship FOLDER`. This command works if only the core packages are installed
(numpy and torch; scipy for some trials)."""

import argparse
import platform
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from adversarium.plans.catalogue import experiment_ids
from adversarium.plans.loading import load
from adversarium.runs.audit import (
    AuditOptions,
    confirmed,
    planned_jobs,
    run_missing,
    stored_verdicts,
)
from adversarium.runs.changes import parse_seeds
from adversarium.runs.machine import require_device
from adversarium.runs.reader import Reader
from adversarium.runs.results import shipped, thinned, write_rows
from adversarium.runs.store import Store
from adversarium.runs.where import place


def main(arguments: Sequence[str] | None = None) -> int:
    """Run those jobs of an experiment, of a claim or of a paper that the store does not have."""
    parser = argparse.ArgumentParser(prog="python -m adversarium.runs")
    parser.add_argument("id")
    parser.add_argument("--preset", default="quick", choices=("quick", "paper"))
    parser.add_argument("--seeds", default=None)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--on", default="here")
    parser.add_argument("--store", default="adversarium.sqlite")
    parser.add_argument("--ship", default="", help="a folder for row files, one per experiment")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    status = 0
    try:
        require_device(given.device)
        store = Store(given.store)
        for id in experiment_ids(given.id):
            experiment = load(id)
            seeds, where = parse_seeds(given.seeds), place(given.on)
            options = AuditOptions(given.preset, seeds, given.device, where)
            began = time.perf_counter()
            jobs = planned_jobs(experiment, options.preset)
            reader = Reader(store, id)
            failures = run_missing(
                experiment, jobs, options.chosen(experiment), reader, options, _Lines()
            )
            made = stored_verdicts(experiment, experiment.checks, reader, options.preset, seeds)
            failures += confirmed(experiment, made, reader, options, _Lines())
            for failure in failures:
                print(failure, file=sys.stderr)
                status = 1
            print(f"{id}: {len(jobs)} runs, {time.perf_counter() - began:.1f} s", flush=True)
            if given.ship:
                asked: dict[str, dict[str, tuple[int, ...] | None]] = {}
                for job in jobs:  # two tasks of a plan may be the same run
                    asked.setdefault(job.key, {}).update(job.asked)
                rows = thinned((*store.dump(), *shipped(id)), asked)
                Path(given.ship).mkdir(parents=True, exist_ok=True)
                write_rows(Path(given.ship) / f"{id}.npz", rows)
    except ValueError as fault:
        print(f"adversarium: {fault}", file=sys.stderr)
        return int(getattr(fault, "status", 2))
    except KeyboardInterrupt:
        print(
            "stopped; all finished runs are stored. Repeat the command to continue.",
            file=sys.stderr,
        )
        return 130
    return status


class _Lines:
    """Print one line whenever a unit of jobs starts."""

    def __init__(self) -> None:
        self._what = ""

    def __call__(self, what: str, done: int, whole: int) -> None:
        if what != self._what:
            self._what = what
            print(what, flush=True)


if __name__ == "__main__":
    print(f"python {platform.python_version()}, torch {torch.__version__}", flush=True)
    raise SystemExit(main())
