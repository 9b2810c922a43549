"""Rules made of rules: all of them, named parts, each run's, given an event, under another kind.

What may go wrong by chance, one in a hundred for a claim, is shared among its members.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adversarium.plans.evidence import Evidence, Need, NoSuchRun, Quantity, Where, exactly, summary
from adversarium.plans.rules import (
    AtMost,
    Check,
    Existence,
    Identity,
    InRegime,
    NotTestable,
    Setting,
)
from adversarium.plans.verdict import NO_RUN, Verdict, Why, Word, speaking, together, undecided

_CERTAIN = (Identity, AtMost, Existence, InRegime, NotTestable, Setting)  # no interval decides them


@dataclass(frozen=True)
class Given:
    """The check on the seeds in which a random hypothesis of the claim came true (1)."""

    event: Quantity
    check: Check

    @property
    def kind(self) -> str:
        """The check's."""
        return self.check.kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """Those of the check and of the event."""
        return (*self.check.needs, *self.event.needs)

    def judge(self, rows: Evidence) -> Verdict:
        """Judges the seeds in which it happened."""
        happened = self.event.of(rows)
        told = summary(self.event, happened)
        if not happened.any():
            return undecided(Why.REGIME, f"{self.event.name} in no seed", (told,))
        verdict = self.check.judge(rows.kept(happened == 1))
        if not verdict.measured:
            return verdict
        return replace(verdict, measured=(*verdict.measured, told))


@dataclass(frozen=True)
class UnlessRefuted:
    """A check that finite sizes can confirm and not refute: where it fails it is undecided."""

    check: Check
    because: str

    @property
    def kind(self) -> str:
        """The check's."""
        return self.check.kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """The check's."""
        return self.check.needs

    def judge(self, rows: Evidence) -> Verdict:
        """A failure says nothing, a success does."""
        verdict = self.check.judge(rows)
        if verdict.word != Word.FAILS:
            return verdict
        parts = tuple(
            replace(part, word=Word.UNDECIDED) if part.word == Word.FAILS else part
            for part in verdict.parts
        )
        told = f"{self.because}; {verdict.reason}"
        open_ = undecided(Why.CONSTANT, told, verdict.measured, verdict.low, verdict.high)
        return replace(open_, within=parts)


@dataclass(frozen=True)
class Every:
    """All of several checks, one statement at several places; the first one's kind is the claim's.

    An unmet hypothesis comes first (nothing can be said outside the regime), then a failure.
    """

    checks: tuple[Check, ...]

    @property
    def kind(self) -> str:
        """The first check's."""
        return self.checks[0].kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """Those of all checks."""
        return _needs(self.checks)

    def judge(self, rows: Evidence) -> Verdict:
        """The first that speaks against it, else the first."""
        verdicts = _judged(self.checks, rows)
        measured = tuple(m for v in verdicts for m in v.measured)
        parts = tuple(part for v in verdicts for part in v.parts)
        open_ = [v for v in verdicts if v.word == Word.UNDECIDED]
        outside = [v for v in open_ if v.why == Why.REGIME]
        failed = [v for v in verdicts if v.word in (Word.FAILS, Word.MIXED)]
        whole = dict(measured=measured, within=parts, chance=any(v.chance for v in verdicts))
        for bad in (outside, failed, open_):
            if bad:
                return replace(bad[0], **whole, said=_told(bad))  # type: ignore[arg-type]
        good = [v for v in verdicts if v.word == Word.HOLDS] or verdicts
        return replace(min(good, key=_slack), **whole)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Parts:
    """The parts of a statement by name, each with its own word: mixed where some hold and some
    fail."""

    checks: tuple[tuple[str, Check], ...]

    @property
    def kind(self) -> str:
        """The first part's."""
        return self.checks[0][1].kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """Those of all parts."""
        return _needs(check for _, check in self.checks)

    def judge(self, rows: Evidence) -> Verdict:
        """Every part by itself, and the word of them together."""
        names, checks = zip(*self.checks, strict=True)
        verdicts = dict(zip(names, _judged(checks, rows), strict=True))
        word = together([v.word for v in verdicts.values()])
        parts = tuple(v.called(name).parts[0] for name, v in verdicts.items())
        whys = [v.why for v in verdicts.values() if v.why is not None and v.word == word]
        first = next((v for v in verdicts.values() if v.word == word), None)
        return Verdict(
            word,
            tuple(m for v in verdicts.values() for m in v.measured),
            first.low if first else None,
            first.high if first else None,
            why=whys[0] if whys else None,
            chance=any(v.chance for v in verdicts.values()),
            within=parts,
            said=speaking(parts),
        )


