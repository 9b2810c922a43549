"""Define verdicts, with their parts, quantities, reasons and sensitivity."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from adversarium.plans.evidence import Summary


class Outcome(StrEnum):
    """The possible verdicts; a claim that was not judged has none of them.

    A hypothesis or a definition is a setting: the factors by which it is satisfied are reported,
    and it does not count as a claim.
    """

    HOLDS = "holds"
    FAILS = "fails"
    MIXED = "mixed"
    UNDECIDED = "undecided"
    NOT_TESTABLE = "not testable"
    SETTING = "setting"


class Why(StrEnum):
    """The reasons for which a claim is undecided or not testable.

    >>> Why.SPANS.value
    'spans too little'
    """

    FEW_SEEDS = "too few seeds"
    FEW_POINTS = "too few points"
    REGIME = "out of regime"
    ATTACK = "inexact attack"
    CONSTANT = "asymptotic constant"
    SPANS = "spans too little"
    NOT_TRIED = "not tried"
    FAILED = "a run failed"
    CITED = "cited result"
    VACUOUS = "vacuous"
    ALL_NETWORKS = "quantifies over all networks"


@dataclass(frozen=True)
class Sensitivity:
    """How sharp a part's evidence is: a measure, such as an interval's half width, and its value.

    >>> str(Sensitivity("half width", 0.02))
    'half width 0.02'
    """

    what: str
    value: float

    def __str__(self) -> str:
        return f"{self.what} {self.value:.3g}"


@dataclass(frozen=True)
class Fit:
    """The means of a quantity at several sizes, to which a power was fitted.

    `claimed` is the power that the paper claims.
    """

    name: str
    along: str
    sizes: tuple[float, ...]
    means: tuple[float, ...]
    claimed: float


_WIDTHS = ("half width", "tolerance")  # of several parts, report the largest; else the smallest


NO_RUN = "no such run in the plan (another preset may have it)"


@dataclass(frozen=True)
class Part:
    """One part of a statement with its own verdict."""

    name: str
    outcome: Outcome
    measured: tuple[Summary, ...] = ()
    reason: str = ""
    sharpness: tuple[Sensitivity, ...] = ()
    low: float | None = None  # the accepted range
    high: float | None = None
    chance: bool = True  # other seeds could change the verdict
    kind: str = ""  # the kind of its check
    fits: tuple[Fit, ...] = field(default=(), repr=False)

    def room(self, number: Summary) -> float:
        """Return how far a quantity's interval is inside its accepted range; negative if
        outside."""
        low, high = number.wanted or (self.low, self.high)
        ends = [v for v in (number.low, number.high, number.mean) if v is not None]
        if not ends:
            return -math.inf
        below = min(ends) - low if low is not None else math.inf
        above = high - max(ends) if high is not None else math.inf
        return min(below, above)


@dataclass(frozen=True)
class Verdict:
    """The verdict of a rule, with the quantities on which it is based.

    `detail` is the reason as text; an undecided verdict also has the kind of reason (`why`).
    `chance` is true if other seeds could change the verdict.
    """

    outcome: Outcome
    measured: tuple[Summary, ...] = ()
    low: float | None = None
    high: float | None = None
    detail: str = ""
    why: Why | None = None
    sharpness: tuple[Sensitivity, ...] = ()
    chance: bool = False
    within: tuple[Part, ...] = field(default=(), repr=False)
    said: str = ""  # the joined reasons of several parts
    kind: str = ""  # the kind of the check
    fits: tuple[Fit, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Give the accepted range to the first quantity; the others are only reported."""
        ranged = tuple(
            replace(m, wanted=(self.low, self.high) if i == 0 else (None, None))
            if m.wanted is None
            else m
            for i, m in enumerate(self.measured)
        )
        object.__setattr__(self, "measured", ranged)

    @property
    def verdict(self) -> str:
        """Return the verdict as text."""
        return str(self.outcome)

    @property
    def reason(self) -> str:
        """Return the reason as text."""
        return self.said or ": ".join(part for part in (self.why, self.detail) if part)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return the parts of the verdict; the verdict itself as one part if it has none."""
        if self.within:
            return self.within
        name = self.measured[0].name if self.measured else ""
        return (self._part(name, self.sharpness),)

    def called(self, name: str) -> "Verdict":
        """Return the verdict as one named part, with its widest interval and smallest slack."""
        return replace(self, within=(self._part(name, _sharpness(self.parts)),))

    def _part(self, name: str, sharpness: tuple[Sensitivity, ...]) -> Part:
        fits = self.fits or tuple(fit for part in self.within for fit in part.fits)
        return Part(
            name, self.outcome, self.measured, self.reason, sharpness, self.low, self.high,
            self.chance, self.kind, fits,
        )  # fmt: skip


def together(name: str, parts: Sequence[Part]) -> Part:
    """Return parts that have the same outcome as one part, with the reason of the part that is
    nearest to the end of its range."""
    worst = min(parts, key=lambda p: min(map(p.room, p.measured), default=math.inf))
    measured = tuple(m for part in parts for m in part.measured)
    chance = any(part.chance for part in parts)
    fits = tuple(fit for part in parts for fit in part.fits)
    merged = replace(worst, name=name, measured=measured, chance=chance, fits=fits)
    return replace(merged, sharpness=_sharpness(parts))


def _sharpness(parts: Iterable[Part]) -> tuple[Sensitivity, ...]:
    """Return the widest interval and the smallest slack of several parts."""
    by_name: dict[str, Sensitivity] = {}
    for sharp in (s for part in parts for s in part.sharpness):
        pick = max if sharp.what in _WIDTHS else min
        by_name[sharp.what] = pick(by_name.get(sharp.what, sharp), sharp, key=lambda s: s.value)
    return tuple(by_name.values())


def undecided(
    why: Why,
    detail: str = "",
    measured: tuple[Summary, ...] = (),
    low: float | None = None,
    high: float | None = None,
) -> Verdict:
    """Return an undecided verdict with its reason."""
    return Verdict(Outcome.UNDECIDED, measured, low, high, detail, why)


def combine(outcomes: Sequence[Outcome]) -> Outcome:
    """Combine the verdicts of a statement's parts: mixed if some hold and others fail or cannot be
    tested, else the worst of them.

    >>> combine([Outcome.HOLDS, Outcome.FAILS]), combine([Outcome.HOLDS, Outcome.UNDECIDED])
    (<Outcome.MIXED: 'mixed'>, <Outcome.UNDECIDED: 'undecided'>)
    """
    judged = [o for o in outcomes if o not in (Outcome.SETTING, Outcome.NOT_TESTABLE)]
    if not judged:
        return Outcome.NOT_TESTABLE if Outcome.NOT_TESTABLE in outcomes else Outcome.SETTING
    if Outcome.MIXED in judged or {Outcome.HOLDS, Outcome.FAILS} <= set(judged):
        return Outcome.MIXED
    if Outcome.NOT_TESTABLE in outcomes and set(judged) == {Outcome.HOLDS}:
        return Outcome.MIXED
    order = (Outcome.FAILS, Outcome.UNDECIDED, Outcome.HOLDS)
    return min(judged, key=order.index)


def speaking(parts: Sequence[Part]) -> str:
    """List the parts that do not hold, with reasons; only count the parts whose run is not in the
    plan."""
    against = [p for p in parts if p.outcome not in (Outcome.HOLDS, Outcome.SETTING)]
    absent = [p for p in against if p.outcome == Outcome.UNDECIDED and NO_RUN in p.reason]
    reasons = [
        f"{p.name}: {p.outcome}" + (f", {p.reason}" if p.reason else "")
        for p in against
        if p not in absent
    ]
    if absent:
        more = f" and {len(absent) - 1} more parts" if len(absent) > 1 else ""
        reasons.append(f"{absent[0].name}{more}: {Outcome.UNDECIDED}, {NO_RUN}")
    return "; ".join(reasons)
