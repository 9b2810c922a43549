"""Read the findings: one or two sentences per claim, with numbers from its evidence.

A paper's findings.toml has one table per claim: `verdict`, the verdict for which the sentence was
written, `finding`, the sentence, and one key per placeholder of the sentence. A placeholder such as
{V} shows the mean of a quantity, {V.low} and {V.high} the ends of its interval; a format as in
{V:.3g} replaces the two significant digits. Its key names the quantity, or selects the quantity
with the smallest or largest mean: V = {min = "margin (N = *)"}. `front`, if set, is the
place of the finding on the front page; `why` says in a few words why a claim fails.
"""

import hashlib
import json
import math
import string
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from adversarium.plans.evidence import Summary
from adversarium.plans.papers import papers, require_fields

MOST = 300  # the largest number of characters of a finding
MOST_WHY = 80  # the largest number of characters of a reason in a few words
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Number(NamedTuple):
    """A number of a finding, with the ends of its interval.

    >>> f"{Number(-0.1593)}, {Number(5123)}, {Number(3e-9)}, {Number(0.48252):.0%}"
    '−0.16, 5100, 3·10⁻⁹, 48%'
    """

    mean: float
    low: float = math.nan
    high: float = math.nan

    def __format__(self, spec: str) -> str:
        return formatted(self.mean, spec)


class _End(float):
    """The end of an interval, formatted like a number."""

    def __format__(self, spec: str) -> str:
        return formatted(float(self), spec)


def formatted(value: float, spec: str = "") -> str:
    """Return a number as text, with two significant digits unless `spec` says otherwise."""
    text = format(value, spec or ".2g")
    if "e" in text:
        digits, _, power = text.partition("e")
        if abs(int(power)) < 5 and int(power) >= 0:
            text = f"{float(text):.0f}"
        else:
            raised = f"10{str(int(power)).translate(_SUPERSCRIPTS)}"
            text = raised if digits == "1" else f"{digits}·{raised}"
    return text.replace("-", "−")


@dataclass(frozen=True)
class Finding:
    """The finding of one claim: the verdict for which it was written, a sentence with placeholders,
    and the quantity of each placeholder."""

    verdict: str
    text: str
    quantities: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    front: int = 0  # place on the front page; 0: not there
    why: str = ""  # for lists: in a few words, why the claim fails

    @property
    def placeholders(self) -> set[str]:
        """Return the names of the placeholders in the sentence."""
        fields = (name for _, name, _, _ in string.Formatter().parse(self.text) if name is not None)
        return {name.partition(".")[0] for name in fields}

    @property
    def asked(self) -> str:
        """Return a digest of the quantities, which is stored with their numbers."""
        plain = json.dumps(self.quantities, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(plain.encode()).hexdigest()[:8] if self.quantities else ""

    def numbers(self, measured: Iterable[Summary]) -> dict[str, Number] | None:
        """Return the number of each placeholder; None if a quantity was not measured."""
        known = [m for m in measured if m.mean is not None]
        found = {name: _selected(one, known) for name, one in self.quantities.items()}
        numbers = {name: _number(m) for name, m in found.items() if m is not None}
        return numbers if len(numbers) == len(found) else None

    def filled(self, numbers: Mapping[str, Number]) -> str:
        """Return the sentence with its numbers."""
        ends = {name: Number(n.mean, _End(n.low), _End(n.high)) for name, n in numbers.items()}
        return self.text.format(**ends)


def _selected(one: str | Mapping[str, str], known: list[Summary]) -> Summary | None:
    if isinstance(one, str):
        return next((m for m in known if m.name == one), None)
    (which, pattern), = one.items()  # fmt: skip
    pick = min if which == "min" else max
    # brackets are common in names and are no sets of letters here
    matching = [m for m in known if fnmatchcase(m.name, pattern.replace("[", "[[]"))]
    return pick(matching, key=_mean, default=None)


def _mean(m: Summary) -> float:
    return math.nan if m.mean is None else m.mean


def _number(m: Summary) -> Number:
    """Return a quantity with four digits, as the ledger stores it."""
    low, high = (_mean(m) if end is None else end for end in (m.low, m.high))
    return Number(*(float(f"{value:.4g}") for value in (_mean(m), low, high)))


@cache
def findings(tag: str) -> dict[str, Finding]:
    """Return the findings of a paper by claim; empty if it has no findings.toml."""
    paper = papers().get(tag)  # a claim of a user file has no paper
    path = paper.folder / "findings.toml" if paper else None
    if path is None or not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise ValueError(f"{path} cannot be read: {fault}.") from fault
    known = {}
    for id, table in tables.items():
        try:
            known[id] = _finding(table)
        except ValueError as fault:
            raise ValueError(f"{path}: {id}: {fault}.") from fault
    return known


_FIELDS = {"verdict": str, "finding": str}


def _finding(table: Mapping[str, object]) -> Finding:
    if not isinstance(table, Mapping):
        raise ValueError(f"a table per claim is needed, got {table!r}")
    names = {n: v for n, v in table.items() if n not in (*_FIELDS, "front", "why")}
    require_fields(table, _FIELDS, {"front": int, "why": str, **dict.fromkeys(names, object)})
    for name, one in names.items():
        chosen = isinstance(one, dict) and len(one) == 1 and {*one} <= {"min", "max"}
        if not isinstance(one, str) and not chosen:
            raise ValueError(f'{name} needs the name of a quantity or {{min = "…"}}, got {one!r}')
    whole = {"verdict": table["verdict"], "text": table["finding"], "front": table.get("front", 0)}
    made = Finding(**whole, quantities=names, why=table.get("why", ""))  # type: ignore[arg-type]
    if made.placeholders != set(names):
        differ = ", ".join(sorted(made.placeholders ^ set(names)))
        raise ValueError(f"its placeholders and its keys differ: {differ}")
    return made
