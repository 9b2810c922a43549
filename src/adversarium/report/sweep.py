"""`adversarium sweep`: a grid of runs as verdicts, numbers and a picture."""

import csv
import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.experiments.boundary import crossings, fit
from adversarium.experiments.catalogue import load
from adversarium.experiments.evidence import Evidence, Quantity, summary
from adversarium.experiments.spec import Experiment, Run, Switch, Trial
from adversarium.report import planes, tables
from adversarium.report.commands import experiments_named, failed
from adversarium.report.progress import Progress
from adversarium.report.style import save
from adversarium.sweeps.audit import Reader, evidence, judged, run_missing
from adversarium.sweeps.grid import (
    Axis,
    cells,
    parse_axis,
    parse_changes,
    parse_seeds,
    planned,
    refined,
    whole_axis,
)
from adversarium.sweeps.run import key_of
from adversarium.sweeps.store import Store


def sweep_command(
    id: str,
    over: Sequence[str],
    zipped: bool,
    refine: int,
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
    if refine < 0 or (refine and zipped):
        raise ValueError("--refine needs a number of rounds >= 0, and a grid without --zip.")
    homes = experiments_named([id])
    if len(homes) > 1:
        raise ValueError(f"{id} names several experiments: {', '.join(homes)}; take one.")
    experiment = load(homes[0])
    axes = [whole_axis(experiment, preset, parse_axis(word)) for word in over]
    fixed = parse_changes(words)
    watched = _watched(experiment, id, claim)
    own = parse_seeds(seeds) or tuple(range(experiment.seeds(preset)))
    reader = Reader(Store(path), experiment.id)
    new = cells(axes, zipped)
    points: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    tasks: list[tuple[Run | Trial, ...]] = []
    failures: list[str] = []
    with Progress(quiet=json) as progress:
        for turn in range(refine + 1):
            plans, faults = [], []
            for cell in new:
                runs, fault = _planned(experiment, preset, {**fixed, **cell}, watched)
                plans.append(runs)
                faults.append(fault)
            if all(faults) and not points:
                raise ValueError(faults[0])
            every = distinct(plans)
            what = f"{len(new)} cells" + (f", round {turn} of {refine}" if turn else "")
            report = lambda w, d, n, what=what: progress(f"{what}: {w}", d, n)
            failures += run_missing(experiment, every, own, reader, device, report, fresh)
            for cell, runs, fault in zip(new, plans, faults, strict=True):
                points.append(cell)
                tasks.append(runs)
                lines.append(_judged_cell(experiment, watched, cell, reader, runs, own, fault))
            failures += [fault for fault in faults if fault]
            new = refined(axes, points, [line["verdict"] for line in lines]) if refine else []
            if not new:
                break
    out.mkdir(parents=True, exist_ok=True)
    named = [a.name.replace(".", "_") for a in axes] + ["zip"] * zipped
    asked = dict(over=over, zip=zipped, refine=refine, set=words, preset=preset, seeds=own)
    stem = _free(out / "-".join((experiment.name, *named)), asked | {"claim": watched})
    boundary = _sweep_files(stem, axes, zipped, watched, experiment, lines, tasks)
    if json:
        whole = {"id": experiment.id, "claim": watched, "cells": lines, "boundary": boundary}
        print(tables.json_text(whole))
    else:
        for line in lines:
            at = ", ".join(
                f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}"
                for k, v in line["set"].items()
            )
            told = (
                f"{line['name']}: {tables.with_interval(line)}" if line["name"] else line["reason"]
            )
            print(f"{at:<40} {line['verdict']:<10} {told}")
        if boundary:
            print(_told(boundary))
        print(f"{stem}.csv, {stem}.svg")
    return failed(failures)


def _free(stem: Path, asked: dict[str, Any]) -> Path:
    """Where a sweep's files go: the stem, numbered where the files of another sweep lie. What was
    asked is kept beside them."""
    text = tables.json_text(asked) + "\n"
    for number in itertools.count(1):
        place = stem if number == 1 else Path(f"{stem}-{number}")
        note = Path(f"{place}.json")
        if not note.exists() or note.read_text(encoding="utf-8") == text:
            break
    note.write_text(text, encoding="utf-8")
    return place


