"""What the commands print: a run, the ledger, a sweep."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adversarium.plans.evidence import Evidence, Rows
from adversarium.plans.experiment import Experiment
from adversarium.plans.intervals import interval
from adversarium.plans.places import places
from adversarium.plans.rules import Check
from adversarium.plans.run import Task
from adversarium.plans.shares import clipped, shares
from adversarium.plans.verdict import Verdict
from adversarium.report import tables
from adversarium.report.figures import draw, mean_and_interval
from adversarium.report.figures.style import file_name
from adversarium.report.swept import boundary_numbers
from adversarium.report.written import begin, end, refuse_others
from adversarium.runs.audit import claim_of, judged
from adversarium.runs.knobs import configured, shown
from adversarium.runs.ledger import NOT_YET, Entry, Ledger, committed
from adversarium.runs.planning import Plan
from adversarium.runs.scope import Spans, assumptions, spanning, spans
from adversarium.runs.sweep import Sweep

_STYLES = {
    "holds": "blue",
    "fails": "bold red",
    "mixed": "magenta",
    "undecided": "yellow",
    "not testable": "dim",
    "setting": "dim",
}


def print_run(asked: Plan, rows: Evidence, folder: Path, under: Evidence | None) -> None:
    """Every run with its configuration and its last values, the verdicts, and the figures, which
    are written into the folder."""
    experiment, whole = asked.experiment, len(rows) == len(asked.jobs)
    mark = f" (changed: not for the ledger; {asked.mark})" if asked.changes else ""
    print(f"{experiment.id}: {experiment.title}{mark}")
    for note in asked.notes:
        print(f"  {note}")
    alike = under is not None and whole and len(under) == len(rows)
    pairs = zip(rows, under, strict=True) if under is not None and alike else ()
    published = {run.label: below for run, below in pairs}
    made = {run.label: run for run in rows}
    for i, job in enumerate(asked.jobs):
        if run := made.get(job.task.label):
            lines = [
                *configuration_lines(job.task, asked.changed(i)),
                *_assumed(assumptions(asked.experiment, job.task)),
            ]
            _print_rows(run, lines, published.get(run.label))
    known = {} if asked.changes else {entry.id: entry.verdict for entry in committed()}
    for id in asked.claims:
        word = _judged(asked, id, rows, known.get(id)) if whole else "undecided, a run failed"
        print(f"  {id}: {word}")
    for file in drawn(asked, rows, folder, under if whole else None):
        print(f"  {file}")


def _verdict(asked: Plan, id: str, rows: Evidence) -> Verdict:
    """The verdict of a claim on the runs of a plan, as an audit gives it."""
    experiment, check = asked.experiment, asked.experiment.checks[id]

    def reach(part: Check) -> Spans:
        return spans(experiment, [run.task for run in rows.needed(part.needs)], rows)

    return spanning(claim_of(experiment, id), check, judged(check, rows), reach)


def judgements(asked: Plan, rows: Evidence) -> list[dict[str, Any]]:
    """The verdicts of a plan's claims as JSON has them; none where a run failed."""
    told = []
    for id in asked.claims if len(rows) == len(asked.jobs) else ():
        verdict = _verdict(asked, id, rows)
        numbers = [{"name": m.name, "mean": m.mean, "low": m.low, "high": m.high}
                   for m in verdict.measured]  # fmt: skip
        word = {"id": id, "verdict": verdict.verdict, "reason": verdict.reason}
        told.append({**word, "changed": bool(asked.changes), "measured": numbers})
    return told


def _judged(asked: Plan, id: str, rows: Evidence, known: str | None) -> str:
    """The verdict of a claim with its first numbers and its reason, and what the ledger knows where
    these sizes and seeds say something else."""
    verdict = _verdict(asked, id, rows)
    numbers = [f"{m.name}: {tables.with_interval(m)}" for m in verdict.measured[:3]]
    if len(verdict.measured) > 3:
        numbers.append(f"and {len(verdict.measured) - 3} more")
    other = ""
    if known not in (None, NOT_YET, verdict.verdict):
        other = f"the ledger, with its own sizes and seeds, says {known}"
    return "; ".join(part for part in (verdict.verdict, other, *numbers, verdict.reason) if part)


def drawn(
    asked: Plan,
    rows: Evidence,
    folder: Path,
    under: Evidence | None = None,
    formats: Sequence[str] = ("svg",),
) -> list[Path]:
    """The experiment's figures, written into a folder; those of a changed run say so."""
    names = figure_files(asked.experiment, formats)
    refuse_others(folder, names)
    begin(folder, names)
    files = []
    for figure in asked.experiment.figures:
        if asked.changes:
            title = "\n".join(part for part in (figure.title, f"changed: {asked.mark}") if part)
            figure = replace(figure, title=title)
        files += draw(figure, rows, folder, under, formats)
    end(folder)
    return files


def figure_files(experiment: Experiment, formats: Sequence[str] = ("svg",)) -> list[str]:
    """The names of the files that an experiment's figures may be drawn into."""
    stems = (file_name(figure.name) for figure in experiment.figures)
    return [f"{stem}.{form}" for stem in stems for form in ("csv", *formats)]


