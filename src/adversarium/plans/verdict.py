"""What a check says: a word, its parts, its numbers, why it is open, how sharp it is."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from adversarium.plans.evidence import Summary


class Word(StrEnum):
    """The words of a verdict; a claim that was not judged has none of them."""

    HOLDS = "holds"
    FAILS = "fails"
    MIXED = "mixed"
    UNDECIDED = "undecided"
    NOT_TESTABLE = "not testable"


class Why(StrEnum):
    """Why a claim is undecided."""

    FEW_SEEDS = "too few seeds"
    REGIME = "out of regime"
    ATTACK = "inexact attack"
    CONSTANT = "asymptotic constant"
    CITED = "cited result"
    SPANS = "spans too little"
    FAILED = "a run failed"


@dataclass(frozen=True)
class Part:
    """One part of a statement with its own verdict."""

    name: str
    word: Word
    measured: tuple[Summary, ...] = ()
    reason: str = ""
    sharpness: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a rule says, and on what numbers. `detail` is the reason in words; an undecided verdict
    also has its kind (`why`)."""

    word: Word
    measured: tuple[Summary, ...] = ()
    low: float | None = None
    high: float | None = None
    detail: str = ""
    why: Why | None = None
    sharpness: str = ""
    within: tuple[Part, ...] = field(default=(), repr=False)
    said: str = ""  # the reasons of several parts, put together

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
        return (Part(name, self.word, self.measured, self.reason, self.sharpness),)

    def called(self, name: str) -> "Verdict":
        """The same as one named part."""
        return replace(
            self, within=(Part(name, self.word, self.measured, self.reason, self.sharpness),)
        )


def undecided(
    why: Why,
    detail: str = "",
    measured: tuple[Summary, ...] = (),
    low: float | None = None,
    high: float | None = None,
) -> Verdict:
    """A verdict that stays open, for a named reason."""
    return Verdict(Word.UNDECIDED, measured, low, high, detail, why)
