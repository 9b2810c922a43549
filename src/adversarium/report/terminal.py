"""Print the output of the commands: a run, the ledger, a sweep."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from adversarium.digest import Json
from adversarium.plans.evidence import Evidence, Rows, Summary
from adversarium.plans.experiment import Experiment
from adversarium.plans.intervals import interval
from adversarium.plans.places import places
from adversarium.plans.run import Task
from adversarium.plans.shares import clipped, shares
from adversarium.plans.verdict import Verdict
from adversarium.report import tables
from adversarium.report.figures import draw, mean_and_interval
from adversarium.report.figures.style import file_name
from adversarium.report.swept import boundary_numbers
from adversarium.report.written import begin, end, refuse_others
from adversarium.runs.audit import claim_of
from adversarium.runs.differences import configured
from adversarium.runs.differences import shown as value_text
from adversarium.runs.ledger import NOT_YET, Entry, Ledger
from adversarium.runs.ledger_file import committed
from adversarium.runs.planning import Plan
from adversarium.runs.scope import assumptions, decided
from adversarium.runs.sweep import Sweep

_STYLES = {
    "holds": "blue",
    "fails": "bold red",
    "mixed": "magenta",
    "undecided": "yellow",
    "not testable": "dim",
    "setting": "dim",
}


def print_run(plan: Plan, rows: Evidence, folder: Path, under: Evidence | None) -> None:
    """Print every run with its configuration and last values, and the verdicts; draw the figures
    into the folder. `under` are the rows of the published runs to compare with, if any."""
    experiment, complete = plan.experiment, len(rows) == len(plan.jobs)
    mark = f" (changed: {plan.mark}; excluded from the ledger)" if plan.changes else ""
    print(f"{experiment.id}: {experiment.title}{mark}")
    for note in plan.notes:
        print(f"  {note}")
    comparable = under is not None and complete and len(under) == len(rows)
    pairs = zip(rows, under, strict=True) if under is not None and comparable else ()
    published = {run.label: below for run, below in pairs}
    by_label = {run.label: run for run in rows}
    for i, job in enumerate(plan.jobs):
        if run := by_label.get(job.task.label):
            lines = [
                *configuration_lines(job.task, plan.changed(i)),
                *_assumption_lines(assumptions(plan.experiment, job.task)),
            ]
            _print_rows(run, lines, published.get(run.label))
    known = {} if plan.changes else {entry.id: entry.verdict for entry in committed()}
    for id in plan.claims:
        text = "undecided, a run failed"
        print(f"  {id}: {_verdict_text(plan, id, rows, known.get(id)) if complete else text}")
    for file in drawn(plan, rows, folder, under if complete else None):
        print(f"  {file}")


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


def _verdict_text(plan: Plan, id: str, rows: Evidence, known: str | None) -> str:
    """Describe the verdict of a claim with its first quantities and its reason, and add the verdict
    of the ledger if it differs."""
    verdict = _verdict(plan, id, rows)
    other = ""
    if known not in (None, NOT_YET, verdict.verdict):
        other = f"the ledger says {known}, for its sizes and seeds"
    parts = (verdict.verdict, other, *_first_numbers(verdict.measured, 3), verdict.reason)
    return "; ".join(part for part in parts if part)


def _first_numbers(measured: Sequence[Summary], most: int) -> list[str]:
    """Return the first quantities with their intervals, and how many more there are."""
    lines = [f"{m.name}: {tables.with_interval(m)}" for m in measured[:most]]
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
    seeds = len(run.seeds)
    print(f"  {run.label or 'run'}, {seeds} seeds, last values [99 % interval of the mean]")
    for line in lines:
        print(f"    {line}")
    known = shares(run.task)
    for name, series in run.series.items():
        below = published.series.get(name) if published is not None else None
        before = dict(places(below)) if below is not None else {}
        for place, values in places(series):
            mean, *ends = mean_and_interval(values, run.points(name))
            _print_number(name + place, mean, *(clipped(*ends) if name in known else ends))
            if place in before:  # paired by seed
                gap = values - before[place]
                _print_number("  minus published", float(gap.mean()), *interval(gap))


def _print_number(name: str, mean: float, low: float, high: float) -> None:
    ends = f"[{tables.number(low)}, {tables.number(high)}]"
    print(f"    {name:<34} {tables.number(mean):>10}  {ends}")


def print_ledger(ledger: Ledger, named: bool) -> None:
    """Print the ledger as a table, and the counts by paper."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    table = Table("claim", "verdict", "measured [99 %]", "accepted", "seeds", "s", show_lines=False)
    for e in ledger.claims:
        if e.verdict == NOT_YET and (not named or len(ledger.claims) > 20):
            continue
        table.add_row(
            e.id,
            Text(e.verdict, _STYLES.get(e.verdict, "dim")),
            Text(_summary(e)),
            tables.expected_range(e),
            str(e.seeds or ""),
            tables.number(e.seconds),
        )
    if table.row_count:
        console.print(table)
    counts = Table("paper", *tables.WORDS)
    papers = {e.paper for e in ledger.claims}
    for key, _, *numbers in tables.summary(ledger.claims):
        if key.lower() in papers or key in papers:
            counts.add_row(key, *numbers)
    console.print(counts)
    seed_dependent, wrong = tables.expected_errors(ledger.claims)
    if seed_dependent:
        depend = "verdicts depend" if seed_dependent > 1 else "verdict depends"
        print(f"{seed_dependent} {depend} on random seeds; at most {wrong:.2g} of them are "
              "expected to be wrong.")  # fmt: skip
    cpu, cores = ledger.machine["cpu"], ledger.machine["cores"]
    print(f"{ledger.seconds:.1f} s on {cpu}, {cores} cores")


def _summary(e: Entry) -> str:
    """Return the first four quantities of an entry, its reason, and the ranges of its evidence."""
    lines = _first_numbers(e.measured, 4)
    lines += [e.reason] if e.reason else []
    if e.verdict == "mixed":
        lines += [f"{part.name}: {part.outcome}" for part in e.parts]
    if spanned := tables.spanned(e):
        lines.append(f"spans {spanned}")
    return "\n".join(lines)


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