@dataclass(frozen=True)
class Each:
    """A check of every run that is meant: all must hold, and there must be one."""

    meant: Where
    make: Callable[[Where], Check] = field(repr=False)

    @property
    def kind(self) -> str:
        """The check's."""
        return self.make(self.meant).kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """The check's, of all runs that are meant."""
        return tuple(replace(need, alone=False) for need in self.make(self.meant).needs)

    def judge(self, rows: Evidence) -> Verdict:
        """All of them."""
        checks = tuple(self.make(exactly(run.task)) for run in rows.where(self.meant))
        if not checks:
            return undecided(Why.REGIME, NO_RUN)
        return Every(checks).judge(rows)


@dataclass(frozen=True)
class Present:
    """Checks that depend on what was run: all that `make` makes of the rows must hold, and there
    must be one."""

    kind: str
    make: Callable[[Evidence], Sequence[Check]] = field(repr=False)
    lacking: str = "nothing to judge"
    needs: tuple[Need, ...] = ()

    def judge(self, rows: Evidence) -> Verdict:
        """All of them."""
        checks = tuple(self.make(rows))
        return Every(checks).judge(rows) if checks else undecided(Why.REGIME, self.lacking)


@dataclass(frozen=True)
class Kind:
    """A check that counts as one of another kind."""

    kind: str
    check: Check

    @property
    def needs(self) -> tuple[Need, ...]:
        """The check's."""
        return self.check.needs

    def judge(self, rows: Evidence) -> Verdict:
        """What the check says."""
        return self.check.judge(rows)


def named_parts(check: Check) -> Mapping[str, Check]:
    """The named parts of a check, whatever it is wrapped in, each with what it is given; none where
    it has no names."""
    if isinstance(check, Parts):
        return dict(check.checks)
    if isinstance(check, Every):
        return {name: part for one in check.checks for name, part in named_parts(one).items()}
    if isinstance(check, Kind):
        return named_parts(check.check)
    if isinstance(check, (Given, UnlessRefuted)):
        return {name: replace(check, check=part) for name, part in named_parts(check.check).items()}
    return {}


def _needs(checks: Iterable[Check]) -> tuple[Need, ...]:
    return tuple(need for check in checks for need in check.needs)


def _judged(checks: Iterable[Check], rows: Evidence) -> list[Verdict]:
    """The verdicts of several checks; those that chance can decide wrongly share what may."""
    known = list(checks)
    shared = rows.shared(sum(not isinstance(check, _CERTAIN) for check in known))
    return [judged(check, rows if isinstance(check, _CERTAIN) else shared) for check in known]


def judged(check: Check, rows: Evidence) -> Verdict:
    """What a check says; open where the plan has no run that it asks for."""
    try:
        made = check.judge(rows)
    except NoSuchRun as lost:
        return undecided(Why.REGIME, f"{NO_RUN}: {lost}")
    if not isinstance(made, Verdict):
        raise ValueError(f"the judge of a check returns a Verdict, got {made!r}.")
    return made


def _slack(verdict: Verdict) -> float:
    """How far below its bound a verdict's largest number lies: the tightest speaks for all."""
    known = [value for m in verdict.measured for value in m.values if value is not None]
    return verdict.high - max(known) if verdict.high is not None and known else math.inf


def _told(verdicts: list[Verdict]) -> str:
    """The reasons, each with the name of its quantity once (parts have names of their own)."""
    told = []
    for v in verdicts:
        name = v.measured[0].name if v.measured and not v.said else ""
        told.append(v.reason if not name or name in v.reason else f"{name}: {v.reason}")
    return "; ".join(told)
