"""Implement `adversarium export`: write rows, tables of claims and figures to files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from adversarium.commands.options import (
    DEFAULT,
    Changes,
    File,
    Partly,
    Preset,
    Seeds,
    experiments_named,
    named,
    writable,
)

To = Annotated[
    Literal["csv", "npz", "parquet", "netcdf", "tex", "svg", "pdf", "png"],
    Parameter(help="format of the rows, of the table of claims (tex) or of the figures"),
]


def export(
    id: str,
    *,
    to: To = "csv",
    preset: Preset = "quick",
    seeds: Seeds = None,
    set_: Changes = [],  # noqa: B006 (cyclopts copies it)
    partly: Partly = False,
    store: File = DEFAULT,
    out: Annotated[Path | None, Parameter(help="output file, or folder for the figures")] = None,
) -> int:
    """Export rows (csv, npz, parquet, netcdf), a booktabs table of the paper's and the measured
    values (tex), or the figures with their numbers (svg, pdf, png). With --set, export the changed
    runs.

    Parameters
    ----------
    id
        an experiment, a claim, a paper or your file (./FILE.py)
    """
    from adversarium.report import frames, tables
    from adversarium.report.terminal import drawn
    from adversarium.runs.audit import AuditOptions, stored_evidence
    from adversarium.runs.changes import parse_changes, parse_seeds
    from adversarium.runs.planning import plan
    from adversarium.runs.reader import Reader, evidence
    from adversarium.runs.store import Store

    writers = {
        "csv": tables.write_csv,
        "npz": tables.write_npz,
        "parquet": frames.write_parquet,
        "netcdf": frames.write_netcdf,
    }
    opened, changes = Store(store, readonly=True), parse_changes(set_)
    if to == "tex":
        if changes:
            raise ValueError("--to tex cannot show changed runs; with --set, export to csv or svg.")
        return _tex(named([id])[0], store, out)
    options = AuditOptions(preset, parse_seeds(seeds))
    homes = experiments_named([id])
    for home in homes:
        asked = plan(home, "", options, changes)
        experiment, chosen = asked.experiment, options.chosen(asked.experiment)
        rows = evidence(Reader(opened, home), asked.jobs, chosen)
        if rows is None:
            there = stored_evidence(experiment, opened) if not changes else None
            found = there[0] if there and there[0] != preset else ""
            other = f", or use --preset {found}, whose rows are stored" if found else ""
            words = "".join(f" --set {word!r}" for word in set_)
            words += f" --seeds {seeds}" if seeds else ""
            words += f" --store {store}" if store != DEFAULT else ""
            raise ValueError(
                f"{store} does not have all rows of {home} at preset {preset} with {len(chosen)} "
                f"seeds; run `adversarium run {home} --preset {preset}{words}` first{other}."
            )
        if to in ("svg", "pdf", "png"):
            whole = out if out is not None and len(homes) == 1 else None
            folder = whole or (out or Path("export")) / experiment.name / asked.folder
            writable(folder)
            files = drawn(asked, rows, folder, formats=(to,))
            print("\n".join(map(str, files)) or f"{home} has no figures; export it to csv.")
            continue
        stem = " ".join(part for part in (experiment.name, asked.folder) if part)
        suffix = "nc" if to == "netcdf" else to
        target = out or Path(f"{stem}.{suffix}")
        with _written(target, store, experiment.file):
            writers[to](target, rows)
        print(target)
    return 0


@contextmanager
def _written(target: Path, *kept: Path | None) -> Iterator[None]:
    """Raise if the target exists, unless adversarium wrote it as an export and it was not edited
    since. Never overwrite a store or a user's file (`kept`)."""
    from adversarium.report.written import begin, end, refuse_others

    writable(target.parent)
    for one in kept:
        if one is not None and one.exists() and target.exists() and target.samefile(one):
            raise ValueError(
                f"{target} is {one}, which is never overwritten; choose another file (--out FILE)."
            )
    refuse_others(target.parent, [target.name])
    begin(target.parent, [target.name])
    yield
    end(target.parent)


def _tex(id: str, store: Path, out: Path | None) -> int:
    from adversarium.plans.catalogue import selected_claims, verdict_key
    from adversarium.plans.loading import user_file
    from adversarium.report import tables
    from adversarium.runs.ledger import read
    from adversarium.runs.store import Store

    stored = Store(store, readonly=True).verdicts()
    keys = [verdict_key(claim) for claim in selected_claims((id,))]
    entries = [read(stored[key]) for key in keys if key in stored]
    if not keys:
        raise ValueError(f"--to tex needs at least one claim, but {id} states none.")
    if not entries:
        raise ValueError(
            f"{store} has no verdict of {id}; run `adversarium verify {id} --store {store}` first."
        )
    file = user_file(id)
    target = out or Path(f"{file.stem if file is not None else id}.tex")
    with _written(target, store, file):
        tables.write_tex(target, entries)
    print(target)
    return 0
