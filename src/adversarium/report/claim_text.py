"""Describe one claim as text of at most 40 lines: the answer first, then its parts and evidence."""

import textwrap
from collections.abc import Mapping, Sequence

from adversarium.plans.evidence import Summary
from adversarium.plans.gates import Gate
from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import Claim, claims, papers
from adversarium.plans.verdict import Outcome, Part
from adversarium.report.symbols import quantity_text
from adversarium.report.tables import between, number, with_interval
from adversarium.report.typeset import greek
from adversarium.report.verdict_lines import badge, claim_lines, cut, width
from adversarium.runs.ledger import NOT_YET, Entry
from adversarium.runs.scope import waiver

LINES, PARTS, RELATED = 40, 12, 3  # largest number of lines, of parts and of related claims


def claim_text(
    claim: Claim, entry: Entry | None, verdicts: Mapping[str, str], related: Sequence[Entry] = ()
) -> list[str]:
    """Return the lines that describe a claim. `entry` is its last verdict, `verdicts` are the
    published ones, `related` the entries of related claims."""
    paper = papers().get(claim.paper)
    source = claim.source if not paper else f"{claim.source} of {paper.key}"
    head = [cut(f"{claim.id}  {source}", width()), *([cut(paper.title, width())] if paper else [])]
    says = "The statement" if claim.source.startswith("ours") or not paper else "The paper says"
    head += ["", f"  {says}", *_filled(plain_text(claim.statement), "    ", 5), ""]
    if entry is None or not entry.parts:
        return [*head, *_unjudged(claim, entry)]
    before = verdicts.get(claim.id, entry.verdict)
    note = f"  (published verdict: {before})" if before not in (entry.verdict, NOT_YET) else ""
    head += [f"  {badge(entry.verdict)}{note}", *_filled(_answer(entry), "    ", 5)]
    tail = ["", *_evidence(entry), *_related(claim, related), "", *_commands(entry)]
    room = min(PARTS, LINES - len(head) - len(tail) - 3)
    return [*head, *_parts(entry, room), *tail]


def _filled(text: str, indent: str, most: int) -> list[str]:
    """Return a text as at most `most` lines."""
    lines = textwrap.wrap(text, width() - len(indent))
    if len(lines) > most:
        lines = [*lines[: most - 1], cut(f"{lines[most - 1]} {lines[most]}", width() - len(indent))]
    return [f"{indent}{line}" for line in lines]


def _answer(entry: Entry) -> str:
    return entry.finding or quantity_text(entry.reason) or "every part is confirmed"


def _unjudged(claim: Claim, entry: Entry | None) -> list[str]:
    verdict = entry.verdict if entry is not None else NOT_YET
    said = entry.finding or entry.reason if entry is not None else ""
    if claim.alias_of:
        said = f"judged by the same check as {claim.alias_of}"
    elif not said and claim.experiment:
        verdict = "not run"
        said = f"no verdict yet; adversarium verify {claim.id} computes it"
    return [f"  {badge(verdict)}", *_filled(said, "    ", 5)]


def _parts(entry: Entry, room: int) -> list[str]:
    """Return a table of parts: name, verdict, decisive number and accepted range."""
    wide = width()
    rows = [(p, *decisive(p)) for p in entry.parts]
    shown = sorted(range(len(rows)), key=lambda i: _weight(rows[i][0]))[: max(room, 1)]
    rows = [rows[i] for i in sorted(shown)]
    numbers = min(max([len(n) for _, n, _ in rows] + [15]), 27)
    accepted = min(max([len(a) for *_, a in rows] + [8]), 14)
    first = wide - numbers - accepted - 20
    table = [("part", "verdict", "decisive number", "accepted")]
    for part, measured, wanted in rows:
        name = cut(quantity_text(part.name) or "the statement", first - 1)
        table.append((name, badge(part.outcome), measured, wanted))
    lines = [""]
    for name, verdict, measured, wanted in table:
        text = f"  {name:<{first}} {verdict:<14} {measured:<{numbers}} {wanted}"
        lines.append(cut(text.rstrip(), wide))
    if len(rows) < len(entry.parts):
        lines.append(f"  and {len(entry.parts) - len(rows)} more with --all")
    return lines


