"""Print the output of the commands: a run, the ledger, a sweep."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from adversarium.digest import Json
from adversarium.plans.evidence import Evidence, Rows, Summary
from adversarium.plans.experiment import Experiment
from adversarium.plans.findings import findings
from adversarium.plans.intervals import interval
from adversarium.plans.mathematics import plain_text
from adversarium.plans.places import places
from adversarium.plans.run import Task
from adversarium.plans.shares import clipped, shares
from adversarium.plans.verdict import Verdict
from adversarium.report import tables
from adversarium.report.figures import draw, mean_and_interval
from adversarium.report.figures.numbers import measures
from adversarium.report.figures.style import file_name
from adversarium.report.swept import boundary_numbers
from adversarium.report.symbols import quantity_text
from adversarium.report.verdict_lines import badge, cut, width
from adversarium.report.written import begin, end, refuse_others
from adversarium.runs.audit import claim_of
from adversarium.runs.differences import configured
from adversarium.runs.differences import shown as value_text
from adversarium.runs.ledger import NOT_YET, Entry
from adversarium.runs.ledger_file import committed
from adversarium.runs.planning import Plan
from adversarium.runs.scope import assumptions, decided
from adversarium.runs.sweep import Sweep

if TYPE_CHECKING:
    from adversarium.sockets import Measure

_NUMBERS = 110  # columns of a line with a number and what it is, if the terminal is narrower
_RUNS = 3  # the numbers of more runs are printed only with --long


def print_run(
    plan: Plan, rows: Evidence, folder: Path, under: Evidence | None, long: bool = False
) -> None:
    """Print the runs with their configurations and last values, and the verdicts; draw the figures
    into the folder. `under` are the rows of the published runs to compare with, if any. Of more
    than three runs, only `long` prints the numbers."""
    experiment, complete = plan.experiment, len(rows) == len(plan.jobs)
    mark = f" (changed: {plan.mark}; excluded from the ledger)" if plan.changes else ""
    print(f"{experiment.id}: {experiment.title}{mark}")
    for note in plan.notes:
        print(f"  {note}")
    comparable = under is not None and complete and len(under) == len(rows)
    pairs = zip(rows, under, strict=True) if under is not None and comparable else ()
    published = {run.label: below for run, below in pairs}
    by_label = {run.label: run for run in rows}
    brief = len(plan.jobs) > _RUNS and not long and not published
    for i, job in enumerate(plan.jobs):
        if (run := by_label.get(job.task.label)) and not brief:
            lines = [
                *configuration_lines(job.task, plan.changed(i)),
                *_assumption_lines(assumptions(plan.experiment, job.task)),
            ]
            _print_rows(run, lines, published.get(run.label))
    if brief:
        seeds = max((len(run.seeds) for run in rows), default=0)
        print(f"  {len(rows)} runs of {seeds} seeds; --long prints all of their numbers")
    known = {} if plan.changes else {entry.id: entry for entry in committed()}
    for id in plan.claims:
        lines = _verdict_lines(plan, id, rows, known.get(id)) if complete else [_lost(id)]
        print("\n".join(lines))
    _print_figures(plan, rows, folder, under if complete else None)


def _print_figures(plan: Plan, rows: Evidence, folder: Path, under: Evidence | None) -> None:
    """Draw the figures and print their files; if drawing fails, say so after all numbers."""
    try:
        for file in drawn(plan, rows, folder, under):
            print(f"  {file}")
    except ValueError:
        raise
    except Exception as fault:
        why = " ".join(f"{type(fault).__name__}: {fault}".split())
        raise ValueError(
            f"a figure of {plan.experiment.id} cannot be drawn ({why}); its rows are stored."
        ) from fault


def _lost(id: str) -> str:
    return f"  {badge('undecided')}  {id}: a run failed"


def _verdict(plan: Plan, id: str, rows: Evidence) -> Verdict:
    """Return the verdict of a claim on the rows of a plan, as in an audit."""
    experiment = plan.experiment
    return decided(experiment, claim_of(experiment, id), experiment.checks[id], rows)


def judgements(plan: Plan, rows: Evidence) -> list[dict[str, object]]:
    """Return the verdicts of a plan's claims as JSON; empty if a run failed."""
    if len(rows) != len(plan.jobs):
        return []
    verdicts = {id: _verdict(plan, id, rows) for id in plan.claims}
    return [
        {
            "id": id,
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "changed": bool(plan.changes),
            "measured": [
                {"name": m.name, "mean": m.mean, "low": m.low, "high": m.high}
                for m in verdict.measured
            ],
        }
        for id, verdict in verdicts.items()
    ]


def _verdict_lines(plan: Plan, id: str, rows: Evidence, known: Entry | None) -> list[str]:
    """Describe the verdict of a claim: with its finding if it is that of the ledger, else with its
    first quantities, its reason and the verdict of the ledger."""
    verdict = _verdict(plan, id, rows)
    lines = [f"  {badge(verdict.verdict)}  {id}"]
    own = _finding(id, verdict) if known is not None and known.preset == plan.preset else ""
    if own:
        return lines + _indented(own)
    parts = (*_first_numbers(verdict.measured, 3), quantity_text(verdict.reason))
    lines += _indented("; ".join(part for part in parts if part))
    if known is not None and known.verdict == verdict.verdict:
        lines += _indented(f"published: {known.finding}" if known.finding else "")
    elif known is not None and known.verdict != NOT_YET:
        decides = f"adversarium verify {id} --preset {known.preset or 'paper'} decides it"
        lines += _indented(f"published: {badge(known.verdict)}; {decides}")
        lines += _indented(known.finding)
    return lines


