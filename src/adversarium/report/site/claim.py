"""The page of a claim: what is stated, what was found, on what evidence, and how to repeat it."""

from collections.abc import Mapping, Sequence
from typing import Any

from adversarium.plans.catalogue import papers, readings
from adversarium.plans.verdict import Part
from adversarium.report.site.parts import (
    cell,
    claim_link,
    code,
    escape,
    folded,
    page,
    soft,
    table,
    terms,
    word,
)
from adversarium.report.site.stored import LINES, Stored
from adversarium.report.tables import between, number, spanned, with_interval
from adversarium.report.typeset import greek, typeset
from adversarium.runs.ledger import Entry

_UP = "../"
_OPEN = 14  # so many numbers are shown unfolded


def claim_page(
    entry: Entry, home: Stored | None, experiment: str, known: Mapping[str, Entry]
) -> str:
    """The page of a claim; `home`: the experiment that judges it, where its rows are there."""
    paper = papers().get(entry.paper)
    source = f"{entry.source} of {paper.key}" if paper else entry.source
    parts = [
        f'<p class="statement">{typeset(entry.statement)}</p>',
        f"<p>{word(entry.verdict)} {typeset(entry.reason)}</p>",
        terms(
            [
                ("source", escape(source)),
                ("kind", escape(entry.kind)),
                ("paper's value", typeset(entry.expected.text) if entry.expected else ""),
                *_evidence(entry),
                ("reading", typeset(entry.reading)),
                ("note", typeset(entry.note)),
                ("the same check as", _other(entry.alias_of, known)),
                ("corrected statement", _other(entry.corrected or "", known)),
                ("correction of", _corrects(entry, known)),
                ("also told as", _aliases(entry, known)),
                ("judged by", _experiment(home, experiment)),
            ]
        ),
        _numbers(entry),
        _regime(entry),
        _figures(entry, home),
    ]
    if entry.command:
        parts.append(f"<h2>Repeat it</h2>{code(entry.command)}")
    if paper is not None:
        parts.append(_paper(entry.paper, paper.bibtex))
    return page(entry.id, "\n".join(part for part in parts if part), _UP)


def _evidence(entry: Entry) -> list[tuple[str, str]]:
    """Where the verdict comes from and how far it reaches."""
    if not entry.seeds:
        return []
    origin = f"{entry.preset}, {entry.seeds} seeds, {entry.engine}, {number(entry.seconds)} s"
    chance = "other seeds could have said something else" if entry.chance else ""
    return [
        ("evidence", escape(origin)),
        ("rests on chance", chance),
        ("for all", typeset(greek(", ".join(entry.for_all)))),
        ("spans", typeset(greek(spanned(entry)))),
    ]


def _other(id: str, known: Mapping[str, Entry]) -> str:
    if not id:
        return ""
    if id not in known:
        return escape(id)
    return f"{claim_link(id, _UP)} {word(known[id].verdict)} {typeset(known[id].statement)}"


def _corrects(entry: Entry, known: Mapping[str, Entry]) -> str:
    return "; ".join(_other(e.id, known) for e in known.values() if e.corrected == entry.id)


def _aliases(entry: Entry, known: Mapping[str, Entry]) -> str:
    same = (e.id for e in known.values() if e.alias_of == entry.id)
    return ", ".join(claim_link(id, _UP) for id in same)


def _experiment(home: Stored | None, experiment: str) -> str:
    if home is not None:
        title = escape(home.experiment.title)
        return (
            f'<a href="../experiments/{home.name}.html">{escape(home.experiment.id)}</a>: {title}'
        )
    return f"{escape(experiment)}, no rows in this store" if experiment else "not yet implemented"


def _numbers(entry: Entry) -> str:
    """Every part with its word, numbers, the range asked of each, and how sharp it is."""
    if not any(part.measured for part in entry.parts) and len(entry.parts) < 2:
        return ""
    lines = [line for part in entry.parts for line in _lines(part, entry)]
    kept = [any(line[i] != cell("") for line in lines) for i in range(len(_HEADER))]
    header = [name for name, keep in zip(_HEADER, kept, strict=True) if keep]
    lines = [[one for one, keep in zip(line, kept, strict=True) if keep] for line in lines]
    made = table(header, lines[:_OPEN], "numbers")
    if len(lines) > _OPEN:
        more = table(header, lines[_OPEN:], "numbers")
        made += folded(f"{len(lines) - _OPEN} more lines", more)
    return f"<h2>{'Parts and numbers' if len(entry.parts) > 1 else 'Numbers'}</h2>{made}"


_HEADER = ("part", "verdict", "quantity", "measured [99 %]", "wanted", "sharpness")


def _lines(part: Part, entry: Entry) -> list[list[str]]:
    """A part in lines, one a quantity: the first has its name, word, reason and sharpness."""
    several, empty = len(entry.parts) > 1, cell("")
    reason = soft(typeset(part.reason)) if several and part.reason != entry.reason else ""
    name = cell(typeset(part.name) + reason) if several else empty
    first = [name, cell(word(part.word)) if several else empty]
    sharp = "<br/>".join(escape(str(s)) for s in part.sharpness)
    if not part.measured:
        return [[*first, empty, empty, empty, cell(sharp)]]
    alone = several and [m.name for m in part.measured] == [part.name]
    return [
        [
            *(first if i == 0 else [empty, empty]),
            empty if alone else cell(typeset(m.name)),
            cell(with_interval(m), "n"),
            cell(between(*m.wanted), "n") if m.wanted and m.wanted != (None, None) else empty,
            cell(sharp if i == 0 else ""),
        ]
        for i, m in enumerate(part.measured)
    ]


def _regime(entry: Entry) -> str:
    """The hypotheses with the factors by which they are met."""
    if not entry.regime:
        none = "No hypothesis of the paper is computed for these runs."
        return f"<h2>Regime</h2>{soft(none)}" if entry.parts else ""
    lines = [
        [
            cell(typeset(greek(gate.text))),
            cell(number(gate.factor), "n"),
            cell(between(_end(gate.low), _end(gate.high)), "n"),
            cell("met" if gate.holds else "<b>not met</b>"),
            cell("printed" if gate.printed else "needed by the proof"),
        ]
        for gate in entry.regime[:LINES]
    ]
    made = table(("hypothesis", "factor", "wanted", "", "says"), lines, "numbers")
    rest = len(entry.regime) - LINES
    return "<h2>Regime</h2>" + made + soft(f"and {rest} more" if rest > 0 else "")


def _end(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _figures(entry: Entry, home: Stored | None) -> str:
    check: Any = home.experiment.checks.get(entry.alias_of or entry.id) if home else None
    if home is None or check is None:
        return ""
    pictures = [f for f in home.figures if not f.is_table]
    near = [f for f in pictures if f.shows(check.needs)] or pictures[:1]
    return ("<h2>Figures</h2>" if near else "") + "".join(f.html(_UP) for f in near[:3])


def _paper(tag: str, bibtex: str) -> str:
    read: Sequence[tuple[str, str]] = [
        (sign, typeset(text)) for sign, text in readings(tag).items()
    ]
    told = folded("How the paper's open constants are read", terms(read)) if read else ""
    return told + folded("BibTeX", f"<pre>{escape(bibtex)}</pre>")