def _weight(part: Part) -> int:
    order = (Outcome.FAILS, Outcome.UNDECIDED, Outcome.MIXED, Outcome.HOLDS)
    return order.index(part.outcome) if part.outcome in order else len(order)


def decisive(part: Part) -> tuple[str, str]:
    """Return the quantity of a part nearest to an end of its range, and this range, as texts."""
    known = [m for m in part.measured if m.mean is not None]
    ranged = [m for m in known if m.wanted and any(end is not None for end in m.wanted)]
    if not (ranged or known):
        return "–", ""
    m = min(ranged or known, key=part.room)
    return short_interval(m), between(*m.wanted) if m.wanted else ""


def short_interval(m: Summary) -> str:
    """Return a mean with its interval, with three significant digits."""
    mean, low, high = (None if v is None else float(f"{v:.3g}") for v in (m.mean, m.low, m.high))
    return with_interval(Summary(m.name, mean, low, high, ())).replace("-", "−")


def _evidence(entry: Entry) -> list[str]:
    from adversarium.report.tables import spanned

    lines = []
    wide = width()
    if entry.finding and entry.reason and entry.verdict not in ("holds", "setting"):
        lines += _filled(f"reason      {quantity_text(entry.reason)}", "  ", 3)
    if entry.regime:
        lines += _filled(f"hypotheses  {hypotheses_text(entry)}", "  ", 2)
    if covered := spanned(entry):
        lines.append(cut(f"  covers      {greek(covered)}", wide))
    chance = ", other seeds could change it" if entry.chance else ""
    text = f"{entry.preset} preset, {entry.seeds} seeds, {number(entry.seconds)} s{chance}"
    return [*lines, f"  evidence    {text}"]


def hypotheses_text(entry: Entry) -> str:
    """Say how many hypotheses the judged runs satisfy, and which they miss."""
    missed = [gate for gate in entry.regime if not gate.holds]
    met = len(entry.regime) - len(missed)
    if not missed:
        return f"all {met} met"
    waived = sum(bool(waiver(entry.waived, gate)) for gate in missed)
    more = f" ({waived} of them do not matter here)" if waived else ""
    listed = "; ".join(map(gate_text, missed))
    return f"{met} of {len(entry.regime)} met{more}; not met: {greek(listed)}"


def gate_text(gate: Gate) -> str:
    """Return a hypothesis with its factor and the direction in which it is judged."""
    wanted = needed(gate)
    return f"{gate.text} = {gate.factor:.3g} ({wanted} is needed)" if wanted else gate.text


def needed(gate: Gate) -> str:
    """Return the range of a hypothesis's factor as text, such as 'at least 2'."""
    least = f"at least {gate.low:.3g}" if gate.low > float("-inf") else ""
    most = f"at most {gate.high:.3g}" if gate.high < float("inf") else ""
    return " and ".join(end for end in (least, most) if end)


def _related(claim: Claim, related: Sequence[Entry]) -> list[str]:
    return ["", "  related", *claim_lines(related[:RELATED])] if related else []


def related_ids(claim: Claim) -> list[str]:
    """Return the ids of claims about the same statement: corrected versions, controls, parts."""
    root = stem(claim.id)
    return [id for id in claims() if id != claim.id and stem(id) == root]


def stem(id: str) -> str:
    """Return the id of the statement to which a claim belongs: its shortest prefix that is a claim,
    such as PAPER.thm4.1 of PAPER.thm4.1.corrected."""
    pieces = id.split(".")
    shorter = (".".join(pieces[:i]) for i in range(2, len(pieces)))
    return next((root for root in shorter if root in claims()), id)


def _commands(entry: Entry) -> list[str]:
    return [
        f"  repeat      {entry.command}",
        f"  everything  adversarium show {entry.id} --all",
    ]
