"""Make the page of a claim: statement, verdict, evidence, and the command that reproduces it."""

from collections.abc import Mapping, Sequence
from typing import Any

from adversarium.digest import Json
from adversarium.plans.papers import papers, readings
from adversarium.report.documents import render
from adversarium.report.site.results import SiteFigure, StoredExperiment
from adversarium.report.tables import between, with_interval
from adversarium.runs.ledger import Entry

_UNFOLDED = 14  # number of lines that are visible without unfolding the table


def claim_page(
    entry: Entry, home: StoredExperiment | None, experiment: str, known: Mapping[str, Entry]
) -> str:
    """Return the page of a claim. `home` is the experiment that judges it, if it has stored rows;
    `known` are all claims by id."""
    paper = papers().get(entry.paper)
    lines = _lines(entry)
    return render(
        "claim.html",
        title=entry.id,
        up="../",
        entry=entry,
        source=f"{entry.source} of {paper.key}" if paper else entry.source,
        same=known.get(entry.alias_of),
        corrected=known.get(entry.corrected or ""),
        corrects=[other for other in known.values() if other.corrected == entry.id],
        aliases=[other for other in known.values() if other.alias_of == entry.id],
        home=home,
        experiment=experiment,
        lines=lines,
        columns=[title for field, title in _COLUMNS if any(line[field] for line in lines)],
        unfolded=_UNFOLDED,
        figures=_figures(entry, home),
        paper=paper,
        constants=readings(entry.paper) if paper else {},
    )


_COLUMNS = (  # fields of a line with their titles; a column without any value is omitted
    ("part", "part"),
    ("part", "verdict"),
    ("quantity", "quantity"),
    ("measured", "measured [99 %]"),
    ("accepted", "accepted"),
    ("sharpness", "sharpness"),
)


def _lines(entry: Entry) -> Sequence[Json]:
    """Return one line per quantity. The first line of a part has its name, verdict, sharpness."""
    several = len(entry.parts) > 1
    if not several and not any(part.measured for part in entry.parts):
        return []
    lines = []
    for part in entry.parts:
        named_alike = several and [m.name for m in part.measured] == [part.name]
        for i, m in enumerate(part.measured or (None,)):
            lines.append(
                {
                    "part": part if several and i == 0 else None,
                    "quantity": m.name if m and not named_alike else "",
                    "measured": with_interval(m) if m else "",
                    "accepted": between(*m.wanted) if m and m.wanted else "",
                    "sharpness": part.sharpness if i == 0 else (),
                }
            )
    return lines


def _figures(entry: Entry, home: StoredExperiment | None) -> list[SiteFigure]:
    """Return up to three figures that show quantities of a claim's check, or the first figure."""
    check: Any = home.experiment.checks.get(entry.alias_of or entry.id) if home else None
    if home is None or check is None:
        return []
    pictures = [figure for figure in home.figures if not figure.is_table]
    return [f for f in pictures if f.draws(check.needs)][:3] or pictures[:1]
