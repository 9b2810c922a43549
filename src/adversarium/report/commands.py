"""What the commands that run something do: plan, run, judge, draw, print."""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.experiments.catalogue import experiment_ids, load, selected_claims
from adversarium.experiments.checks import Evidence
from adversarium.experiments.spec import Experiment, Run, configuration
from adversarium.report import figures, tables
from adversarium.report.progress import Progress
from adversarium.report.site import write_site
from adversarium.sweeps.audit import (
    NOT_YET,
    Reader,
    audit,
    claims_of,
    evidence,
    judged,
    run_missing,
    write_ledger,
)
from adversarium.sweeps.grid import cells, parse_axis, parse_changes, parse_seeds, planned
from adversarium.sweeps.run import engine_of, key_of
from adversarium.sweeps.store import Store


def _ids(words: Sequence[str]) -> list[str]:
    """Experiments by id, claim, paper or own file, each once."""
    found = [
        i for word in words for i in ([word] if word.endswith(".py") else experiment_ids(word))
    ]
    return list(dict.fromkeys(found))


def _plain(id: str) -> str:
    """An id as the stem of a file name."""
    return Path(id).stem if id.endswith(".py") else id


def run_command(
    ids: Sequence[str],
    preset: str,
    seeds: str,
    words: Sequence[str],
    device: str,
    path: Path,
    out: Path,
    fresh: bool,
    dry: bool,
    json: bool,
) -> int:
    """`adversarium run`."""
    changes = parse_changes(words)
    chosen = [(load(i), parse_seeds(seeds)) for i in _ids(ids)]
    plans = [
        (e, planned(e, preset, changes), s or tuple(range(e.seeds(preset)))) for e, s in chosen
    ]
    if dry:
        return _dry(plans, Store(path, readonly=True), json)
    store = Store(path)
    runs: list[dict[str, Any]] = []
    failures: list[str] = []
    for experiment, tasks, own in plans:
        reader = Reader(store, experiment.id)
        with Progress(quiet=json) as progress:
            failures += run_missing(experiment, tasks, own, reader, device, progress, fresh)
        rows: dict[str, Any] = {}
        for task in tasks:
            found = reader.rows(key_of(task), own)
            if found is None:
                continue
            rows[task.label] = found
            facts = reader.provenance(key_of(task), own)
            runs.append(
                {
                    "id": experiment.id,
                    "label": task.label,
                    "config": configuration(task),
                    "seeds": list(own),
                    "engine": facts["engine"],
                    "refused": facts["refused"],
                    "final": {p: list(found.last(p)) for p in found.values},
                    "seconds": round(facts["seconds"], 3),
                }
            )
        if not json:
            _print_run(experiment, rows, len(rows) == len(tasks), bool(changes), out)
    if json:
        print(tables.json_text({"runs": runs}))
    return _failed(failures)


