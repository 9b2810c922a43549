"""What a check says: a word, its parts, its numbers, why it is open, how sharp it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from adversarium.plans.evidence import Summary


class Word(StrEnum):
    """The words of a verdict; a claim that was not judged has none of them. A hypothesis or a
    definition is a setting: its factors are told, and it counts as no claim."""

    HOLDS = "holds"
    FAILS = "fails"
    MIXED = "mixed"
    UNDECIDED = "undecided"
    NOT_TESTABLE = "not testable"
    SETTING = "setting"


class Why(StrEnum):
    """Why a claim is undecided, or not testable.

    >>> Why.SPANS.value
    'spans too little'
    """

    FEW_SEEDS = "too few seeds"
    FEW_POINTS = "too few points"
    REGIME = "out of regime"
    ATTACK = "inexact attack"
    CONSTANT = "asymptotic constant"
    SPANS = "spans too little"
    FAILED = "a run failed"
    CITED = "cited result"
    VACUOUS = "vacuous"
    ALL_NETWORKS = "quantifies over all networks"


@dataclass(frozen=True)
class Sharp:
    """What a part would have noticed: a kind of number, and the number.

    >>> str(Sharp("half width", 0.02))
    'half width 0.02'
    """

    what: str
    value: float

    def __str__(self) -> str:
        return f"{self.what} {self.value:.3g}"


_WIDTHS = ("half width", "tolerance")  # the largest is the honest one; of slacks the smallest


NO_RUN = "no such run in the plan (another preset may have it)"


@dataclass(frozen=True)
class Part:
    """One part of a statement with its own verdict."""

    name: str
    word: Word
    measured: tuple[Summary, ...] = ()
    reason: str = ""
    sharpness: tuple[Sharp, ...] = ()
    low: float | None = None  # the range that is wanted
    high: float | None = None
    chance: bool = True  # other seeds could have said something else


@dataclass(frozen=True)
class Verdict:
    """What a rule says, and on what numbers. `detail` is the reason in words; an undecided verdict
    also has its kind (`why`). `chance`: other seeds could have said something else."""

    word: Word
    measured: tuple[Summary, ...] = ()
    low: float | None = None
    high: float | None = None
    detail: str = ""
    why: Why | None = None
    sharpness: tuple[Sharp, ...] = ()
    chance: bool = False
    within: tuple[Part, ...] = field(default=(), repr=False)
    said: str = ""  # the reasons of several parts, put together

    def __post_init__(self) -> None:
        """The range is that of the first number; the others tell something beside it."""
        ranged = tuple(
            replace(m, wanted=(self.low, self.high) if i == 0 else (None, None))
            if m.wanted is None
            else m
            for i, m in enumerate(self.measured)
        )
        object.__setattr__(self, "measured", ranged)

    @property
    def verdict(self) -> str:
        """The word as text."""
        return str(self.word)

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.said or ": ".join(part for part in (self.why, self.detail) if part)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that it was made of; itself where it has none."""
        if self.within:
            return self.within
        name = self.measured[0].name if self.measured else ""
        return (self._part(name, self.sharpness),)

    def called(self, name: str) -> "Verdict":
        """The same as one named part: the widest interval and the smallest slack speak for it."""
        told: dict[str, Sharp] = {}
        for sharp in (s for part in self.parts for s in part.sharpness):
            pick = max if sharp.what in _WIDTHS else min
            told[sharp.what] = pick(told.get(sharp.what, sharp), sharp, key=lambda s: s.value)
        return replace(self, within=(self._part(name, tuple(told.values())),))

    def _part(self, name: str, sharpness: tuple[Sharp, ...]) -> Part:
        ends = self.low, self.high
        return Part(name, self.word, self.measured, self.reason, sharpness, *ends, self.chance)


def undecided(
    why: Why,
    detail: str = "",
    measured: tuple[Summary, ...] = (),
    low: float | None = None,
    high: float | None = None,
) -> Verdict:
    """A verdict that stays open, for a named reason."""
    return Verdict(Word.UNDECIDED, measured, low, high, detail, why)


def together(words: Sequence[Word]) -> Word:
    """The word of a statement with these parts: mixed where some hold and others fail or cannot be
    tested, else the worst of them.

    >>> together([Word.HOLDS, Word.FAILS]), together([Word.HOLDS, Word.UNDECIDED])
    (<Word.MIXED: 'mixed'>, <Word.UNDECIDED: 'undecided'>)
    """
    judged = [word for word in words if word not in (Word.SETTING, Word.NOT_TESTABLE)]
    if not judged:
        return Word.NOT_TESTABLE if Word.NOT_TESTABLE in words else Word.SETTING
    if Word.MIXED in judged or {Word.HOLDS, Word.FAILS} <= set(judged):
        return Word.MIXED
    if Word.NOT_TESTABLE in words and set(judged) == {Word.HOLDS}:
        return Word.MIXED
    order = (Word.FAILS, Word.UNDECIDED, Word.HOLDS)
    return min(judged, key=order.index)


def speaking(parts: Sequence[Part]) -> str:
    """What speaks against a statement with these parts: those that do not hold, with reasons; of
    those without a run how many there are."""
    against = [p for p in parts if p.word not in (Word.HOLDS, Word.SETTING)]
    absent = [p for p in against if p.word == Word.UNDECIDED and NO_RUN in p.reason]
    told = [
        f"{p.name}: {p.word}" + (f", {p.reason}" if p.reason else "")
        for p in against
        if p not in absent
    ]
    if absent:
        more = f" and {len(absent) - 1} more parts" if len(absent) > 1 else ""
        told.append(f"{absent[0].name}{more}: {Word.UNDECIDED}, {NO_RUN}")
    return "; ".join(told)
