"""Changed runs and sweeps of the store: what was changed, beside the published setting."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.plans.catalogue import experiments, load, own_file
from adversarium.plans.evidence import Series
from adversarium.plans.shares import clipped, shares
from adversarium.report.figures import mean_and_interval, planes
from adversarium.report.figures.style import file_name, save, write_csv
from adversarium.report.mathematics import plain
from adversarium.report.site.experiment import flat
from adversarium.report.site.folder import Drawn, digest
from adversarium.report.site.parts import cell, escape, page, table
from adversarium.report.site.stored import LINES, told
from adversarium.report.tables import number
from adversarium.runs.audit import planned_jobs
from adversarium.runs.store import Store

_COLUMNS = 6  # of numbers, and of changed fields


@dataclass(frozen=True)
class Changed:
    """A run that is in no plan: its experiment, what differs from the nearest published run (path →
    published, changed), its seeds, its last numbers, and which of them are shares."""

    experiment: str
    differs: Mapping[str, tuple[Any, Any]]
    seeds: tuple[int, ...]
    numbers: Mapping[str, np.ndarray]  # a name → one value a seed
    shares: frozenset[str] = frozenset()


def changed_page(store: Store) -> tuple[str, list[Drawn]]:
    """The page, a table a set of changed fields, and its pictures."""
    groups: dict[tuple[str, tuple[str, ...]], list[Changed]] = {}
    for run in changed_runs(store):
        groups.setdefault((run.experiment, tuple(run.differs)), []).append(run)
    parts, drawn = [], []
    for (experiment, paths), runs in groups.items():
        picture = _picture(experiment, paths, runs)
        parts.append(_section(experiment, paths, runs, picture))
        drawn += [picture] if picture is not None else []
    count = sum(map(len, groups.values()))
    told = (
        f"<p>{count} runs of this store are in no experiment as published: somebody turned a knob, "
        "swapped a part or swept an axis. They are marked changed and never enter the ledger.</p>"
        if count
        else "<p>No run of this store was changed.</p>"
    )
    return page("Changed runs", told + "".join(parts)), drawn


def changed_runs(store: Store) -> list[Changed]:
    """The runs of the store that no plan of their experiment asks for."""
    there = list(store.runs())
    published = {id: _published(id) for id in dict.fromkeys(id for _, id, _ in there)}
    known = {key for plans in published.values() for key in plans}
    made = []
    for key, id, config in there:
        plans = published[id]
        if key in known or not plans or config in plans.values():
            continue
        seeds = tuple(sorted(store.seeds(key)))
        arrays = store.arrays(key, seeds)
        series = {name: one for by_name in arrays.values() for name, one in by_name.items()}
        made.append(Changed(id, _nearest(config, plans), seeds, _last(series), _shares(id)))
    return made


def _published(id: str) -> dict[str, Any]:
    """The configurations of an experiment's plans by key; none where it is not at hand, or an own
    file cannot be read any more."""
    path = own_file(id)
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
    """The numbers that the probes of an experiment call shares."""
    experiment = load(id)
    tasks = (task for preset in experiment.presets for task in experiment.tasks(preset))
    return frozenset(name for task in tasks for name in shares(task))


def _nearest(config: Any, plans: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What differs from that published run from which the fewest fields do."""
    mine = flat(config)
    return min((_differences(flat(plan), mine) for plan in plans.values()), key=len)


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {
        path: (one.get(path), other.get(path))
        for path in dict.fromkeys((*one, *other))
        if one.get(path) != other.get(path)
    }


def _last(series: Mapping[str, Series]) -> dict[str, np.ndarray]:
    """The last values of the numbers without axes."""
    return {name: one.last() for name, one in series.items() if not one.axes}