def _failed(failures: Sequence[str]) -> int:
    for failure in failures:
        print(f"adversarium: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _dry(plans: Sequence[Any], store: Store, json: bool) -> int:
    lines = []
    for experiment, tasks, seeds in plans:
        for task in tasks:
            name, _, refused = engine_of(task)
            missing = len(set(seeds) - store.seeds(key_of(task)))
            steps = task.steps if isinstance(task, Run) else 0
            lines.append(
                {
                    "id": experiment.id,
                    "label": task.label,
                    "engine": name,
                    "refused": refused,
                    "steps": steps,
                    "seeds": len(seeds),
                    "missing": missing,
                }
            )
    if json:
        print(tables.json_text({"runs": lines}))
        return 0
    for run in lines:
        print(
            f"{run['id']} {run['label']}: {run['missing']} of {run['seeds']} seeds to run, "
            f"{run['steps']} steps, engine {run['engine']}"
        )
        for name, why in run["refused"].items():
            print(f"  not {name}: {why}")
    return 0


def _print_run(
    experiment: Experiment, rows: Evidence, whole: bool, changed: bool, out: Path
) -> None:
    mark = " (changed: not for the ledger)" if changed else ""
    print(f"{experiment.id}: {experiment.title}{mark}")
    for label, run in rows.items():
        print(
            f"  {label or 'run'}, {len(run.seeds)} seeds, last values [99 % interval of the mean]"
        )
        for probe in run.values:
            mean, low, high = figures.mean_and_interval(run, probe)
            ends = f"[{tables.number(low)}, {tables.number(high)}]"
            print(f"    {probe:<34} {tables.number(mean):>10}  {ends}")
    if not whole:
        return
    for id in experiment.checks:
        try:
            verdict = judged(experiment, id, rows)
            print(f"  {id}: {verdict.verdict} {verdict.reason}")
        except KeyError as fault:
            print(f"  {id}: undecided, out of regime: the changed plan lacks {fault}")
    folder = out / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    for figure in experiment.figures:
        drawn = figures.draw(figure, rows, folder)
        if drawn is not None:
            print(f"  {drawn}")


def verify_command(
    words: Sequence[str],
    preset: str,
    seeds: str,
    device: str,
    path: Path,
    write: Path | None,
    fresh: bool,
    json: bool,
) -> int:
    """`adversarium verify`."""
    chosen = []
    for word in words or ("",):
        if word.endswith(".py"):
            chosen += claims_of(word)
        else:
            chosen += selected_claims((word,) if word else ())
    chosen = list({c.id: c for c in chosen}.values())
    own = parse_seeds(seeds)
    store = Store(path)
    with Progress(quiet=json) as progress:
        ledger, failures = audit(chosen, store, preset, own, device, progress, fresh)
    judged_now = [e for e in ledger["claims"] if e["verdict"] != NOT_YET]
    store.keep_verdicts(judged_now)
    if write is not None:
        write_ledger(write, ledger)
    if json:
        print(tables.json_text(ledger))
    else:
        _print_ledger(ledger, bool(words))
    return _failed(failures)


def _print_ledger(ledger: dict[str, Any], named: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    styles = {"holds": "blue", "fails": "bold red", "undecided": "yellow"}
    table = Table("claim", "verdict", "measured [99 %]", "wanted", "seeds", "s", show_lines=False)
    for e in ledger["claims"]:
        if e["verdict"] == NOT_YET and (not named or len(ledger["claims"]) > 20):
            continue
        shown = "\n".join(f"{m['name']}: {tables.with_interval(m)}" for m in e["measured"][:4])
        more = len(e["measured"]) - 4
        text = (
            shown
            + (f"\nand {more} more" if more > 0 else "")
            + (f"\n{e['reason']}" if e["reason"] else "")
        )
        table.add_row(
            e["id"],
            Text(e["verdict"], styles.get(e["verdict"], "dim")),
            Text(text.strip()),
            tables.expected_range(e),
            str(e["seeds"] or ""),
            tables.number(e["seconds"]),
        )
    if table.row_count:
        console.print(table)
    counted = Table("paper", *tables.WORDS)
    papers = {e["paper"] for e in ledger["claims"]}
    for key, _, *numbers in tables.summary(ledger["claims"]):
        if key.lower() in papers:
            counted.add_row(key, *numbers)
    console.print(counted)
    cpu, cores = ledger["machine"]["cpu"], ledger["machine"]["cores"]
    print(f"{ledger['seconds']:.1f} s on {cpu}, {cores} cores")


def sweep_command(
    id: str,
    over: Sequence[str],
    zipped: bool,
    claim: str,
    preset: str,
    seeds: str,
    words: Sequence[str],
    device: str,
    path: Path,
    out: Path,
    fresh: bool,
    json: bool,
) -> int:
    """`adversarium sweep`."""
    axes = [parse_axis(word) for word in over]
    grid = cells(axes, zipped)
    fixed = parse_changes(words)
    (home,) = _ids([id])[:1]
    experiment = load(home)
    watched = claim or (id if id in experiment.checks else next(iter(experiment.checks)))
    if watched not in experiment.checks:
        raise ValueError(
            f"{experiment.id} has no claim {watched!r}; it has {', '.join(experiment.checks)}."
        )
    own = parse_seeds(seeds) or tuple(range(experiment.seeds(preset)))
    plans = [planned(experiment, preset, {**fixed, **cell}) for cell in grid]
    store = Store(path)
    reader = Reader(store, experiment.id)
    lines: list[dict[str, Any]] = []
    failures: list[str] = []
    with Progress(quiet=json) as progress:
        for i, (cell, tasks) in enumerate(zip(grid, plans, strict=True)):
            report = lambda w, d, n, i=i: progress(f"cell {i + 1} of {len(grid)}, {w}", d, n)
            failures += run_missing(experiment, tasks, own, reader, device, report, fresh)
            lines.append(_judged_cell(experiment, watched, cell, reader, tasks, own))
    out.mkdir(parents=True, exist_ok=True)
    stem = out / f"{experiment.name}-{'-'.join(a.name.replace('.', '_') for a in axes)}"
    _sweep_files(stem, axes, zipped, watched, lines)
    if json:
        print(tables.json_text({"id": experiment.id, "claim": watched, "cells": lines}))
    else:
        for line in lines:
            at = ", ".join(
                f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}"
                for k, v in line["set"].items()
            )
            print(f"{at:<40} {line['verdict']:<10} {line['name']}: {tables.with_interval(line)}")
        print(f"{stem}.csv, {stem}.svg")
    return _failed(failures)


def _judged_cell(
    experiment: Experiment,
    claim: str,
    cell: dict[str, Any],
    reader: Reader,
    tasks: Any,
    seeds: Sequence[int],
) -> dict[str, Any]:
    rows = evidence(reader, tasks, seeds)
    blank: dict[str, Any] = {"name": "", "mean": None, "low": None, "high": None, "values": []}
    if rows is None:
        return {"set": cell, "verdict": "failed", "reason": "a run failed", **blank}
    try:
        verdict = judged(experiment, claim, rows)
    except KeyError as fault:
        return {"set": cell, "verdict": "undecided", "reason": f"out of regime: {fault}", **blank}
    first = verdict.measured[0] if verdict.measured else blank
    return {"set": cell, "verdict": verdict.verdict, "reason": verdict.reason, **first}


def _sweep_files(
    stem: Path, axes: Sequence[Any], zipped: bool, claim: str, lines: Sequence[dict[str, Any]]
) -> None:
    with Path(f"{stem}.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow((*(a.name for a in axes), "verdict", "quantity", "mean", "low", "high"))
        for line in lines:
            out.writerow(
                (
                    *line["set"].values(),
                    line["verdict"],
                    *(line[k] for k in ("name", "mean", "low", "high")),
                )
            )
    column = lambda k: np.array(
        [np.nan if line[k] is None else line[k] for line in lines], dtype=float
    )
    what = next((line["name"] for line in lines if line["name"]), claim)
    if len(axes) == 2 and not zipped:
        shape = (len(axes[0].values), len(axes[1].values))
        verdicts = np.array([line["verdict"] for line in lines]).reshape(shape)
        figures.heatmap(
            Path(f"{stem}.svg"),
            axes[0].values,
            axes[1].values,
            column("mean").reshape(shape).T,
            verdicts.T,
            (axes[0].name, axes[1].name),
            f"{claim}: {what}",
        )
        return
    x = axes[0].values
    numeric = all(isinstance(v, (int, float)) for v in x) and (len(axes) == 1 or zipped)
    positions = list(x) if numeric else list(range(len(lines)))
    figures.line(
        Path(f"{stem}.svg"),
        positions,
        column("mean"),
        column("low"),
        column("high"),
        (axes[0].name, what),
    )


def report_command(ids: Sequence[str], out: Path, path: Path) -> int:
    """`adversarium report`."""
    own = [word for word in ids if word.endswith(".py")]
    other = [word for word in ids if word not in own]
    if other:
        raise ValueError(
            f"report takes own files (./FILE.py) beside the whole store, got {other[0]!r}."
        )
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out needs a directory, got the file {out}.")
    first = write_site(Store(path, readonly=True), out, own)
    print(f"the report is at {first}")
    return 0


def export_command(id: str, to: str, preset: str, seeds: str, path: Path, out: Path | None) -> int:
    """`adversarium export`."""
    store = Store(path, readonly=True)
    if to == "tex":
        words = [c.id for c in (claims_of(id) if id.endswith(".py") else selected_claims((id,)))]
        stored = store.verdicts()
        entries = [stored[w] for w in words if w in stored]
        if not entries:
            raise ValueError(f"no verdict of {id} in {path}; run `adversarium verify {id}` first.")
        target = out or Path(f"{_plain(id)}.tex")
        tables.write_tex(target, entries)
        print(target)
        return 0
    for home in _ids([id]):
        experiment = load(home)
        own = parse_seeds(seeds) or tuple(range(experiment.seeds(preset)))
        rows = evidence(Reader(store, home), experiment.runs(preset), own)
        if rows is None:
            raise ValueError(
                f"{path} lacks rows of {home} at preset {preset} with {len(own)} seeds; run "
                f"`adversarium run {home} --preset {preset}` first."
            )
        target = out or Path(f"{_plain(home)}.{to}")
        (tables.write_csv if to == "csv" else tables.write_npz)(target, rows)
        print(target)
    return 0
