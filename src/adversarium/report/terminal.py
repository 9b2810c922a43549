"""What the commands print: a run, the ledger, a sweep."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adversarium.plans.evidence import Evidence, Rows, interval, places
from adversarium.plans.experiment import Experiment
from adversarium.report import tables
from adversarium.report.figures import draw, mean_and_interval
from adversarium.report.figures.style import file_name
from adversarium.report.swept import boundary_numbers
from adversarium.runs.audit import judged
from adversarium.runs.ledger import NOT_YET, Entry, Ledger
from adversarium.runs.sweep import Sweep

_STYLES = {
    "holds": "blue",
    "fails": "bold red",
    "mixed": "magenta",
    "undecided": "yellow",
    "not testable": "dim",
    "setting": "dim",
}


def print_run(
    experiment: Experiment,
    rows: Evidence,
    claims: Sequence[str],
    whole: bool,
    changes: Mapping[str, Any],
    out: Path,
    under: Evidence | None,
) -> None:
    """The last values of every run, the verdicts, and where the figures are; those of a changed
    run have a folder of their own and say what was changed."""
    mark = " (changed: not for the ledger)" if changes else ""
    print(f"{experiment.id}: {experiment.title}{mark}")
    alike = under is not None and whole and len(under) == len(rows)
    pairs = zip(rows, under, strict=True) if under is not None and alike else ()
    published = {run.label: below for run, below in pairs}
    for run in rows:
        _print_rows(run, published.get(run.label))
    for id in claims:
        if not whole:
            print(f"  {id}: undecided, a run failed")
            continue
        try:
            verdict = judged(experiment.checks[id], rows)
            print(f"  {id}: {verdict.verdict} {verdict.reason}".rstrip())
        except KeyError as fault:
            if not changes:
                raise
            print(f"  {id}: undecided, out of regime: the changed plan lacks {fault}")
    told = ", ".join(f"{name} = {value}" for name, value in changes.items())
    name = f"{experiment.name}, {told}" if changes else experiment.name
    folder = out / file_name(name)
    folder.mkdir(parents=True, exist_ok=True)
    for figure in experiment.figures:
        title = f"{figure.title} (changed: {told})".strip() if changes else figure.title
        for file in draw(replace(figure, title=title), rows, folder, under if whole else None):
            print(f"  {file}")


def _print_rows(run: Rows, published: Rows | None) -> None:
    seeds = len(run.seeds)
    print(f"  {run.label or 'run'}, {seeds} seeds, last values [99 % interval of the mean]")
    for name, series in run.series.items():
        below = published.series.get(name) if published is not None else None
        beside = dict(places(below)) if below is not None else {}
        for place, values in places(series):
            mean, low, high = mean_and_interval(values)
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


def print_sweep(sweep: Sweep) -> None:
    """A line a cell, and the boundary where there is one."""
    for cell in sweep.cells:
        at = ", ".join(
            f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in cell.set.items()
        )
        told = cell.reason
        if cell.measured is not None:
            told = f"{cell.measured.name}: {tables.with_interval(cell.measured)}"
        print(f"{at:<40} {cell.verdict:<10} {told}")
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
