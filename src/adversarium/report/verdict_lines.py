"""Write verdicts as lines of text: counts per paper, one line per claim, and the short ledger that
`verify` prints. A line never breaks a word and is cut with … at the width of the terminal."""

import shutil
from collections.abc import Iterable, Mapping, Sequence

from adversarium.plans.papers import papers
from adversarium.report.symbols import quantity_text
from adversarium.report.tables import (
    GLYPHS,
    WORDS,
    between,
    expected_errors,
    summary,
    with_interval,
)
from adversarium.runs.ledger import NOT_YET, Entry, Ledger

_FEW = 20  # up to this number, every claim has a line
MOST = 60  # largest number of lines that `verify` prints without --all
_SHORT = {"not testable": "not test."}
_JUDGED_BADLY = ("fails", "mixed")


def width() -> int:
    """Return how many columns a line may have: those of the terminal or of COLUMNS, at most 100."""
    return min(max(shutil.get_terminal_size((100, 24)).columns, 40), 100)


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters; a longer one is cut at a word and ends with ….

    >>> cut("every word of it", 12)
    'every word…'
    """
    if len(text) <= most:
        return text
    return f"{text[:most].rpartition(' ')[0].rstrip(' ,;:(') or text[: most - 1]}…"


def badge(verdict: str) -> str:
    """Return a verdict with its sign, such as '✓ holds'."""
    return f"{GLYPHS.get(verdict, '○')} {verdict}"


def said(entry: Entry) -> str:
    """Return the finding of a claim; its reason or its statement if it has none."""
    from adversarium.plans.mathematics import plain_text

    return entry.finding or quantity_text(entry.reason) or plain_text(entry.statement)


def counts_table(entries: Sequence[Entry]) -> list[str]:
    """Return the counts of verdicts by paper as lines of at most 80 characters."""
    words = [_SHORT.get(word, word) for word in WORDS]
    widths = [max(len(word), 5) for word in words]
    tags = {e.paper for e in entries}
    subjects = {p.key: p.subject for p in papers().values()}
    rows = [
        (f"{key:<5} {cut(subjects.get(key, ''), 19)}", counts)
        for key, _, *counts in summary(entries)
        if key.lower() in tags or key in tags
    ]
    if len(rows) > 1:
        totals = [str(sum(int(c[i]) for _, c in rows)) for i in range(len(words))]
        rows.append(("all", totals))
    first = max((len(name) for name, _ in rows), default=5)
    lines = [("paper", words), *rows]
    return [
        " ".join([f"{name:<{first}}", *(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True))])
        for name, cells in lines
    ]


def claim_lines(entries: Iterable[Entry], words: bool = False, why: bool = False) -> list[str]:
    """Return one line per claim: the verdict, as a sign or also as a word, id and finding; with
    `why`, the reason in a few words in its place."""
    listed = list(entries)
    longest = min(max((len(e.id) for e in listed), default=0), 34)
    signs = [badge(e.verdict) if words else badge(e.verdict)[0] for e in listed]
    wide = max(map(len, signs), default=0)
    return [
        cut(f"  {sign:<{wide}} {e.id:<{longest}}  {(why and e.why) or said(e)}", width())
        for sign, e in zip(signs, listed, strict=True)
    ]


def changes(entries: Sequence[Entry], shipped: Mapping[str, str]) -> list[tuple[Entry, str]]:
    """Return the entries whose verdict differs from the published ledger, with the latter's."""
    return [
        (e, shipped[e.id])
        for e in entries
        if e.id in shipped and not e.alias_of and e.verdict != shipped[e.id] != NOT_YET
    ]


def brief(ledger: Ledger, shipped: Mapping[str, str], asked: str) -> list[str]:
    """Return the lines that `verify` prints: counts per paper, changed verdicts, failing claims.

    `shipped` are the published verdicts by claim, `asked` the arguments of the call.
    """
    entries = [e for e in ledger.claims if not e.alias_of]
    few = len(ledger.claims) <= _FEW
    head = claim_lines(ledger.claims, words=True) if few else counts_table(ledger.claims)
    moved = changes(entries, shipped)
    lines = [*head, "", *_changed(moved, any(e.id in shipped for e in entries))]
    foot = _foot(ledger, asked)
    if not few:
        room = MOST - 2 - len(lines) - len(foot) - 6  # make adds lines of its own
        lines += _failing([e for e in entries if e.verdict in _JUDGED_BADLY], room)
    return [*lines, "", *foot]


def _changed(moved: Sequence[tuple[Entry, str]], published: bool) -> list[str]:
    """Say which verdicts differ from the published ones."""
    if not moved:
        return ["No verdict differs from the published ones."] if published else []
    noun = "verdict differs" if len(moved) == 1 else "verdicts differ"
    lines = [f"{len(moved)} {noun} from the published ones"]
    lines += [
        cut(f"  {e.id}  {before} → {e.verdict}  {quantity_text(e.reason)}", width())
        for e, before in moved[:10]
    ]
    return lines + ([f"  and {len(moved) - 10} more"] if len(moved) > 10 else [])


def _failing(entries: Sequence[Entry], room: int) -> list[str]:
    """List failing and mixed claims, as many of each paper as there is room for."""
    groups = [(word, [e for e in entries if e.verdict == word]) for word in ("fails", "mixed")]
    groups = [(word, listed) for word, listed in groups if listed]
    for most in range(len(entries), 0, -1):
        lines: list[str] = []
        for word, listed in groups:
            lines += ["", f"{word.capitalize()} ({len(listed)})"]
            for tag in dict.fromkeys(e.paper for e in listed):
                own = [e for e in listed if e.paper == tag]
                lines += claim_lines(own[:most], why=True)
                if len(own) > most:
                    key = papers()[tag].key if tag in papers() else tag
                    lines.append(f"    {len(own) - most} more of {key}")
        if len(lines) <= room:
            return lines
    return []


def _foot(ledger: Ledger, asked: str) -> list[str]:
    seed_dependent, wrong = expected_errors(ledger.claims)
    lines = []
    if seed_dependent:
        depend = "verdicts depend" if seed_dependent > 1 else "verdict depends"
        lines += [
            f"{seed_dependent} {depend} on random seeds; at most {wrong:.2g} of them are expected "
            "to be wrong."
        ]
    one = ledger.claims[0].id if ledger.claims else "ID"
    failing = next((e.id for e in ledger.claims if e.verdict == "fails"), one)
    cpu, cores = ledger.machine.get("cpu", "this machine"), ledger.machine.get("cores", "?")
    whole = f"adversarium verify {asked}".strip()
    return [
        *lines,
        f"{ledger.seconds:.1f} s on {cpu}, {cores} cores",
        f"one claim     adversarium show {failing}",
        f"every claim   {whole} --all",
        f"every number  {whole} --long",
        "as web pages  adversarium report",
    ]


def numbers_of(entry: Entry) -> list[str]:
    """Return all parts of a claim with all of their numbers, for `verify --long`."""
    lines = [f"{badge(entry.verdict)}  {entry.id}"]
    if entry.finding:
        lines.append(f"    {entry.finding}")
    for part in entry.parts:
        if len(entry.parts) > 1:
            lines.append(f"  {badge(part.outcome)}  {part.name}")
        for m in part.measured:
            wanted = between(*m.wanted) if m.wanted else ""
            accepted = f"  (accepted: {wanted})" if wanted else ""
            lines.append(f"    {m.name}: {with_interval(m)}{accepted}")
        if part.reason:
            lines.append(f"    {part.reason}")
    return lines
