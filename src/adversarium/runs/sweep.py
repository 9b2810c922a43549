"""Sweep a grid of changed runs, refine it where the outcome changes, and fit the boundary there."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np

from adversarium.digest import digest
from adversarium.plans.boundary import Boundary, crossings, fit
from adversarium.plans.evidence import Evidence, Quantity, Summary, summary
from adversarium.plans.experiment import Experiment
from adversarium.plans.figures import Switch
from adversarium.plans.papers import claims
from adversarium.plans.run import Task
from adversarium.plans.verdict import Why
from adversarium.plans.wording import counted
from adversarium.runs.audit import AuditOptions, Report, needed, run_missing
from adversarium.runs.axes import Axis, cells, refined
from adversarium.runs.changes import planned
from adversarium.runs.jobs import Job, resolve
from adversarium.runs.reader import Reader, evidence
from adversarium.runs.scope import judged


@dataclass(frozen=True)
class Cell:
    """One cell of a sweep: its changes, its outcome, and the tasks that it ran."""

    set: Mapping[str, Any]
    verdict: str  # a verdict, a side of the switch, or "failed"
    reason: str = ""
    measured: Summary | None = None  # the decisive quantity
    numbers: tuple[Summary, ...] = field(default=(), repr=False)
    tasks: tuple[Task, ...] = field(default=(), repr=False)
    keys: tuple[str, ...] = field(default=(), repr=False)  # under which their rows are stored


@dataclass(frozen=True)
class Sweep:
    """A finished sweep: its axes, the claim or switch that judges every cell, the cells, the
    failures, and the fitted and predicted boundary if the experiment has a switch."""

    experiment: Experiment
    axes: tuple[Axis, ...]
    zipped: bool
    watched: str
    cells: tuple[Cell, ...]
    failures: tuple[str, ...] = ()
    boundary: Boundary | None = None
    theorem: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))

    @property
    def outcome(self) -> str:
        """Return a digest of the keys of all runs and of the verdicts and values of all cells."""
        cells = [(c.keys, c.verdict, c.reason, [astuple(one) for one in c.numbers])
                for c in self.cells]  # fmt: skip
        return digest(cells)

    @property
    def positive(self) -> bool:
        """Return whether the axes have only positive numbers as values."""
        places = (v for cell in self.cells for v in cell.set.values())
        return all(isinstance(v, (int, float)) and v > 0 for v in places)


def watched_by(experiment: Experiment, id: str, claim: str, preset: str = "quick") -> str:
    """Return what judges every cell: the named claim, else the quantity of the experiment's switch,
    else the first claim whose runs the preset has."""
    known = {c.lower(): c for c in experiment.checks}
    alias = {c.id.lower(): c.alias_of for c in claims().values() if c.alias_of in known.values()}
    named = known.get(id.lower()) or alias.get(id.lower())
    if not claim and named is None and experiment.switch is not None:
        return str(experiment.switch.probe)
    if not experiment.checks:
        raise ValueError(f"a sweep needs an experiment with a claim; {experiment.id} has none.")
    known_here = with_runs(experiment, preset) if not (claim or named) else []
    watched = claim or named or (known_here or list(experiment.checks))[0]
    if watched not in experiment.checks:
        raise ValueError(
            f"{experiment.id} has no claim {watched!r}; it has {', '.join(experiment.checks)}."
        )
    return watched


def with_runs(experiment: Experiment, preset: str) -> list[str]:
    """Return the claims whose runs a preset has."""
    tasks = experiment.tasks(preset)
    return [
        id
        for id, check in experiment.checks.items()
        if all(any(need.where.meets(task) for task in tasks) for need in check.needs)
    ]


@dataclass(frozen=True)
class Grid:
    """The grid of a sweep: its axes, what judges every cell, the fixed changes, and the options."""

    axes: tuple[Axis, ...]
    watched: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    zipped: bool = False
    rounds: int = 0  # how often cells are added halfway between neighbours that differ


def grid_jobs(
    experiment: Experiment, grid: Grid, preset: str, new: Sequence[Mapping[str, object]]
) -> list[tuple[list[Job], str]]:
    """Return the jobs of every cell, or the reason why it has none. Raise if no cell has any."""
    plans = [_planned(experiment, preset, grid, cell) for cell in new]
    if plans and all(fault for _, fault in plans):
        raise ValueError(plans[0][1])
    return plans


def sweep(
    experiment: Experiment,
    grid: Grid,
    reader: Reader,
    options: AuditOptions,
    report: Report | None = None,
) -> Sweep:
    """Run a grid, and in further rounds the cells halfway between neighbours that differ. For a
    claim, a cell trains and records only what the check of this claim needs."""
    axes, watched, zipped, rounds = grid.axes, grid.watched, grid.zipped, grid.rounds
    seeds = options.chosen(experiment)
    new = cells(axes, zipped)
    made: list[Cell] = []
    failures: list[str] = []
    for turn in range(rounds + 1):
        plans = (
            [_planned(experiment, options.preset, grid, cell) for cell in new]
            if made
            else grid_jobs(experiment, grid, options.preset, new)
        )
        jobs = [job for cell_jobs, _ in plans for job in cell_jobs]
        what = counted(len(new), "cell") + (f", round {turn} of {rounds}" if turn else "")
        failures += run_missing(experiment, jobs, seeds, reader, options, _titled(report, what))
        for place, (cell_jobs, fault) in zip(new, plans, strict=True):
            made.append(_judged(experiment, watched, place, reader, cell_jobs, seeds, fault))
        failures += [fault for _, fault in plans if fault]
        points, words = [dict(c.set) for c in made], [c.verdict for c in made]
        new = refined(axes, points, words) if rounds else []
        if not new:
            break
    whole = Sweep(experiment, tuple(axes), zipped, watched, tuple(made), tuple(failures))
    if len(axes) == 2 and not zipped and whole.positive and watched not in experiment.checks:
        boundary, theorem = _boundary(axes, experiment.switch, made)
        return replace(whole, boundary=boundary, theorem=theorem)
    return whole


def _titled(report: Report | None, what: str) -> Report | None:
    if report is None:
        return None
    return lambda w, done, whole: report(f"{what}: {w}", done, whole)


def _planned(
    experiment: Experiment, preset: str, grid: Grid, cell: Mapping[str, object]
) -> tuple[list[Job], str]:
    """Return the jobs of a cell, or the reason why there are none."""
    changes, watched = {**grid.fixed, **cell}, grid.watched
    try:
        tasks: Sequence[Task] = planned(experiment, preset, changes)
        if watched in experiment.checks:
            tasks = needed(tasks, experiment.checks[watched].needs)
            if not tasks:
                raise ValueError(
                    f"{watched} needs runs that the preset {preset} does not have; try --preset "
                    "paper, or choose another claim with --claim."
                )
    except ValueError as fault:
        at = ", ".join(f"{k}={v}" for k, v in changes.items())
        return [], f"{at}: {fault}"
    if watched not in experiment.checks and len(tasks) > 1:
        raise ValueError(
            f"a cell of a sweep needs one run, but here it has {len(tasks)} ({tasks[0].label}; "
            f"{tasks[1].label}; …); fix the varying parameters with --set or --over."
        )
    return [resolve(task) for task in tasks], ""


def _judged(
    experiment: Experiment,
    watched: str,
    place: Mapping[str, object],
    reader: Reader,
    jobs: Sequence[Job],
    seeds: Sequence[int],
    fault: str,
) -> Cell:
    tasks, keys = tuple(job.task for job in jobs), tuple(job.key for job in jobs)
    rows = evidence(reader, jobs, seeds) if not fault else None
    if rows is None:
        reasons = [reader.store.why(job.key) for job in jobs]
        why = fault or "; ".join(r for r in reasons if r) or "a run failed"
        return Cell(place, "failed", why, tasks=tasks, keys=keys)
    if watched not in experiment.checks:
        return _side(experiment.switch, rows, Cell(place, "undecided", tasks=tasks, keys=keys))
    try:
        verdict = judged(experiment.checks[watched], rows)
    except KeyError as lacking:
        return Cell(place, "undecided", f"{Why.REGIME}: {lacking}", tasks=tasks, keys=keys)
    made = verdict.measured
    shown = next((one for one in made if _outside(one)), made[0] if made else None)
    return Cell(place, verdict.verdict, verdict.reason, shown, made, tasks, keys)


def _outside(one: Summary) -> bool:
    """Return whether the interval of a quantity is not within its accepted range."""
    if one.wanted is None or one.low is None or one.high is None:
        return False
    low, high = one.wanted
    return (low is not None and one.low < low) or (high is not None and one.high > high)


def _side(switch: Switch, rows: Evidence, cell: Cell) -> Cell:
    """Return the cell with the verdict “above” or “below” the switch's level if the 99 % interval
    of the run does not contain this level, else “undecided”."""
    values = next(run.last(switch.probe) for run in rows if switch.probe in run.series)
    made = summary(Quantity(switch.name or switch.probe, lambda _: values), values)
    word = "undecided"
    if made.low is not None and made.high is not None:
        above, below = made.low > switch.above, made.high < switch.above
        word = "above" if above else "below" if below else "undecided"
    reason = "" if word != "undecided" else f"the interval contains {switch.above:g}"
    return replace(cell, verdict=word, reason=reason, measured=made, numbers=(made,))


def _boundary(
    axes: Sequence[Axis], switch: Switch | None, made: Sequence[Cell]
) -> tuple[Boundary | None, np.ndarray]:
    """Return the fitted boundary of a switch, and points of the boundary that it predicts."""
    none = np.empty((0, 2))
    good = [cell for cell in made if cell.measured is not None]
    if switch is None or not good:
        return None, none
    x, y = (np.array([float(cell.set[a.name]) for cell in good]) for a in axes)
    values = [[np.nan if v is None else v for v in c.measured.values] for c in good if c.measured]
    line = fit(x, y, np.array(values, dtype=float), switch.above)
    if switch.predicted is None:
        return line, none
    margins = np.array([switch.predicted(cell.tasks[0]) for cell in good])
    return line, crossings(x, y, margins)