def _planned(
    experiment: Experiment, preset: str, changes: dict[str, Any], watched: str
) -> tuple[tuple[Run | Trial, ...], str]:
    """The runs of a cell, or why there are none."""
    try:
        runs = planned(experiment, preset, changes)
    except ValueError as fault:
        at = ", ".join(f"{k}={v}" for k, v in changes.items())
        return (), f"{at}: {fault}"
    if watched not in experiment.checks and len(runs) > 1:
        raise ValueError(
            f"a cell of this sweep holds {len(runs)} runs ({runs[0].label}; {runs[1].label}; …), "
            "and one is needed; fix what still varies with --set or --over."
        )
    return runs, ""


def _watched(experiment: Experiment, id: str, claim: str) -> str:
    """What every cell is judged by: the claim that was named, or the experiment's switch, or its
    first claim."""
    if not claim and id not in experiment.checks and experiment.switch is not None:
        return experiment.switch.probe
    if not experiment.checks:
        raise ValueError(f"{experiment.id} judges no claim, so a sweep has nothing to look for.")
    watched = claim or (id if id in experiment.checks else next(iter(experiment.checks)))
    if watched not in experiment.checks:
        raise ValueError(
            f"{experiment.id} has no claim {watched!r}; it has {', '.join(experiment.checks)}."
        )
    return watched


def distinct(plans: Sequence[Sequence[Run | Trial]]) -> list[Run | Trial]:
    """The tasks of all cells, each once, their labels made different."""
    found: dict[str, Run | Trial] = {}
    for tasks in plans:
        for task in tasks:
            digest = key_of(task)
            if digest not in found:
                label = f"{task.label} [{len(found) + 1}]" if len(plans) > 1 else task.label
                found[digest] = replace(task, label=label)
    return list(found.values())


def _judged_cell(
    experiment: Experiment,
    watched: str,
    cell: dict[str, Any],
    reader: Reader,
    tasks: Any,
    seeds: Sequence[int],
    fault: str = "",
) -> dict[str, Any]:
    rows = evidence(reader, tasks, seeds) if not fault else None
    blank: dict[str, Any] = {"name": "", "mean": None, "low": None, "high": None, "values": []}
    if rows is None:
        reasons = [reader.store.why(key_of(t)) for t in tasks]
        why = fault or "; ".join(r for r in reasons if r) or "a run failed"
        return {"set": cell, "verdict": "failed", "reason": why, **blank}
    try:
        if watched in experiment.checks:
            verdict = judged(experiment, watched, rows)
        else:
            return {"set": cell, **_side(experiment.switch, rows)}
    except KeyError as fault:
        return {"set": cell, "verdict": "undecided", "reason": f"out of regime: {fault}", **blank}
    first = verdict.measured[0] if verdict.measured else blank
    return {"set": cell, "verdict": verdict.verdict, "reason": verdict.reason, **first}


def _side(switch: Any, rows: Evidence) -> dict[str, Any]:
    """On which side of the switch the first run of a cell lies: its 99 % interval decides."""
    values = next(r.last(switch.probe) for r in rows.values() if switch.probe in r.values)
    found = summary(Quantity(switch.name or switch.probe, lambda _: values), values)
    sides = {"above": found["low"], "below": found["high"]}
    word = "undecided"
    if None not in sides.values():
        above, below = sides["above"] > switch.above, sides["below"] < switch.above
        word = "above" if above else "below" if below else "undecided"
    reason = "" if word != "undecided" else f"the interval crosses {switch.above:g}"
    return {"verdict": word, "reason": reason, **found}


