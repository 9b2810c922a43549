"""Implement `adversarium run`: plan and run experiments, judge and draw their results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from adversarium.commands.options import (
    DEFAULT,
    Answer,
    Changes,
    DataDir,
    Device,
    DryRun,
    File,
    Flag,
    Fresh,
    Json,
    On,
    Partly,
    Preset,
    Seeds,
    ready,
    some,
    status,
    writable,
)

if TYPE_CHECKING:
    from adversarium.plans.evidence import Evidence
    from adversarium.runs.audit import AuditOptions
    from adversarium.runs.planning import Plan
    from adversarium.runs.reader import Reader


def run(
    *ids: str,
    preset: Preset = "quick",
    seeds: Seeds = None,
    set_: Changes = [],  # noqa: B006 (cyclopts copies it)
    partly: Partly = False,
    device: Device = "cpu",
    store: File = DEFAULT,
    data: DataDir = None,
    out: Annotated[Path, Parameter(help="folder for the figures")] = Path("figures"),
    on: On = "here",
    fresh: Fresh = False,
    dry_run: DryRun = False,
    long: Annotated[bool, Flag(help="print the numbers of every run")] = False,
    against: Annotated[bool, Flag(help="compare a changed run with the published one")] = False,
    json: Json = False,
) -> int | Answer:
    """Run experiments and show figures and verdicts; for a claim, do only the runs that its check
    needs. A changed run (--set) is marked and never enters the ledger; --against compares it with
    the published one. --dry-run shows what would run, on which engine, and why other engines
    cannot run it.

    Parameters
    ----------
    ids
        experiments, claims, papers or your files (./FILE.py)
    """
    ready(device, data)
    if against and not set_:
        raise ValueError("--against needs --set: it compares a changed run with the published one.")
    from adversarium.commands.dry import dry
    from adversarium.report.tables import json_text
    from adversarium.report.terminal import drawn, figure_files, judgements, print_run
    from adversarium.report.written import refuse_others
    from adversarium.runs.audit import AuditOptions
    from adversarium.runs.changes import parse_changes, parse_seeds
    from adversarium.runs.planning import homes, plan
    from adversarium.runs.reader import Reader
    from adversarium.runs.store import Store
    from adversarium.runs.validation import require_returned, require_shown
    from adversarium.runs.where import place

    changes = parse_changes(set_)
    options = AuditOptions(preset, parse_seeds(seeds), device, place(on), fresh)
    plans = [plan(home, claim, options, changes) for home, claim in homes(some(ids))]
    if dry_run:
        return dry(plans, options, Store(store, readonly=True), json)
    writable(out)
    for asked in plans:
        folder = out / asked.experiment.name / asked.folder
        refuse_others(folder, figure_files(asked.experiment))
    opened = Store(store)
    run_lines, verdicts, failures = [], [], []
    figures: list[str] = []
    for asked in plans:
        reader = Reader(opened, asked.experiment.id)
        rows, failed = _ran(asked, reader, options, json)
        failures += failed
        if not failed:
            require_returned(asked.experiment, asked.claims, rows)
            require_shown(asked.experiment, rows)
        run_lines += [_run_as_json(asked, i, reader, options) for i in range(len(asked.jobs))]
        under = None
        if against:
            claim = asked.claims[0] if len(asked.claims) < len(asked.experiment.checks) else ""
            beside = plan(asked.experiment.id, claim, options, {})
            published, failed = _ran(beside, reader, options, json)
            failures += failed
            under = published if len(published) == len(beside.jobs) else None
        folder = out / asked.experiment.name / asked.folder
        if json:
            verdicts += judgements(asked, rows)
            figures += map(str, drawn(asked, rows, folder, under))
        else:
            print_run(asked, rows, folder, under, long)
    if json:
        runs = [line for line in run_lines if line is not None]
        whole = {"runs": runs, "verdicts": verdicts, "figures": figures}
        return Answer(json_text(whole), status(failures))
    return status(failures)


def _ran(
    asked: "Plan", reader: "Reader", options: "AuditOptions", quiet: bool
) -> "tuple[Evidence, list[str]]":
    """Run the missing seeds; return the rows of all runs that have them, and the failures."""
    from adversarium.commands.progress import Progress
    from adversarium.plans.evidence import Evidence
    from adversarium.runs.audit import run_missing

    seeds = options.chosen(asked.experiment)
    with Progress(quiet=quiet) as progress:
        failures = run_missing(asked.experiment, asked.jobs, seeds, reader, options, progress)
    made = (reader.rows(job, seeds) for job in asked.jobs)
    return Evidence(tuple(rows for rows in made if rows is not None)), failures


def _run_as_json(
    asked: "Plan", i: int, reader: "Reader", options: "AuditOptions"
) -> dict[str, object] | None:
    """Return a run as a JSON-serialisable value; None if it failed."""
    from adversarium.runs.scope import assumptions

    job, seeds = asked.jobs[i], options.chosen(asked.experiment)
    rows = reader.rows(job, seeds)
    if rows is None:
        return None
    facts = reader.provenance(job, seeds)
    return {
        "id": asked.experiment.id,
        "label": job.task.label,
        "family": job.task.family,
        "at": job.task.coordinates,
        "config": job.task.dynamics,
        "changed": asked.changed(i),
        "assumptions": assumptions(asked.experiment, job.task),
        "seeds": list(seeds),
        "engine": facts["engine"],
        "refused": facts["refused"],
        "final": {name: series.last().tolist() for name, series in rows.series.items()},
        "seconds": round(facts["seconds"], 3),
    }
