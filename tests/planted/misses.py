"""Near misses: if one quantity of the stored rows is wrong by a factor, a verdict must change.
Nothing is trained: the shipped rows are judged both unchanged and distorted."""

import tempfile
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from adversarium.plans.evidence import Evidence, Rows, Series
from adversarium.plans.loading import load
from adversarium.plans.papers import claims
from adversarium.plans.rules import Check
from adversarium.plans.run import Read, Task
from adversarium.plans.verdict import Outcome
from adversarium.runs.audit import needed, planned_jobs
from adversarium.runs.reader import Reader, evidence
from adversarium.runs.scope import judged
from adversarium.runs.store import Store

JUDGED = (Outcome.HOLDS, Outcome.FAILS, Outcome.MIXED)


def _size(*paths: str) -> Callable[[Task], float]:
    """Return a function that reads the first field that a task has; it returns 1 if there is
    none."""

    def of(task: Task) -> float:
        for path in paths:
            try:
                return float(Read(path).of(task))  # type: ignore[arg-type]
            except (AttributeError, KeyError, TypeError, ValueError):
                continue
        return 1.0

    return of


_n, _d = _size("n", "N", "counts"), _size("data.d", "d", "D")

MISSES: dict[str, Callable[[Task], float]] = {
    "a tenth too much": lambda task: 1.1,
    "half": lambda task: 0.5,
    "twice": lambda task: 2.0,
    "the other sign": lambda task: -1.0,
    "√N lost": lambda task: _n(task) ** -0.5,
    "√N too much": lambda task: _n(task) ** 0.5,
    "√d lost": lambda task: _d(task) ** -0.5,
    "√d too much": lambda task: _d(task) ** 0.5,
    "N lost": lambda task: 1 / _n(task),
    "N too much": _n,
}


@dataclass(frozen=True)
class Miss:
    """A claim, the quantity that is distorted, and how."""

    claim: str
    number: str
    how: str


def distorted(rows: Evidence, number: str, how: str) -> Evidence:
    """Return the rows with one quantity distorted."""
    return replace(rows, runs=tuple(_off(run, number, how) for run in rows))


def _off(run: Rows, number: str, how: str) -> Rows:
    if number not in run.series:
        return run
    was = run.series[number]
    off = Series(was.t, was.values * MISSES[how](run.task), was.axes)
    return Rows(run.task, run.seeds, {**run.series, number: off})


def stored(id: str) -> tuple[Check, Evidence] | None:
    """Return a claim's check and the shipped rows; None if some are missing."""
    experiment = load(claims()[id].experiment)
    check = experiment.checks[id]
    preset = "paper" if "paper" in experiment.presets else "quick"
    jobs = [
        replace(job, task=task)
        for job in planned_jobs(experiment, preset)
        for task in needed([job.task], check.needs)
    ]
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Store(Path(folder) / "none.sqlite"), experiment.id)
        rows = evidence(reader, jobs, tuple(range(experiment.seeds(preset)))) if jobs else None
    return None if rows is None else (check, rows)


def word(check: Check, rows: Evidence) -> Outcome | None:
    """Return the verdict as text; None if the distorted quantity cannot be judged at all."""
    try:
        return judged(check, rows).outcome
    except (ValueError, ZeroDivisionError, FloatingPointError, ArithmeticError):
        return None


def turned(miss: Miss) -> bool:
    """Return whether a near miss changes the verdict of its claim."""
    known = stored(miss.claim)
    if known is None:
        return False
    return turned_by(*known, miss.number, miss.how)


def found(id: str) -> Miss | None:
    """Return the first distortion in `MISSES` that changes a claim's verdict; None if there is
    none."""
    known = stored(id)
    if known is None or word(*known) not in JUDGED:
        return None
    check, rows = known
    names = dict.fromkeys(name for run in rows for name in run.series)
    for how in MISSES:
        for name in names:
            if turned_by(check, rows, name, how):
                return Miss(id, name, how)
    return None


def turned_by(check: Check, rows: Evidence, name: str, how: str) -> bool:
    """Return whether one distortion changes the verdict of a check."""
    off = word(check, distorted(rows, name, how))
    return off is not None and off != word(check, rows)


def near_misses(
    judged: Iterable[str], known: Iterable[Miss], settled: Container[str]
) -> Iterator[Miss]:
    """Yield a near miss for every judged claim that has one: a known one, or, unless the claim is
    settled (a planted bug changes it), one that is searched for."""
    listed = {miss.claim: miss for miss in known}
    for id in judged:
        miss = listed.get(id) or (None if id in settled else found(id))
        if miss is not None:
            yield miss
