"""Implement `adversarium sweep`: judge a grid of runs, and write numbers and a figure."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    experiments_named,
    ready,
    status,
    writable,
)

if TYPE_CHECKING:
    from adversarium.runs.sweep import Cell


def sweep(
    id: str,
    *,
    over: Annotated[
        list[str], Parameter(negative="", help="name=a:b:step, name=v1,v2 or name=log:a:b:n")
    ],
    zip: Annotated[bool, Flag(help="vary the axes together, not in all combinations")] = False,
    refine: Annotated[int, Parameter(help="rounds that add cells where the verdict changes")] = 0,
    claim: Annotated[str, Parameter(help="claim to check in every cell")] = "",
    preset: Preset = "quick",
    seeds: Seeds = None,
    set_: Changes = [],  # noqa: B006 (cyclopts copies it)
    partly: Partly = False,
    device: Device = "cpu",
    store: File = DEFAULT,
    data: DataDir = None,
    out: Annotated[Path, Parameter(help="folder for the numbers and the figure")] = Path("sweep"),
    on: On = "here",
    fresh: Fresh = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> int | Answer:
    """Run a grid of runs; a stopped sweep can be resumed. It prints a table of verdicts and writes
    the numbers as CSV and a figure. If the experiment defines an outcome that switches, the figure
    shows the theorem's and the fitted boundary. Each cell does only the runs that it needs.

    Parameters
    ----------
    id
        an experiment, a claim or your file (./FILE.py)
    """
    ready(device, data)
    from adversarium.commands.dry import dry_sweep
    from adversarium.commands.progress import Progress
    from adversarium.plans.loading import load
    from adversarium.report.swept import boundary_numbers, write_sweep
    from adversarium.report.tables import json_text
    from adversarium.report.terminal import print_sweep
    from adversarium.runs.audit import AuditOptions
    from adversarium.runs.axes import parse_axis, whole_axis
    from adversarium.runs.changes import own_name, parse_changes, parse_seeds
    from adversarium.runs.reader import Reader
    from adversarium.runs.store import Store
    from adversarium.runs.sweep import Grid, watched_by, with_runs
    from adversarium.runs.sweep import sweep as swept
    from adversarium.runs.where import place

    if refine < 0 or (refine and zip):
        raise ValueError(f"--refine needs rounds >= 0 and a grid without --zip, got {refine}.")
    homes = experiments_named([id])
    if len(homes) > 1:
        raise ValueError(f"{id} names several experiments: {', '.join(homes)}; choose one.")
    experiment = load(homes[0])
    axes = [whole_axis(experiment, preset, parse_axis(word)) for word in over]
    fixed, watched = parse_changes(set_), watched_by(experiment, id, claim, preset)
    both = {own_name(experiment, a.name) for a in axes} & {own_name(experiment, f) for f in fixed}
    if both:
        names = ", ".join(sorted(both))
        raise ValueError(f"{names} cannot be both swept (--over) and set (--set); choose one.")
    options = AuditOptions(preset, parse_seeds(seeds), device, place(on), fresh)
    asked_cells = Grid(tuple(axes), watched, fixed, zip, refine)
    if dry_run:
        return dry_sweep(experiment, asked_cells, options, Store(store, readonly=True), json)
    writable(out)
    reader = Reader(Store(store), experiment.id)
    with Progress(quiet=json) as progress:
        made = swept(experiment, asked_cells, reader, options, progress)
    out.mkdir(parents=True, exist_ok=True)
    named = [a.name.replace(".", "_") for a in axes] + ["zip"] * zip
    asked = dict(over=over, zip=zip, refine=refine, set=set_, preset=preset,
                 seeds=options.chosen(experiment), claim=watched, outcome=made.outcome)  # fmt: skip
    stem = _free(out / "-".join((experiment.name, *named)), asked)
    write_sweep(stem, made)
    if json:
        cells = [_cell(cell) for cell in made.cells]
        whole = {"id": experiment.id, "claim": watched, "cells": cells}
        text = json_text({**whole, "boundary": boundary_numbers(made)})
        return Answer(text, status(made.failures))
    print_sweep(made, with_runs(experiment, preset))
    print(f"{stem}.csv, {stem}.svg")
    return status(made.failures)


def _cell(cell: "Cell") -> dict[str, object]:
    """Return a cell as a JSON-serialisable value."""
    measured = cell.measured
    numbers: dict[str, Any] = {"name": "", "mean": None, "low": None, "high": None, "values": []}
    if measured is not None:
        numbers = {name: getattr(measured, name) for name in numbers}
    every = [{name: getattr(one, name) for name in numbers} for one in cell.numbers]
    word = {"set": dict(cell.set), "verdict": cell.verdict, "reason": cell.reason}
    return {**word, **numbers, "measured": every}


def _free(stem: Path, asked: dict[str, object]) -> Path:
    """Return the path of a sweep's files without suffix, numbered if another sweep already uses it;
    write the request next to these files, as JSON."""
    from adversarium.report.tables import json_text

    text = json_text(asked) + "\n"
    for number in itertools.count(1):
        place = stem if number == 1 else Path(f"{stem}-{number}")
        note = Path(f"{place}.json")
        ours = note.is_file() and note.read_text(encoding="utf-8") == text
        if ours or not any(Path(f"{place}.{form}").exists() for form in ("json", "csv", "svg")):
            break
    note.write_text(text, encoding="utf-8")
    return place
