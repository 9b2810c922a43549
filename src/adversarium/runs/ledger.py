"""Define the entries of the ledger: every claim with its verdict. The keys of their JSON are
stable."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from adversarium.digest import Json
from adversarium.plans.evidence import Summary
from adversarium.plans.findings import Number, findings
from adversarium.plans.gates import Gate
from adversarium.plans.intervals import finite
from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import Claim, claims
from adversarium.plans.verdict import Outcome, Part, Sensitivity, Verdict

NOT_YET = "not yet implemented"
NOT_RUN = "not run"


@dataclass(frozen=True)
class Expected:
    """The paper's value, and the range that the rule accepts."""

    text: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Facts:
    """The origin of an entry's evidence."""

    preset: str | None = None
    seeds: int = 0
    engine: str | None = None
    seconds: float = 0.0
    asked: str = ""  # --seeds as the user gave it
    regime: tuple[Gate, ...] = ()
    spans: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # values by symbol
    evidence: str = ""  # a digest of the keys of its runs


@dataclass(frozen=True)
class Entry:
    """A claim as an entry of the ledger."""

    id: str
    paper: str
    source: str
    statement: str
    kind: str
    verdict: str
    measured: tuple[Summary, ...] = ()
    expected: Expected | None = None
    reason: str = ""
    seeds: int = 0
    preset: str | None = None
    engine: str | None = None
    seconds: float = 0.0
    corrected: str | None = None
    command: str | None = None
    note: str = ""
    parts: tuple[Part, ...] = ()
    regime: tuple[Gate, ...] = ()
    spans: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    reading: str = ""
    for_all: tuple[str, ...] = ()
    waived: Mapping[str, str] = field(default_factory=dict)  # as in claims.toml
    alias_of: str = ""
    chance: bool = False  # other seeds could change the verdict
    evidence: str = ""  # a digest of the keys of its runs
    numbers: Mapping[str, Number] = field(default_factory=dict)  # those of its finding
    asked: str = ""  # digest of the quantities from which these numbers are

    @property
    def finding(self) -> str:
        """Return the finding of the claim; empty if it has none for this verdict or if one of its
        quantities was not measured."""
        written = findings(self.paper).get(self.alias_of or self.id)
        if written is None or (written.verdict, written.asked) != (self.verdict, self.asked):
            return ""
        return written.filled(self.numbers) if {*self.numbers} == {*written.quantities} else ""

    @property
    def why(self) -> str:
        """Return in a few words why the claim fails, for lists; empty if nothing was written."""
        written = findings(self.paper).get(self.alias_of or self.id)
        return written.why if written is not None and written.verdict == self.verdict else ""

    @property
    def sharpness(self) -> tuple[tuple[str, Sensitivity], ...]:
        """Return how sharp the evidence for every part is, each with the part's name."""
        return tuple((part.name, sharp) for part in self.parts for sharp in part.sharpness)

    def plain(self) -> dict[str, object]:
        """Return the entry as JSON values, with LaTeX converted to plain text."""
        whole = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            **whole,
            **{name: plain_text(whole[name]) for name in ("statement", "note", "reading")},
            "measured": [_measured(m) for m in self.measured],
            "expected": None
            if self.expected is None
            else asdict(replace(self.expected, text=plain_text(self.expected.text))),
            "parts": [
                {
                    "name": part.name,
                    "verdict": str(part.outcome),
                    "measured": [_as_json(m) for m in part.measured],
                    "low": part.low,
                    "high": part.high,
                    "reason": part.reason,
                    "sharpness": {s.what: finite(s.value) for s in part.sharpness},
                }
                for part in self.parts
            ],
            "regime": [
                {
                    "text": gate.text,
                    "factor": finite(gate.factor),
                    "printed": gate.printed,
                    "low": finite(gate.low),
                    "high": finite(gate.high),
                    "holds": gate.holds,
                    "run": gate.run,
                }
                for gate in self.regime
            ],
            "spans": {k: [finite(end) for end in ends] for k, ends in self.spans.items()},
            "sharpness": [
                {"part": name, "what": s.what, "value": finite(s.value)}
                for name, s in self.sharpness
            ],
            "for_all": list(self.for_all),
            "finding": self.finding,
            "numbers": {name: list(number) for name, number in self.numbers.items()},
        }


def _measured(summary: Summary) -> dict[str, object]:
    """Return a quantity of an entry as JSON, without its accepted range, which the part has."""
    summarised = {k: v for k, v in _as_json(summary).items() if k != "wanted"}
    return {**summarised, "values": list(summary.values)}


def _as_json(summary: Summary) -> dict[str, object]:
    """Return a quantity of a part as JSON, without its values per seed, which the entry has."""
    return {k: v for k, v in asdict(summary).items() if k != "values"}


