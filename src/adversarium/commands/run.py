"""`adversarium run`: plan, run, judge, draw, print."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from adversarium.commands.options import (
    DEFAULT,
    Changes,
    DataDir,
    Device,
    File,
    Flag,
    Fresh,
    Json,
    On,
    Preset,
    Seeds,
    ready,
    some,
    status,
)

if TYPE_CHECKING:
    from adversarium.plans.evidence import Evidence
    from adversarium.plans.experiment import Experiment
    from adversarium.runs.audit import Ask
    from adversarium.runs.jobs import Job
    from adversarium.runs.reader import Reader

    Plan = tuple[Experiment, list[Job], tuple[str, ...]]  # its jobs, the claims that are judged


def run(
    *ids: str,
    preset: Preset = "quick",
    seeds: Seeds = "",
    set_: Changes = [],  # noqa: B006 (cyclopts copies it)
    device: Device = "cpu",
    store: File = DEFAULT,
    data: DataDir = None,
    out: Annotated[Path, Parameter(help="a folder for the figures")] = Path("figures"),
    on: On = "here",
    fresh: Fresh = False,
    dry_run: Annotated[bool, Flag] = False,
    against: Annotated[bool, Flag] = False,
    json: Json = False,
) -> int:
    """Runs experiments: figures and verdicts; of a claim, only what its check needs. A changed run
    (--set) is marked and never enters the ledger; --against sets it beside the published one;
    --dry-run says what would run, on which engine, and why not on the others."""
    ready(device, data)
    if against and not set_:
        raise ValueError("--against compares a changed run with the published one; use --set too.")
    from adversarium.commands.dry import dry
    from adversarium.report.tables import json_text
    from adversarium.report.terminal import print_run
    from adversarium.runs.audit import Ask
    from adversarium.runs.changes import parse_changes, parse_seeds
    from adversarium.runs.reader import Reader
    from adversarium.runs.store import Store
    from adversarium.runs.where import place

    changes = parse_changes(set_)
    ask = Ask(preset, parse_seeds(seeds), device, place(on), fresh)
    plans = [_planned(home, claim, ask, changes) for home, claim in _homes(some(ids))]
    if dry_run:
        return dry(plans, ask, Store(store, readonly=True), json)
    opened = Store(store)
    told, failures = [], []
    for experiment, jobs, claims in plans:
        reader = Reader(opened, experiment.id)
        rows, failed = _ran(experiment, jobs, reader, ask, json)
        failures += failed
        told += [_told(experiment, job, reader, ask) for job in jobs]
        under = None
        if against:
            claim = claims[0] if len(claims) < len(experiment.checks) else ""
            _, beside, _ = _planned(experiment.id, claim, ask, {})
            under, failed = _published(experiment, beside, reader, ask, json)
            failures += failed
        if not json:
            whole = len(rows) == len(jobs)
            print_run(experiment, rows, claims, whole, changes, out, under)
    if json:
        print(json_text({"runs": [line for line in told if line is not None]}))
    return status(failures)


def _homes(words: Sequence[str]) -> list[tuple[str, str]]:
    """The experiments that words name, each once, with the claim where a word is one's id."""
    from adversarium.plans.catalogue import claims, experiment_ids

    homes: dict[tuple[str, str], None] = {}
    for word in words:
        claim = claims().get(word)
        named = claims().get(claim.alias_of, claim).id if claim is not None else ""
        for home in experiment_ids(word):
            homes[home, named if named != home and claim is not None else ""] = None
    return list(homes)


def _planned(home: str, claim: str, ask: "Ask", changes: dict[str, Any]) -> "Plan":
    """An experiment's jobs with changes; of one claim, those that its check needs."""
    from adversarium.plans.catalogue import load
    from adversarium.runs.audit import needed
    from adversarium.runs.changes import planned
    from adversarium.runs.jobs import Recipe, resolve

    experiment = load(home)
    tasks = planned(experiment, ask.preset, changes)
    chosen = (claim,) if claim else tuple(experiment.checks)
    kept = needed(tasks, experiment.checks[claim].needs) if claim else tasks
    recipe = Recipe(experiment.id, ask.preset, tuple(changes.items()))
    return experiment, [resolve(task, recipe) for task in kept], chosen


def _ran(
    experiment: "Experiment", jobs: "list[Job]", reader: "Reader", ask: "Ask", quiet: bool
) -> "tuple[Evidence, list[str]]":
    """What there is after running what was missing, and what failed."""
    from adversarium.commands.progress import Progress
    from adversarium.plans.evidence import Evidence
    from adversarium.runs.audit import run_missing

    seeds = ask.chosen(experiment)
    with Progress(quiet=quiet) as progress:
        failures = run_missing(experiment, jobs, seeds, reader, ask, progress)
    made = (reader.rows(job, seeds) for job in jobs)
    return Evidence(tuple(rows for rows in made if rows is not None)), failures


def _published(
    experiment: "Experiment", jobs: "list[Job]", reader: "Reader", ask: "Ask", quiet: bool
) -> "tuple[Evidence | None, list[str]]":
    """The published setting of the same plan, run by run; None where one failed."""
    rows, failures = _ran(experiment, jobs, reader, ask, quiet)
    return (rows if len(rows) == len(jobs) else None), failures


def _told(
    experiment: "Experiment", job: "Job", reader: "Reader", ask: "Ask"
) -> dict[str, Any] | None:
    """A run as JSON has it; None where it failed."""
    seeds = ask.chosen(experiment)
    rows = reader.rows(job, seeds)
    if rows is None:
        return None
    facts = reader.provenance(job, seeds)
    return {
        "id": experiment.id,
        "label": job.task.label,
        "family": job.task.family,
        "at": job.task.coordinates,
        "config": job.task.dynamics,
        "seeds": list(seeds),
        "engine": facts["engine"],
        "refused": facts["refused"],
        "final": {name: series.last().tolist() for name, series in rows.series.items()},
        "seconds": round(facts["seconds"], 3),
    }
