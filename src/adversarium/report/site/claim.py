"""Make the page of a claim: statement, verdict, evidence, and the command that reproduces it."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from adversarium.digest import Json
from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import claims, papers, readings
from adversarium.report.claim_text import decisive, stem
from adversarium.report.documents import render
from adversarium.report.picture import claim_picture
from adversarium.report.site.results import SiteFigure, StoredExperiment
from adversarium.report.sources import is_added, place, spelled
from adversarium.report.symbols import letters_in
from adversarium.report.tables import between, with_interval
from adversarium.runs.ledger import Entry


def claim_page(
    entry: Entry, home: StoredExperiment | None, experiment: str, known: Mapping[str, Entry]
) -> str:
    """Return the page of a claim. `home` is the experiment that judges it, if it has stored rows;
    `known` are all claims by id."""
    paper = papers().get(entry.paper)
    lines = _lines(entry)
    claim = claims().get(entry.id)
    ours = claim is not None and is_added(claim)
    source = place(claim) if claim is not None else spelled(entry.source)
    before, after = _neighbours(entry, known)
    return render(
        "claim.html",
        title=entry.id,
        heading=source if not ours else entry.id,
        up="../",
        entry=entry,
        source=source,
        ours=ours,
        panels=[Markup(panel) for panel in claim_picture(entry)],
        parts=[(part, *decisive(part)) for part in entry.parts],
        home=home,
        experiment=experiment,
        lines=lines,
        columns=[title for field, title in _COLUMNS if any(line[field] for line in lines)],
        figures=_figures(entry, home),
        related=[
            (other, place(claims()[other.id]) if other.id in claims() else "")
            for other in _related(entry, known)
        ],
        paper=paper,
        constants=readings(entry.paper) if paper else {},
        letters_used=letters_in(f"{plain_text(entry.statement)} {entry.finding}", paper.symbols)
        if paper
        else {},
        before=before,
        after=after,
    )


def _related(entry: Entry, known: Mapping[str, Entry]) -> list[Entry]:
    """Return the entries about the same statement: corrections, controls, parts, aliases."""
    others = [other for other in known.values() if other.id != entry.id]
    return [
        other
        for other in others
        if stem(other.id) == stem(entry.id)
        or entry.id in (other.corrected, other.alias_of)
        or other.id in (entry.corrected, entry.alias_of)
    ]


def _neighbours(entry: Entry, known: Mapping[str, Entry]) -> tuple[Entry | None, Entry | None]:
    ids = list(known)
    if entry.id not in known:
        return None, None
    i = ids.index(entry.id)
    return (known[ids[i - 1]] if i else None, known[ids[i + 1]] if i + 1 < len(ids) else None)


_COLUMNS = (  # fields of a line with their titles; a column without any value is omitted
    ("part", "part"),
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
