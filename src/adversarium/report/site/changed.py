"""Make the page of changed runs and sweeps, which compares them with the published runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.digest import Json
from adversarium.plans.loading import load, user_file
from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import experiments
from adversarium.plans.shares import shares
from adversarium.report.documents import render
from adversarium.report.figures import mean_and_interval, planes
from adversarium.report.figures.style import file_name, save, write_csv
from adversarium.report.site.drawing import FigureFiles
from adversarium.report.site.experiment import flat
from adversarium.report.site.results import mean_text
from adversarium.report.written import digest
from adversarium.runs.audit import planned_jobs
from adversarium.runs.differences import shown as value_text
from adversarium.runs.store import Store

_COLUMNS = 6  # largest number of columns of quantities, and also of changed fields


@dataclass(frozen=True)
class ChangedRun:
    """A stored run that is not in the plan of its experiment at any preset."""

    experiment: str
    differs: Mapping[str, tuple[Any, Any]]  # field → (value of the nearest published run, value)
    seeds: tuple[int, ...]
    numbers: Mapping[str, np.ndarray]  # name → last values, one per seed
    shares: frozenset[str] = frozenset()  # the quantities that are shares

    def values(self, paths: Sequence[str]) -> list[Any]:
        """Return the values of some changed fields."""
        return [self.differs[path][1] for path in paths]


def changed_page(store: Store) -> tuple[str, list[FigureFiles]]:
    """Return the page, which has one table per set of changed fields, and its figures."""
    groups: dict[tuple[str, tuple[str, ...]], list[ChangedRun]] = {}
    for run in changed_runs(store):
        groups.setdefault((run.experiment, tuple(run.differs)), []).append(run)
    values = [_group(experiment, paths, runs) for (experiment, paths), runs in groups.items()]
    count = sum(map(len, groups.values()))
    page = render("changed.html", title="Changed runs", up="", count=count, groups=values)
    return page, [group["figure"] for group in values if group["figure"] is not None]


def changed_runs(store: Store) -> list[ChangedRun]:
    """Return the stored runs that are not in the plan of their experiment at any preset."""
    stored = list(store.runs())
    published = {id: _published(id) for id in dict.fromkeys(id for _, id, _ in stored)}
    known = {key for plans in published.values() for key in plans}
    changed = []
    for key, id, config in stored:
        plans = published[id]
        if key in known or not plans or config in plans.values():
            continue
        seeds = tuple(sorted(store.seeds(key)))
        arrays = store.arrays(key, seeds)
        series = {name: one for by_name in arrays.values() for name, one in by_name.items()}
        numbers = {name: one.last() for name, one in series.items() if not one.axes}
        changed.append(ChangedRun(id, _differences(config, plans), seeds, numbers, _shares(id)))
    return changed


def _published(id: str) -> dict[str, object]:
    """Return the configurations of an experiment's planned runs by key; empty if the experiment is
    not available, or if its user file can no longer be read."""
    path = user_file(id)
    if not (id in experiments() if path is None else path.is_file()):
        return {}
    try:
        experiment = load(id)
    except ValueError:
        if path is None:
            raise
        return {}
    jobs = [job for preset in experiment.presets for job in planned_jobs(experiment, preset)]
    return {job.key: job.task.dynamics for job in jobs}


@cache
def _shares(id: str) -> frozenset[str]:
    """Return the quantities of an experiment that its probes declare to be shares."""
    experiment = load(id)
    tasks = (task for preset in experiment.presets for task in experiment.tasks(preset))
    return frozenset(name for task in tasks for name in shares(task))


def _differences(config: object, plans: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """Return the fields that differ from the published run from which the fewest fields differ."""
    changed = flat(config)

    def fields(published: Json) -> dict[str, tuple[object, object]]:
        pairs = {p: (published.get(p), changed.get(p)) for p in (*published, *changed)}
        return {path: (was, now) for path, (was, now) in pairs.items() if was != now}

    return min((fields(flat(plan)) for plan in plans.values()), key=len)


def _group(experiment: str, paths: Sequence[str], runs: Sequence[ChangedRun]) -> Json:
    """Return the table and the figure of runs in which the same fields were changed."""
    names = _names(runs)[:_COLUMNS]
    fields = list(paths)[:_COLUMNS]
    published = (f"{p} (published {value_text(runs[0].differs[p][0])})" for p in fields)
    return {
        "experiment": experiment,
        "paths": fields,
        "more": len(paths) - len(fields),
        "figure": _figure(experiment, paths, runs),
        "header": [*published, "seeds", *names],
        "lines": [
            (
                [value_text(value) for value in run.values(fields)],
                len(run.seeds),
                [mean_text(run.numbers.get(name), 0, name in run.shares) for name in names],
            )
            for run in sorted(runs, key=lambda run: [_order(v) for v in run.values(fields)])
        ],
    }


def _names(runs: Sequence[ChangedRun]) -> list[str]:
    """Return the names of quantities: first those that vary among the runs, last `step of …`."""
    names = dict.fromkeys(name for run in runs for name in run.numbers)

    def rank(name: str) -> tuple[bool, bool]:
        means = {float(run.numbers[name].mean()) for run in runs if name in run.numbers}
        return name.startswith("step of"), len(means) == 1

    return sorted(names, key=rank)


def _order(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, (int, float))
    return not is_number, float(value) if is_number else 0.0, str(value)


def _figure(
    experiment: str, paths: Sequence[str], runs: Sequence[ChangedRun]
) -> FigureFiles | None:
    """Return the figure of runs with one changed number, or two positive ones; else None."""
    names = [name for name in _names(runs) if all(name in run.numbers for run in runs)]
    at = np.array([[_real(value) for value in run.values(paths)] for run in runs])
    is_plane = len(paths) == 2 and bool((at > 0).all())
    if not names or len(runs) < 3 or not np.isfinite(at).all() or not (len(paths) == 1 or is_plane):
        return None
    name = names[0]
    numbers = [mean_and_interval(run.numbers[name]) for run in runs]
    stem = f"figures/changed/{file_name('-'.join((experiment, *paths)))}"
    rows = np.column_stack([at, np.array(numbers)])
    draw = partial(_draw_sweep, stem, experiment, tuple(paths), plain_text(name), rows)
    inputs = digest(repr((name, rows.tolist())))
    return FigureFiles((f"{stem}.svg", f"{stem}.csv"), inputs, draw)


def _real(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")


def _draw_sweep(
    stem: str, experiment: str, paths: tuple[str, ...], name: str, rows: np.ndarray, home: Path
) -> None:
    svg = home / f"{stem}.svg"
    if len(paths) == 1:
        rows = rows[np.argsort(rows[:, 0])]
        x, *numbers = rows.T
        planes.lines(svg, x.tolist(), {f"{name}, changed": np.stack(numbers)}, paths[0])
    else:
        x, y, mean = rows[:, :3].T
        plane = planes.Plane(x, y, mean, (paths[0], paths[1]))
        title = f"{experiment}, changed: {name}"
        save(plane.draw(title, name, None, np.empty((0, 2))), svg)
    write_csv(home / f"{stem}.csv", (*paths, name, "low", "high"), rows.tolist())
