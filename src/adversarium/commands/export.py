"""`adversarium export`: data out."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from adversarium.commands.options import DEFAULT, File, Preset, Seeds, experiments_named

To = Literal["csv", "npz", "tex", "svg", "pdf", "png"]


def export(
    id: str,
    *,
    to: To = "csv",
    preset: Preset = "quick",
    seeds: Seeds = "",
    store: File = DEFAULT,
    out: Annotated[Path | None, Parameter(help="the file, or the folder of figures")] = None,
) -> int:
    """Data out: rows as csv or npz, a booktabs table with the paper's value beside ours (tex), or
    the figures with their numbers (svg, pdf, png)."""
    from adversarium.plans.catalogue import load
    from adversarium.report import tables
    from adversarium.report.figures import draw
    from adversarium.runs.audit import planned_jobs, stored_evidence
    from adversarium.runs.changes import parse_seeds
    from adversarium.runs.reader import Reader, evidence
    from adversarium.runs.store import Store

    opened = Store(store, readonly=True)
    if to == "tex":
        return _tex(id, store, out)
    for home in experiments_named([id]):
        experiment = load(home)
        chosen = parse_seeds(seeds) or tuple(range(experiment.seeds(preset)))
        rows = evidence(Reader(opened, home), planned_jobs(experiment, preset), chosen)
        if rows is None:
            there = stored_evidence(experiment, opened)
            other = f", or take --preset {there[0]}, whose rows are there" if there else ""
            raise ValueError(
                f"{store} lacks rows of {home} at preset {preset} with {len(chosen)} seeds; run "
                f"`adversarium run {home} --preset {preset}` first{other}."
            )
        if to in ("svg", "pdf", "png"):
            folder = out or Path("export") / experiment.name
            folder.mkdir(parents=True, exist_ok=True)
            for figure in experiment.figures:
                for file in draw(figure, rows, folder, formats=(to,)):
                    print(file)
            continue
        target = out or Path(f"{experiment.name}.{to}")
        (tables.write_csv if to == "csv" else tables.write_npz)(target, rows)
        print(target)
    return 0


def _tex(id: str, store: Path, out: Path | None) -> int:
    from adversarium.plans.catalogue import own_file, selected_claims
    from adversarium.report import tables
    from adversarium.runs.ledger import read
    from adversarium.runs.store import Store

    stored = Store(store, readonly=True).verdicts()
    entries = [read(stored[c.id]) for c in selected_claims((id,)) if c.id in stored]
    if not entries:
        raise ValueError(f"no verdict of {id} in {store}; run `adversarium verify {id}` first.")
    file = own_file(id)
    target = out or Path(f"{file.stem if file is not None else id}.tex")
    tables.write_tex(target, entries)
    print(target)
    return 0
