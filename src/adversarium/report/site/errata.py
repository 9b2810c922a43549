"""Printed statements that fail, with their corrections; and what of our own fails."""

from collections.abc import Collection, Mapping, Sequence

from adversarium.plans.catalogue import papers
from adversarium.plans.evidence import Summary
from adversarium.plans.verdict import Word
from adversarium.report.figures.style import file_name
from adversarium.report.site.parts import claim_link, code, escape, page, word
from adversarium.report.tables import with_interval
from adversarium.report.typeset import typeset
from adversarium.runs.ledger import Entry

_SHOWN = 3  # numbers of an entry; its page has all


def errata_page(entries: Sequence[Entry], ours: Collection[str]) -> str:
    """The page; `ours`: the ids of statements that no paper prints."""
    known = {e.id: e for e in entries}
    failed = [e for e in entries if e.verdict in ("fails", "mixed") and not e.alias_of]
    printed = [e for e in failed if e.id not in ours and e.paper in papers()]
    own = [e for e in failed if e not in printed]
    parts = []
    if printed:
        count = sum(e.verdict == "fails" for e in printed)
        parts.append(
            f"<p>{count} printed statements fail and {len(printed) - count} do so in part: the "
            "numbers that refute each, the command that repeats them, the corrected statement.</p>"
        )
    else:
        parts.append("<p>No printed statement that was audited here fails.</p>")
    for paper in papers().values():
        theirs = [e for e in printed if e.paper == paper.tag]
        if theirs:
            parts.append(f"<h2>{escape(paper.key)}: {escape(paper.title)}</h2>")
            parts += [_erratum(e, known) for e in theirs]
    if own:
        parts.append(
            '<h2 id="ours">Statements of our own that fail</h2><p>Corrections and additions that '
            "no paper prints; they failed too, in part or whole.</p>"
        )
        parts += [_erratum(e, known) for e in own]
    return page("Errata", "\n".join(parts))


def _erratum(entry: Entry, known: Mapping[str, Entry]) -> str:
    numbers = [f"{typeset(m.name)}: {with_interval(m)}" for m in _told(entry)[:_SHOWN]]
    right = known.get(entry.corrected or "")
    corrected = ""
    if right is not None:
        corrected = (
            f"<p><b>Corrected</b> {claim_link(right.id)} {word(right.verdict)}: "
            f"{typeset(right.statement)}</p>"
        )
    return (
        f'<section id="{escape(file_name(entry.id))}"><h3>{claim_link(entry.id)} '
        f'{word(entry.verdict)} <span class="soft">{escape(entry.source)}</span></h3>'
        f"<p>{typeset(entry.statement)}</p><p><b>Measured.</b> {'; '.join(numbers)}"
        f"{'. ' if numbers else ''}{typeset(_reason(entry))}</p>{code(entry.command or '')}"
        f"{corrected}</section>"
    )


def _told(entry: Entry) -> Sequence[Summary]:
    """The numbers of the parts that fail, where there are parts."""
    failing = [m for part in entry.parts if part.word == Word.FAILS for m in part.measured]
    return failing or entry.measured


def _reason(entry: Entry) -> str:
    """The beginning of a long reason; the claim's page has all."""
    most = 160
    return (
        entry.reason if len(entry.reason) <= most else f"{entry.reason[:most].rpartition(' ')[0]} …"
    )