def read(plain: Json) -> Entry:
    """Read an entry from JSON; entries of older versions may have no parts."""
    known = {k: v for k, v in plain.items() if k in Entry.__dataclass_fields__}
    values = {m["name"]: m["values"] for m in plain["measured"]}
    converted = {
        "measured": _summaries(plain["measured"], values),
        "expected": Expected(**plain["expected"]) if plain.get("expected") else None,
        "parts": tuple(
            Part(
                p["name"], Outcome(p["verdict"]), _summaries(p["measured"], values), p["reason"],
                _sharpness(p.get("sharpness")), p.get("low"), p.get("high"),
            )
            for p in plain.get("parts", ())
        ),
        "regime": tuple(
            Gate(
                g["text"], _factor(g), _number(g.get("low"), -math.inf),
                _number(g.get("high"), math.inf), g["printed"], g.get("run", ""),
            )
            for g in plain.get("regime", ())
        ),
        "spans": {letter: tuple(ends) for letter, ends in plain.get("spans", {}).items()},
        "for_all": tuple(plain.get("for_all", ())),
        "numbers": {k: Number(*number) for k, number in plain.get("numbers", {}).items()},
    }  # fmt: skip
    return Entry(**{**known, **converted})


def _sharpness(plain: object) -> tuple[Sensitivity, ...]:
    """Return how sharp the evidence for a part is; empty for old ledgers, which have text there."""
    items = plain.items() if isinstance(plain, Mapping) else ()
    return tuple(Sensitivity(what, _number(value, math.inf)) for what, value in items)


def _summaries(
    plain: Sequence[Json], values: Mapping[str, Sequence[float | None]]
) -> tuple[Summary, ...]:
    made = []
    for m in plain:
        wanted = tuple(m["wanted"]) if m.get("wanted") else None
        extra = {"values": tuple(values.get(m["name"], ())), "wanted": wanted}
        made.append(Summary(**{**m, **extra}))
    return tuple(made)


def _factor(gate: Json) -> float:
    """Return the factor of a hypothesis. JSON has no infinity: if a hypothesis holds and its factor
    is null, the factor is infinite."""
    if gate["factor"] is None and gate["holds"]:
        return math.inf if gate.get("high") is None else -math.inf
    return _number(gate["factor"], math.nan)


def _number(value: float | None, else_: float) -> float:
    return else_ if value is None else value


@dataclass(frozen=True)
class Ledger:
    """The entries of an audit, the machine that ran it, and its duration in seconds."""

    claims: tuple[Entry, ...]
    machine: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def plain(self) -> Json:
        """Return the ledger as plain JSON values."""
        entries = [entry.plain() for entry in self.claims]
        return {"claims": entries, "machine": dict(self.machine), "seconds": self.seconds}


def entry(claim: Claim, verdict: Verdict | None, facts: Facts, known: Mapping[str, Claim]) -> Entry:
    """Return the ledger entry of a claim with its verdict, or “not yet implemented” without one."""
    bare = Entry(claim.id, claim.paper, claim.source, claim.statement, claim.kind, NOT_YET)
    corrected = f"{claim.id}.corrected"
    bare = replace(
        bare,
        note=claim.note,
        reading=claim.reading,
        for_all=claim.for_all,
        waived=claim.waived,
        alias_of=claim.alias_of,
        corrected=corrected if corrected in known else None,
        expected=Expected(claim.value, None, None) if claim.value else None,
    )
    if verdict is None:
        return bare
    expected = None
    if claim.value or verdict.low is not None or verdict.high is not None:
        expected = Expected(claim.value, verdict.low, verdict.high)
    return replace(
        bare,
        verdict=verdict.verdict,
        measured=tuple(replace(m, wanted=None) for m in verdict.measured),
        expected=expected,
        reason=verdict.reason,
        seeds=facts.seeds,
        preset=facts.preset,
        engine=facts.engine,
        seconds=facts.seconds,
        command=verify_command(known.get(claim.alias_of, claim), facts),
        parts=verdict.parts,
        regime=facts.regime,
        spans={letter: (min(v), max(v)) for letter, v in facts.spans.items()},
        chance=verdict.chance,
        evidence=facts.evidence,
        **_finding_numbers(claim, verdict),
    )


def unjudged(claim: Claim, reason: str = "") -> Entry:
    """Return the entry of a claim without a verdict: “not yet implemented” or “not run”."""
    known = claims()
    bare = entry(claim, None, Facts(), {**known, claim.id: claim})
    waits = known.get(claim.alias_of, claim).experiment
    return replace(bare, verdict=NOT_RUN, reason=reason) if waits else bare


def _finding_numbers(claim: Claim, verdict: Verdict) -> dict[str, Any]:
    """Return the numbers of the claim's finding, and the digest of what they are."""
    written = findings(claim.paper).get(claim.alias_of or claim.id)
    if written is None:
        return {}
    return {"numbers": written.numbers(verdict.measured) or {}, "asked": written.asked}


def verify_command(claim: Claim, facts: Facts) -> str:
    """Return the command that reproduces the entry."""
    what = claim.id if claim.id in claims() else claim.experiment
    seeds = f" --seeds {facts.asked}" if facts.asked else ""
    return f"adversarium verify {what} --preset {facts.preset}{seeds}"
