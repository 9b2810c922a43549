"""`adversarium sweep`: a grid of runs as verdicts, numbers and a picture."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.experiments.catalogue import load
from adversarium.experiments.spec import Experiment
from adversarium.report import figures, tables
from adversarium.report.commands import experiments_named, failed
from adversarium.report.progress import Progress
from adversarium.sweeps.audit import Reader, evidence, judged, run_missing
from adversarium.sweeps.grid import cells, parse_axis, parse_changes, parse_seeds, planned
from adversarium.sweeps.store import Store


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
    (home,) = experiments_named([id])[:1]
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
    return failed(failures)


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
