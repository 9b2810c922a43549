"""Choose the findings to read first: those with a place `front` in findings.toml."""

from collections.abc import Sequence
from pathlib import Path

from adversarium.plans.findings import findings
from adversarium.plans.papers import papers
from adversarium.report.picture import claim_picture, standalone
from adversarium.runs.ledger import Entry


def front_findings(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries whose findings are read first, in their order."""
    places = {
        id: finding.front
        for tag in papers()
        for id, finding in findings(tag).items()
        if finding.front
    }
    chosen = [e for e in entries if e.id in places and e.finding]
    return sorted(chosen, key=lambda e: places[e.id])


def picture_name(entry: Entry) -> str:
    """Return the file name of the picture of a finding."""
    return f"{entry.id.replace('.', '-')}.svg"


def draw_finding(entry: Entry, folder: Path) -> Path | None:
    """Write the picture of a claim as an SVG file of its own; None if it has no picture."""
    panels = claim_picture(entry)
    if not panels:
        return None
    path = folder / picture_name(entry)
    path.write_text(standalone(panels[0]), encoding="utf-8")
    return path
