"""Read and write the ledger file: one line per claim and one per part, readable in a diff.

A line has the verdict, the numbers of the finding and the decisive quantities: those nearest to an
end of their accepted range, with mean and interval, to four significant digits. It contains neither
statements, which are in claims.toml, nor sentences of findings.toml, nor values per seed.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adversarium.digest import Json
from adversarium.plans.evidence import Summary
from adversarium.plans.findings import Number
from adversarium.plans.gates import Gate
from adversarium.plans.papers import claims, papers
from adversarium.plans.verdict import Outcome, Part, Sensitivity, speaking
from adversarium.runs.ledger import (
    NOT_RUN,
    NOT_YET,
    Entry,
    Expected,
    Facts,
    Ledger,
    entry,
    verify_command,
)

DECISIVE = 2  # how many quantities of a part are written
SAME = ""  # written in place of the name of a quantity that is called like its part


def committed() -> tuple[Entry, ...]:
    """Return the entries that ship with the papers: those of ledger.json in a paper's folder or
    next to it."""
    folders = [folder for p in papers().values() for folder in (p.folder, p.folder.parent)]
    paths = dict.fromkeys(folder / "ledger.json" for folder in folders)
    known: dict[str, Entry] = {}
    for path in paths:
        if path.is_file():
            lines = _lines(path).values()
            known |= {line["id"]: read_line(line) for line in lines if line["id"] in claims()}
    for id, e in known.items():
        if e.alias_of in known:
            other = known[e.alias_of]
            texts = {name: getattr(e, name) for name in _TEXTS}
            known[id] = replace(other, id=id, alias_of=other.id, **texts)
    return tuple(known[id] for id in claims() if id in known)


_TEXTS = (
    "paper",
    "source",
    "statement",
    "kind",
    "corrected",
    "note",
    "reading",
    "for_all",
    "waived",
)


def write_ledger(path: Path, ledger: Ledger) -> None:
    """Write a ledger. If the file exists, replace only the entries of this ledger."""
    lines = {e.id: line_of(e) for e in ledger.claims}
    if path.exists():
        try:
            known = _lines(path)
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            raise ValueError(f"{path} is not a ledger ({fault}); it was left untouched.") from fault
        order = {id: i for i, id in enumerate(claims())}
        both = {**known, **lines}
        lines = dict(sorted(both.items(), key=lambda item: order.get(item[0], len(order))))
    gates: dict[str, int] = {}  # a hypothesis with its range → its index in the file
    runs: dict[str, int] = {}  # a run's name → its index in the file
    text = ",\n".join(_text(line, gates, runs) for line in lines.values())
    about = json.dumps(dict(ledger.machine), ensure_ascii=False)
    head = f'{{"machine": {about}, "seconds": {ledger.seconds},\n'
    for name, listed in (("gates", gates), ("runs", runs)):
        head += f'"{name}": [\n  ' + ",\n  ".join(listed) + "],\n"
    whole = f'{head}"claims": [\n{text}\n]}}\n'
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        temporary.write_text(whole, encoding="utf-8")
        temporary.replace(path)
    except OSError as fault:
        raise ValueError(f"the ledger {path} cannot be written ({fault.strerror}).") from fault


def _lines(path: Path) -> dict[str, dict[str, object]]:
    """Return the lines of a ledger by claim; the indices of hypotheses are replaced by these."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    gates, runs = whole.get("gates", ()), whole.get("runs", ())
    lines = {line["id"]: line for line in whole["claims"]}
    for line in lines.values():
        found = {}
        for number, factor, run in line.get("regime", ()):
            text, *rest = gates[number]
            found[text] = [factor, runs[run], *rest]
        line["regime"] = found
    return lines


def _text(line: Json, gates: dict[str, int], runs: dict[str, int]) -> str:
    """Return a claim's line, followed by one line per part. Hypotheses and runs are given by their
    index."""
    head = {k: v for k, v in line.items() if k != "parts"}
    if regime := line.get("regime"):
        head["regime"] = [
            [_index(gates, [text, *rest]), factor, _index(runs, run)]
            for text, (factor, run, *rest) in regime.items()
        ]
    elif "regime" in head:
        del head["regime"]
    text = _dumped(head)
    if not line.get("parts"):
        return text
    parts = [_dumped(part) for part in line["parts"]]
    return f'{text[:-1]}, "parts": [\n  ' + ",\n  ".join(parts) + "]}"


def _index(table: dict[str, int], value: object) -> int:
    """Return the place of a value in a table of the file; add it if it is new."""
    return table.setdefault(json.dumps(value, ensure_ascii=False), len(table))


def _dumped(plain: Mapping[str, object]) -> str:
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def line_of(e: Entry) -> dict[str, object]:
    """Return the line of an entry, without the texts of claims.toml and without empty fields."""
    if e.verdict in (NOT_YET, NOT_RUN) or e.alias_of:  # an alias shares its claim's entry
        return {"id": e.id, "verdict": e.verdict}
    reason = e.reason if e.reason != _joined(e.parts) else ""
    line: dict[str, Any] = {
        "id": e.id,
        "verdict": e.verdict,
        "preset": e.preset,
        "seeds": e.seeds,
        "engine": e.engine,
        "seconds": _short(e.seconds),
        "chance": e.chance,
        "evidence": e.evidence,
        "reason": reason,
        "regime": {g.text: _gate_row(g) for g in e.regime},
        "spans": {k: [_short(end) for end in ends] for k, ends in e.spans.items()},
        "finding": {k: [_short(v) for v in _distinct(n)] for k, n in e.numbers.items()},
        "asked": e.asked,
        "parts": [_part_line(part, e.parts) for part in e.parts],
    }
    if e.expected is not None and (e.expected.low is not None or e.expected.high is not None):
        line["wanted"] = [_short(e.expected.low), _short(e.expected.high)]
    return {k: v for k, v in line.items() if v not in (None, "", [], {}, False)}