def _finding(id: str, verdict: Verdict) -> str:
    """Return the finding of a claim with the numbers of this verdict; empty if it was written for
    another verdict or names a quantity that was not measured."""
    written = findings(id.partition(".")[0]).get(id)
    if written is None or written.verdict != verdict.verdict:
        return ""
    numbers = written.numbers(verdict.measured)
    return written.filled(numbers) if numbers is not None else ""


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, width(), initial_indent="      ", subsequent_indent="      ")


def _first_numbers(measured: Sequence[Summary], most: int) -> list[str]:
    """Return the first quantities with their intervals, and how many more there are."""
    lines = [f"{quantity_text(m.name)}: {tables.with_interval(m)}" for m in measured[:most]]
    return [*lines, f"and {len(measured) - most} more"] if len(measured) > most else lines


def drawn(
    plan: Plan,
    rows: Evidence,
    folder: Path,
    under: Evidence | None = None,
    formats: Sequence[str] = ("svg",),
) -> list[Path]:
    """Draw the figures of an experiment into a folder and return the files. The title of a figure
    of changed runs names the changes."""
    names = figure_files(plan.experiment, formats)
    refuse_others(folder, names)
    begin(folder, names)
    files = []
    for figure in plan.experiment.figures:
        if plan.changes:
            title = "\n".join(part for part in (figure.title, f"changed: {plan.mark}") if part)
            figure = replace(figure, title=title)
        files += draw(figure, rows, folder, under, formats)
    end(folder)
    return files


def figure_files(experiment: Experiment, formats: Sequence[str] = ("svg",)) -> list[str]:
    """Return the names of all files that the figures of an experiment can have."""
    stems = (file_name(figure.name) for figure in experiment.figures)
    return [f"{stem}.{form}" for stem in stems for form in ("csv", *formats)]


def configuration_lines(task: Task, changed: Mapping[str, tuple[object, object]]) -> list[str]:
    """Return the configuration of a task, every part with every field, and its changed fields."""
    texts = [f"{path} {value_text(a)} → {value_text(b)}" for path, (a, b) in changed.items()]
    return [*configured(task), *([f"changed: {', '.join(texts)}"] if texts else [])]


def _assumption_lines(gates: Sequence[Json]) -> list[str]:
    """Describe how many hypotheses a run satisfies, and which it does not (--dry-run lists all)."""
    required = [gate for gate in gates if "required" in gate["told"]]
    failed = [gate["told"].rpartition(":")[0] for gate in required if not gate["holds"]]
    if not required:
        return []
    text = f"assumptions: {len(required) - len(failed)} of {len(required)} met"
    return [f"{text}; not met: {'; '.join(failed)}" if failed else text]


def _print_rows(run: Rows, lines: Sequence[str], published: Rows | None) -> None:
    """Print the last values of a run, each with its symbol and what it is in a few words."""
    seeds = len(run.seeds)
    print(f"  {run.label or 'run'}, {seeds} seeds, last values [99 % interval of the mean]")
    for line in lines:
        print(f"    {line}")
    known, about = shares(run.task), measures(run)
    for name, series in run.series.items():
        below = published.series.get(name) if published is not None else None
        before = dict(places(below)) if below is not None else {}
        for place, values in places(series):
            mean, *ends = mean_and_interval(values, run.points(name))
            low, high = clipped(*ends) if name in known else ends
            _print_number(name + place, mean, low, high, _meaning(name, about))
            if place in before:  # paired by seed
                gap = values - before[place]
                _print_number("  minus published", float(gap.mean()), *interval(gap))


def _meaning(name: str, about: "Mapping[str, Measure]") -> str:
    """Return the symbol of a quantity and the first sentence about it."""
    measure = about.get(name)
    if measure is None:
        return ""
    sentence = plain_text(measure.sentence).partition(". ")[0].rstrip(".")
    return sentence or plain_text(measure.symbol)


def _print_number(name: str, mean: float, low: float, high: float, words: str = "") -> None:
    ends = f"[{tables.number(low)}, {tables.number(high)}]"
    text = f"    {name:<34} {tables.number(mean):>10}  {ends:<19}  {words}".rstrip()
    print(cut(text, max(width(), _NUMBERS)))


def print_sweep(sweep: Sweep, others: Sequence[str] = ()) -> None:
    """Print one line per cell, and the boundary if one was fitted. If no cell has a measured value,
    list the other claims that could be checked."""
    print(f"{sweep.experiment.id}, every cell judged by {sweep.watched}")
    for cell in sweep.cells:
        at = ", ".join(f"{a.name}={a.word(cell.set[a.name])}" for a in sweep.axes)
        number = cell.measured
        text = f"{number.name}: {tables.with_interval(number)}" if number is not None else ""
        if len(cell.numbers) > 1:
            text += f" and {len(cell.numbers) - 1} more"
        print(f"{at:<40} {cell.verdict:<10} {'; '.join(filter(None, (text, cell.reason)))}")
    others = [id for id in others if id != sweep.watched]
    if others and all(c.measured is None or c.measured.mean is None for c in sweep.cells):
        listed = ", ".join(others)
        print(f"no cell has a number for {sweep.watched}; choose another --claim: {listed}")
    boundary = boundary_numbers(sweep)
    if boundary is None:
        return
    parts = {
        name: f"{q['mean']:.2f} [{q['low']:.2f}, {q['high']:.2f}]" for name, q in boundary.items()
    }
    text = f"fitted boundary: power {parts['power']}"
    if "factor" in parts:
        text += f"; off the predicted boundary by a factor of {parts['factor']}"
    print(text)
