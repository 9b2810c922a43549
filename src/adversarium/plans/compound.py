"""Rules made of rules: all of them, each run's, given an event, under another kind or name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from adversarium.plans.evidence import Evidence, Need, Quantity, Where, exactly, summary
from adversarium.plans.rules import Check
from adversarium.plans.verdict import Verdict, Why, Word, undecided


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
        """The rows that it reads."""
        return (*self.check.needs, *self.event.needs)

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
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
        """The rows that it reads."""
        return self.check.needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        verdict = self.check.judge(rows)
        if verdict.word != Word.FAILS:
            return verdict
        told = f"{self.because}; {verdict.reason}"
        return undecided(Why.CONSTANT, told, verdict.measured, verdict.low, verdict.high)


@dataclass(frozen=True)
class Cited:
    """A statement that a paper takes from elsewhere: undecided, and said so."""

    kind: str
    what: str
    needs: tuple[Need, ...] = ()

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on no rows."""
        return undecided(Why.CITED, f"{self.what}; its own source would decide it")


@dataclass(frozen=True)
class Every:
    """All of several checks, each a part; the first one's kind is the claim's.

    An unmet hypothesis comes first (nothing can be said outside the regime), then a failure.
    """

    checks: tuple[Check, ...]

    @property
    def kind(self) -> str:
        """The first check's."""
        return self.checks[0].kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return tuple(need for check in self.checks for need in check.needs)

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        verdicts = [check.judge(rows) for check in self.checks]
        measured = tuple(m for v in verdicts for m in v.measured)
        parts = tuple(part for v in verdicts for part in v.parts)
        open_ = [v for v in verdicts if v.word == Word.UNDECIDED]
        outside = [v for v in open_ if v.why == Why.REGIME]
        failed = [v for v in verdicts if v.word == Word.FAILS]
        for bad in (outside, failed, open_):
            if bad:
                return replace(bad[0], measured=measured, within=parts, said=_told(bad))
        return replace(verdicts[0], measured=measured, within=parts)


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
        """The rows that it reads."""
        return self.make(self.meant).needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        checks = tuple(self.make(exactly(run.task)) for run in rows.where(self.meant))
        if not checks:
            return undecided(Why.REGIME, "no such run in the plan")
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
        """The verdict on the rows."""
        checks = tuple(self.make(rows))
        return Every(checks).judge(rows) if checks else undecided(Why.REGIME, self.lacking)


@dataclass(frozen=True)
class Kind:
    """A check that counts as one of another kind."""

    kind: str
    check: Check

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return self.check.needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        return self.check.judge(rows)


@dataclass(frozen=True)
class Titled:
    """A check as one part of a statement, by name."""

    name: str
    check: Check

    @property
    def kind(self) -> str:
        """The check's."""
        return self.check.kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return self.check.needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        return self.check.judge(rows).called(self.name)


def _told(verdicts: list[Verdict]) -> str:
    """The reasons, each with the name of its quantity once."""
    told = []
    for v in verdicts:
        name = v.measured[0].name if v.measured else ""
        told.append(v.reason if not name or name in v.reason else f"{name}: {v.reason}")
    return "; ".join(told)