def configuration_lines(task: Task, changed: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """A task's configuration, every part with every field, and what was changed from what."""
    turned = [f"{path} {shown(was)} → {shown(now)}" for path, (was, now) in changed.items()]
    told = [f"changed: {', '.join(turned)}"] if turned else []
    return [*configured(task), *told]


def _assumed(told: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many of a paper's hypotheses a run meets, and those that it does not (--dry-run tells
    all)."""
    asked = [gate for gate in told if "wanted" in gate["told"]]
    lost = [gate["told"].rpartition(":")[0] for gate in asked if not gate["holds"]]
    if not asked:
        return []
    said = f"assumptions: {len(asked) - len(lost)} of {len(asked)} met"
    return [f"{said}; not {'; '.join(lost)}" if lost else said]


def _print_rows(run: Rows, lines: Sequence[str], published: Rows | None) -> None:
    seeds = len(run.seeds)
    print(f"  {run.label or 'run'}, {seeds} seeds, last values [99 % interval of the mean]")
    for line in lines:
        print(f"    {line}")
    known = shares(run.task)
    for name, series in run.series.items():
        below = published.series.get(name) if published is not None else None
        beside = dict(places(below)) if below is not None else {}
        for place, values in places(series):
            mean, low, high = mean_and_interval(values, run.points(name))
            if name in known:
                low, high = clipped(low, high)
            ends = f"[{tables.number(low)}, {tables.number(high)}]"
            print(f"    {name + place:<34} {tables.number(mean):>10}  {ends}")
            if place in beside:  # changed minus published, paired by seed
                gap = values - beside[place]
                low, high = interval(gap)
                ends = f"[{tables.number(low)}, {tables.number(high)}]"
                less = tables.number(float(gap.mean()))
                print(f"    {'  minus published':<34} {less:>10}  {ends}")


def print_ledger(ledger: Ledger, named: bool) -> None:
    """The ledger as a table, and the counts by paper."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    table = Table("claim", "verdict", "measured [99 %]", "wanted", "seeds", "s", show_lines=False)
    for e in ledger.claims:
        if e.verdict == NOT_YET and (not named or len(ledger.claims) > 20):
            continue
        table.add_row(
            e.id,
            Text(e.verdict, _STYLES.get(e.verdict, "dim")),
            Text(_told(e)),
            tables.expected_range(e),
            str(e.seeds or ""),
            tables.number(e.seconds),
        )
    if table.row_count:
        console.print(table)
    counted = Table("paper", *tables.WORDS)
    papers = {e.paper for e in ledger.claims}
    for key, _, *numbers in tables.summary(ledger.claims):
        if key.lower() in papers or key in papers:
            counted.add_row(key, *numbers)
    console.print(counted)
    chancy, wrong = tables.chances(ledger.claims)
    if chancy:
        print(f"{chancy} verdicts rest on chance; at most {wrong:.2g} wrong ones are expected.")
    cpu, cores = ledger.machine["cpu"], ledger.machine["cores"]
    print(f"{ledger.seconds:.1f} s on {cpu}, {cores} cores")


def _told(e: Entry) -> str:
    """The numbers of an entry, the first four, its reason, and what it spans."""
    lines = [f"{m.name}: {tables.with_interval(m)}" for m in e.measured[:4]]
    if len(e.measured) > 4:
        lines.append(f"and {len(e.measured) - 4} more")
    if e.reason:
        lines.append(e.reason)
    if e.verdict == "mixed":
        lines += [f"{part.name}: {part.word}" for part in e.parts]
    if spanned := tables.spanned(e):
        lines.append(f"spans {spanned}")
    return "\n".join(lines)


def print_sweep(sweep: Sweep, others: Sequence[str] = ()) -> None:
    """A line a cell, and the boundary where there is one; where no cell has a number, the other
    claims that could judge."""
    print(f"{sweep.experiment.id}, every cell judged by {sweep.watched}")
    for cell in sweep.cells:
        at = ", ".join(f"{a.name}={a.word(cell.set[a.name])}" for a in sweep.axes)
        number = cell.measured
        told = f"{number.name}: {tables.with_interval(number)}" if number is not None else ""
        if len(cell.numbers) > 1:
            told += f" and {len(cell.numbers) - 1} more"
        print(f"{at:<40} {cell.verdict:<10} {'; '.join(filter(None, (told, cell.reason)))}")
    others = [id for id in others if id != sweep.watched]
    if others and all(c.measured is None or c.measured.mean is None for c in sweep.cells):
        print(f"no cell has a number of it; --claim names another: {', '.join(others)}")
    boundary = boundary_numbers(sweep)
    if boundary is None:
        return
    parts = {
        name: f"{q['mean']:.2f} [{q['low']:.2f}, {q['high']:.2f}]" for name, q in boundary.items()
    }
    text = f"fitted boundary: power {parts['power']}"
    if "factor" in parts:
        text += f"; apart from the predicted one by a factor {parts['factor']}"
    print(text)