def _distinct(number: Number) -> tuple[float, ...]:
    """Return a number with its interval, or without one that has no width."""
    return number[:1] if len({*number}) == 1 else number


def _gate_row(gate: Gate) -> list[float | int | str | None]:
    """Return [factor, run, low, high], followed by 0 if the paper does not state the hypothesis."""
    factor, low, high = (_short(v, 4) for v in (gate.factor, gate.low, gate.high))
    return [factor, gate.run, low, high, *(() if gate.printed else (0,))]


def _joined(parts: Sequence[Part]) -> str:
    """Return the reason of an entry that follows from its parts."""
    return parts[0].reason if len(parts) == 1 else speaking(parts)


def _part_line(part: Part, parts: Sequence[Part]) -> dict[str, object]:
    chosen = sorted(part.measured, key=part.room)[:DECISIVE]
    several = {m.wanted for m in part.measured} != {(part.low, part.high)}
    numbers = {}
    for m in (m for m in part.measured if m in chosen):
        row = [_short(m.mean), _short(m.low), _short(m.high)]
        name = SAME if m.name == part.name else m.name
        numbers[name] = [*row, *map(_short, m.wanted)] if several and m.wanted else row
    unbounded = part.low is None and part.high is None  # else the range shows how sharp it is
    line = {
        "part": part.name,
        "verdict": None if len(parts) == 1 else str(part.outcome),
        "wanted": None if part.low is part.high else [_short(part.low), _short(part.high)],
        "numbers": numbers,
        "of": len(part.measured) if len(part.measured) > len(numbers) else None,
        "reason": part.reason,
        "sharpness": {s.what: _short(s.value, 3) for s in part.sharpness if unbounded},
        "exact": not part.chance,
    }
    return {k: v for k, v in line.items() if k == "part" or v not in (None, "", [], {}, False)}


def _short(value: float | None, digits: int = 4) -> float | int | str | None:
    """Return a rounded number; infinity and nan become text, because JSON does not have them."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if not math.isfinite(value):
        return str(value)
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _number(value: object) -> Any:
    return float(value) if isinstance(value, str) else value


def read_line(line: Json) -> Entry:
    """Return the entry of a line, with the texts of its claim but without values per seed."""
    claim, known = claims()[line["id"]], claims()
    bare = entry(claim, None, Facts(), known)
    if line["verdict"] in (NOT_YET, NOT_RUN):
        return replace(bare, verdict=line["verdict"])
    parts = tuple(_read_part(part, line["verdict"]) for part in line.get("parts", ()))
    wanted = line.get("wanted")
    low, high = (_number(end) for end in wanted) if wanted else (None, None)
    expected = Expected(claim.value, low, high) if claim.value or wanted else None
    facts = Facts(preset=line.get("preset"))
    return replace(
        bare,
        verdict=line["verdict"],
        expected=expected,
        measured=tuple({m.name: m for part in parts for m in part.measured}.values()),
        reason=line.get("reason", "") or _joined(parts),
        seeds=line.get("seeds", 0),
        preset=line.get("preset"),
        engine=line.get("engine"),
        seconds=line.get("seconds", 0.0),
        command=verify_command(known.get(claim.alias_of, claim), facts),
        parts=parts,
        regime=tuple(
            Gate(text, _number(factor), _number(low), _number(high), not unprinted, run)
            for text, (factor, run, low, high, *unprinted) in line.get("regime", {}).items()
        ),
        spans={k: (ends[0], ends[1]) for k, ends in line.get("spans", {}).items()},
        chance=line.get("chance", False),
        evidence=line.get("evidence", ""),
        numbers={k: _read_number(ends) for k, ends in line.get("finding", {}).items()},
        asked=line.get("asked", ""),
    )


def _read_number(ends: Sequence[float | str]) -> Number:
    numbers = [_number(end) for end in ends]
    return Number(*numbers) if len(numbers) > 1 else Number(*numbers * 3)


def _read_part(line: Json, verdict: str) -> Part:
    low, high = (_number(end) for end in line.get("wanted", (None, None)))
    measured = []
    for name, (mean, least, most, *own) in line.get("numbers", {}).items():
        wanted = (_number(own[0]), _number(own[1])) if own else (low, high)
        called = line["part"] if name == SAME else name
        measured.append(Summary(called, mean, least, most, (), wanted))
    sharp = tuple(Sensitivity(what, _number(v)) for what, v in line.get("sharpness", {}).items())
    word, reason = Outcome(line.get("verdict", verdict)), line.get("reason", "")
    chance = not line.get("exact", False)
    return Part(line["part"], word, tuple(measured), reason, sharp, low, high, chance)