def _boundary(
    axes: Sequence[Axis], switch: Switch | None, lines: Sequence[dict[str, Any]], tasks: Any
) -> tuple[Any, np.ndarray]:
    """The fitted line between above and below, and the theorem's points, for a switch."""
    none = np.empty((0, 2))
    good = [i for i, line in enumerate(lines) if line["values"]]
    if switch is None or not good:
        return None, none
    x, y = (np.array([float(lines[i]["set"][a.name]) for i in good]) for a in axes)
    found = fit(x, y, np.array([lines[i]["values"] for i in good], dtype=float), switch.above)
    if switch.predicted is None:
        return found, none
    margins = np.array([switch.predicted(tasks[i][0]) for i in good])
    return found, crossings(x, y, margins)


def _summary(found: Any, theorem: np.ndarray) -> dict[str, Any] | None:
    if found is None:
        return None
    names = ("mean", "low", "high")
    told: dict[str, Any] = {"power": dict(zip(names, found.slope(), strict=True))}
    if len(theorem):
        told["factor"] = dict(zip(names, found.factor(*theorem.T), strict=True))
    return told


def _told(boundary: dict[str, Any]) -> str:
    shown = lambda q: f"{q['mean']:.2f} [{q['low']:.2f}, {q['high']:.2f}]"
    text = f"fitted boundary: power {shown(boundary['power'])}"
    if "factor" in boundary:
        text += f"; apart from the predicted one by a factor {shown(boundary['factor'])}"
    return text


def _sweep_files(
    stem: Path,
    axes: Sequence[Axis],
    zipped: bool,
    watched: str,
    experiment: Experiment,
    lines: Sequence[dict[str, Any]],
    tasks: Any,
) -> dict[str, Any] | None:
    """Writes the numbers and the picture; the boundary, where there is one."""
    with Path(f"{stem}.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(
            (*(a.name for a in axes), "verdict", "quantity", "mean", "low", "high", "reason")
        )
        for line in lines:
            numbers = (line[k] for k in ("name", "mean", "low", "high"))
            out.writerow((*line["set"].values(), line["verdict"], *numbers, line["reason"]))
    column = lambda k: np.array(
        [np.nan if line[k] is None else line[k] for line in lines], dtype=float
    )
    what = next((line["name"] for line in lines if line["name"]), watched)
    positive = all(
        isinstance(v, (int, float)) and v > 0 for line in lines for v in line["set"].values()
    )
    if len(axes) == 2 and not zipped and positive:
        switch = None if watched in experiment.checks else experiment.switch
        found, theorem = _boundary(axes, switch, lines, tasks)
        marks = {"holds": "✓", "fails": "✗", "undecided": "?", "above": "+", "below": "−"}
        x, y = (np.array([float(line["set"][a.name]) for line in lines]) for a in axes)
        letters = [marks.get(line["verdict"], "!") for line in lines]
        names = (axes[0].name, axes[1].name)
        plane = planes.Plane(x, y, column("mean"), names, letters)
        save(plane.draw(f"{experiment.id}: {what}", what, found, theorem), Path(f"{stem}.svg"))
        return _summary(found, theorem)
    if len(axes) == 2 and not zipped:
        shape = (len(axes[0].values), len(axes[1].values))
        rectangle = len(lines) == shape[0] * shape[1]
        if rectangle:
            verdicts = np.array([line["verdict"] for line in lines]).reshape(shape)
            planes.heatmap(
                Path(f"{stem}.svg"),
                axes[0].values,
                axes[1].values,
                column("mean").reshape(shape).T,
                verdicts.T,
                (axes[0].name, axes[1].name),
                f"{watched}: {what}",
            )
            return None
    order = list(range(len(lines)))
    along = [line["set"][axes[0].name] for line in lines]
    numeric = all(isinstance(v, (int, float)) for v in along) and (len(axes) == 1 or zipped)
    if numeric:
        order.sort(key=lambda i: along[i])
    planes.line(
        Path(f"{stem}.svg"),
        [along[i] if numeric else i for i in order],
        column("mean")[order],
        column("low")[order],
        column("high")[order],
        (axes[0].name, what),
    )
    return None