def _section(
    experiment: str, paths: Sequence[str], runs: Sequence[Changed], picture: Drawn | None
) -> str:
    names = _names(runs)[:_COLUMNS]
    shown = list(paths)[:_COLUMNS]
    header = [*(f"{p} (published {told(runs[0].differs[p][0])})" for p in shown), "seeds", *names]
    lines = [
        [
            *(cell(escape(told(run.differs[path][1]))) for path in shown),
            cell(str(len(run.seeds)), "n"),
            *(_number(run.numbers.get(name), name in run.shares) for name in names),
        ]
        for run in sorted(runs, key=lambda run: [_order(run.differs[p][1]) for p in shown])[:LINES]
    ]
    more = len(paths) - len(shown)
    what = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
    rest = f'<p class="soft">the first {LINES} of {len(runs)} runs</p>' * (len(runs) > LINES)
    image = ""
    if picture is not None:
        svg, numbers = picture.paths
        alt = f"{escape(experiment)}, changed"
        image = (
            f'<figure><div class="wide"><img src="{svg}" alt="{alt}"/></div>'
            f'<figcaption><a href="{numbers}">data</a></figcaption></figure>'
        )
    return (
        f'<h2>{escape(experiment)} <span class="word changed">changed</span></h2>'
        f"<p>{escape(what)}</p>{image}{table(header, lines, 'numbers')}{rest}"
    )


def _names(runs: Sequence[Changed]) -> list[str]:
    """The numbers of some runs: first those that differ among them, the steps of extremes last."""
    names = dict.fromkeys(name for run in runs for name in run.numbers)

    def rank(name: str) -> tuple[bool, bool]:
        means = {float(run.numbers[name].mean()) for run in runs if name in run.numbers}
        return name.startswith("step of"), len(means) == 1

    return sorted(names, key=rank)


def _order(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, (int, float))
    return not is_number, float(value) if is_number else 0.0, str(value)


def _number(values: np.ndarray | None, share: bool) -> str:
    if values is None or not len(values):
        return cell("–", "n")
    mean, *around = mean_and_interval(values)
    low, high = clipped(*around) if share else around
    ends = "" if low == high else f' <span class="soft">[{number(low)}, {number(high)}]</span>'
    return cell(number(mean) + ends, "n")


def _picture(experiment: str, paths: Sequence[str], runs: Sequence[Changed]) -> Drawn | None:
    """A sweep along one number, or over a plane of two positive ones, as a picture."""
    names = [name for name in _names(runs) if all(name in run.numbers for run in runs)]
    at = np.array([[_real(run.differs[path][1]) for path in paths] for run in runs])
    draw: Callable[..., None]
    if not names or len(runs) < 3 or not np.isfinite(at).all():
        return None
    if len(paths) == 1:
        draw = _line
    elif len(paths) == 2 and (at > 0).all():
        draw = _plane
    else:
        return None
    name = names[0]
    numbers = [mean_and_interval(run.numbers[name]) for run in runs]
    stem = f"figures/changed/{file_name('-'.join((experiment, *paths)))}"
    rows = np.column_stack([at, np.array(numbers)])
    made = partial(draw, stem, experiment, tuple(paths), plain(name), rows)
    return Drawn((f"{stem}.svg", f"{stem}.csv"), digest(repr((name, rows.tolist())).encode()), made)


def _real(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")


def _line(
    stem: str, experiment: str, paths: tuple[str, ...], name: str, rows: np.ndarray, home: Path
) -> None:
    rows = rows[np.argsort(rows[:, 0])]
    x, mean, low, high = rows.T
    numbers = {f"{name}, changed": np.stack([mean, low, high])}
    planes.lines(home / f"{stem}.svg", x.tolist(), numbers, paths[0])
    write_csv(home / f"{stem}.csv", (*paths, name, "low", "high"), rows.tolist())


def _plane(
    stem: str, experiment: str, paths: tuple[str, ...], name: str, rows: np.ndarray, home: Path
) -> None:
    x, y, mean = rows[:, :3].T
    picture = planes.Plane(x, y, mean, (paths[0], paths[1])).draw(
        f"{experiment}, changed: {name}", name, None, np.empty((0, 2))
    )
    save(picture, home / f"{stem}.svg")
    write_csv(home / f"{stem}.csv", (*paths, name, "low", "high"), rows.tolist())
