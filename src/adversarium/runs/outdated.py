"""Whether stored rows of somebody's own code are still what the code gives: what no key tells (a
library's state, the environment, a file that another language reads) shows in the numbers."""

from collections.abc import Sequence

import torch

from adversarium.plans.run import Run, Trial
from adversarium.rng import stream
from adversarium.runs.blocks import TRIAL
from adversarium.runs.faults import RAISED
from adversarium.runs.jobs import Job
from adversarium.runs.repeating import as_before, same_numbers
from adversarium.runs.store import Store

LONGEST = 5.0  # seconds of a trial that is made again before its rows are used


def outdated(job: Job, seeds: Sequence[int], store: Store, device: str) -> bool:
    """Whether the first steps of a run, or a quick trial, give other numbers now than when the
    stored rows were made."""
    there = sorted(store.seeds(job.key) & set(seeds)) if job.own is not None else []
    if not there:
        return False
    facts = store.provenance(job.key, there[:1])
    if isinstance(job.task, Run):
        here = str(facts.get("device", "cpu")).startswith("cpu") == device.startswith("cpu")
        return any(
            not as_before(job, int(seed), first, device, exact=here)
            for seed, first in facts.get("first", {}).items()
        )
    return facts["seconds"] <= LONGEST and not _given_again(job.task, there[0], job, store)


def renew(jobs: Sequence[Job], seeds: Sequence[int], store: Store, device: str) -> None:
    """Forgets stored rows that the code of today does not give."""
    for job in {job.key: job for job in jobs}.values():
        if outdated(job, seeds, store, device):
            store.forget(job.key)


def _given_again(trial: Trial, seed: int, job: Job, store: Store) -> bool:
    """Whether a trial gives the numbers that are stored."""
    before = store.arrays(job.key, [seed]).get(TRIAL, {})
    common = torch.get_rng_state()
    try:
        now = trial.function(stream(0 if trial.exact else seed, "trial"), **trial.parameters)
        return same_numbers({k: series.values[0, 0] for k, series in before.items()}, now)
    except RAISED:  # it has come to fail: its run says so
        return False
    finally:
        torch.set_rng_state(common)
