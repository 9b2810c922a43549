"""Combine checks: all of several, named parts, one per run, or only the seeds with an event.

If combined checks depend on the seeds, they split the error probability of their claim (1 %).
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adversarium.plans.evidence import Evidence, Need, NoSuchRun, Quantity, Where, exactly, summary
from adversarium.plans.rules import (
    AtMost,
    Check,
    Existence,
    Hypothesis,
    Identity,
    InRegime,
    NotTestable,
    Open,
    require_quantities,
)
from adversarium.plans.verdict import (
    NO_RUN,
    Outcome,
    Part,
    Verdict,
    Why,
    combine,
    speaking,
    together,
    undecided,
)

_CERTAIN = (Identity, AtMost, Existence, InRegime, NotTestable, Hypothesis, Open)  # no interval


@dataclass(frozen=True)
class Given:
    """A check of only those seeds in which a random event happened (`event` is 1).

    >>> import numpy as np
    >>> from adversarium.plans import Rows, Trial, end
    >>> from adversarium.plans.evidence import Series
    >>> columns = {"event": [[1.0], [1.0], [0.0]], "error": [[0.0], [0.0], [9.0]]}  # three seeds
    >>> series = {name: Series(np.zeros(1), np.array(column)) for name, column in columns.items()}
    >>> rows = Evidence((Rows(Trial(function=max), (0, 1, 2), series),))
    >>> event, error = (end(name).on(Where()) for name in ("event", "error"))
    >>> Given(event, Identity(error, 0.0)).judge(rows).verdict
    'holds'
    """

    event: Quantity
    check: Check

    def __post_init__(self) -> None:
        require_quantities(self.event)

    @property
    def kind(self) -> str:
        """Return the kind of the check."""
        return self.check.kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the check and the event need."""
        return (*self.check.needs, *self.event.needs)

    def judge(self, rows: Evidence) -> Verdict:
        """Judge the seeds in which the event happened."""
        happened = self.event.of(rows)
        happenings = summary(self.event, happened)
        if not happened.any():
            return undecided(Why.REGIME, f"{self.event.name} is true in no seed", (happenings,))
        verdict = self.check.judge(rows.kept(happened == 1))
        if not verdict.measured:
            return verdict
        return replace(verdict, measured=(*verdict.measured, happenings))


@dataclass(frozen=True)
class UnlessRefuted:
    """A check that finite sizes can confirm but not refute: a failure becomes “undecided”.

    >>> import numpy as np
    >>> error = Quantity("error", lambda rows: np.array([0.5]))
    >>> UnlessRefuted(Identity(error, 0.1), "d is small").judge(Evidence()).why.value
    'asymptotic constant'
    """

    check: Check
    because: str

    @property
    def kind(self) -> str:
        """Return the kind of the check."""
        return self.check.kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the check needs."""
        return self.check.needs

    def judge(self, rows: Evidence) -> Verdict:
        """Turn a failure into “undecided”."""
        verdict = self.check.judge(rows)
        if verdict.outcome != Outcome.FAILS:
            return verdict
        parts = tuple(
            replace(part, outcome=Outcome.UNDECIDED) if part.outcome == Outcome.FAILS else part
            for part in verdict.parts
        )
        detail = f"{self.because}; {verdict.reason}"
        open_ = undecided(Why.CONSTANT, detail, verdict.measured, verdict.low, verdict.high)
        return replace(open_, within=parts)


@dataclass(frozen=True, init=False)
class Every:
    """A check that holds if all of several checks hold. Its kind is that of the first of them.

    It is undecided if a hypothesis is not satisfied; otherwise it fails if one of the checks fails.

    >>> import numpy as np
    >>> small = Quantity("here", lambda rows: np.array([1e-12]))
    >>> large = Quantity("there", lambda rows: np.array([1.0]))
    >>> Every(Identity(small, 1e-9), Identity(large, 1e-9)).judge(Evidence()).verdict
    'fails'
    """

    checks: tuple[Check, ...]

    def __init__(self, *checks: Check) -> None:
        object.__setattr__(self, "checks", checks)

    @property
    def kind(self) -> str:
        """Return the kind of the first check."""
        return self.checks[0].kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that all checks need."""
        return _needs(self.checks)

    def judge(self, rows: Evidence) -> Verdict:
        """Return the first verdict that is not “holds”, or else the one with the smallest slack."""
        return _all_of(_judged(self.checks, rows))


def _all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the first verdict that is not “holds”, or else the one with the smallest slack."""
    measured = tuple(m for v in verdicts for m in v.measured)
    parts = tuple(part for v in verdicts for part in v.parts)
    open_ = [v for v in verdicts if v.outcome == Outcome.UNDECIDED]
    outside = [v for v in open_ if v.why == Why.REGIME]
    failed = [v for v in verdicts if v.outcome in (Outcome.FAILS, Outcome.MIXED)]
    whole = dict(measured=measured, within=parts, chance=any(v.chance for v in verdicts))
    for bad in (outside, failed, open_):
        if bad:
            return replace(bad[0], **whole, said=_joined_reasons(bad))  # type: ignore[arg-type]
    good = [v for v in verdicts if v.outcome == Outcome.HOLDS] or verdicts
    return replace(min(good, key=_slack), **whole)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Parts:
    """The named parts of a statement, which is mixed if some parts hold and others fail.

    >>> import numpy as np
    >>> small = Quantity("here", lambda rows: np.array([1e-12]))
    >>> large = Quantity("there", lambda rows: np.array([1.0]))
    >>> both = Parts({"(i)": Identity(small, 1e-9), "(ii)": Identity(large, 1e-9)})
    >>> both.judge(Evidence()).verdict
    'mixed'
    """

    checks: Mapping[str, Check]

    @property
    def kind(self) -> str:
        """Return the kind of the first part."""
        return next(iter(self.checks.values())).kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that all parts need."""
        return _needs(self.checks.values())

    def judge(self, rows: Evidence) -> Verdict:
        """Judge every part separately, and combine their verdicts."""
        verdicts = dict(zip(self.checks, _judged(self.checks.values(), rows), strict=True))
        outcome = combine([v.outcome for v in verdicts.values()])
        parts = tuple(v.called(name).parts[0] for name, v in verdicts.items())
        whys = [v.why for v in verdicts.values() if v.why is not None and v.outcome == outcome]
        first = next((v for v in verdicts.values() if v.outcome == outcome), None)
        return Verdict(
            outcome,
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
    """One check per selected run, built by `make`: all must hold, and a run must exist.

    Runs with the same outcome are one part of the verdict.

    >>> import numpy as np
    >>> from adversarium.plans import Rows, Trial, where
    >>> rows = Evidence(tuple(Rows(Trial(function=max, at={"d": d}), (0,), {}) for d in (10, 20)))
    >>> def exact(run):
    ...     return Identity(Quantity(run.description, lambda rows: np.zeros(1)), 0.0)
    >>> [number.name for number in Each(where(), exact).judge(rows).measured]
    ['d = 10', 'd = 20']
    """

    selection: Where
    make: Callable[[Where], Check] = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.selection, Where):
            raise ValueError(f"Each needs a selection, such as where(…), got {self.selection!r}.")

    @property
    def kind(self) -> str:
        """Return the kind of the check."""
        return self.make(self.selection).kind

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the check needs, for all selected runs."""
        return tuple(replace(need, alone=False) for need in self.make(self.selection).needs)

    def judge(self, rows: Evidence) -> Verdict:
        """Judge every selected run."""
        runs = [exactly(run.task) for run in rows.where(self.selection)]
        if not runs:
            return undecided(Why.REGIME, NO_RUN)
        verdicts = _judged([self.make(run) for run in runs], rows)
        return replace(_all_of(verdicts), within=self._by_outcome(runs, verdicts))

    def _by_outcome(self, runs: Sequence[Where], verdicts: Sequence[Verdict]) -> tuple[Part, ...]:
        """Return one part per part of the check and outcome."""
        groups: dict[tuple[int, Outcome], list[tuple[str, Part]]] = {}
        for run, verdict in zip(runs, verdicts, strict=True):
            for place, part in enumerate(verdict.parts):
                name = part.name.removesuffix(f" ({run.description})")
                groups.setdefault((place, part.outcome), []).append((name, part))
        return tuple(
            self._merged(group) if len(group) > 1 else group[0][1] for group in groups.values()
        )

    def _merged(self, group: Sequence[tuple[str, Part]]) -> Part:
        """Return the parts of several runs as one part that gives their number."""
        label = self.selection.description
        where = f"{label}, {len(group)} runs" if label else f"{len(group)} runs"
        return together(f"{group[0][0]} ({where})", [part for _, part in group])


@dataclass(frozen=True)
class Present:
    """Checks that `make` chooses from the available rows: all must hold.

    If there is none, the claim is undecided for the reason `lacking`.

    >>> Present("identity", lambda rows: [], "no run reached T₁").judge(Evidence()).verdict
    'undecided'
    """

    kind: str
    make: Callable[[Evidence], Sequence[Check]] = field(repr=False)
    lacking: str = "nothing to judge"
    needs: tuple[Need, ...] = ()

    def judge(self, rows: Evidence) -> Verdict:
        """Judge every check that `make` returns."""
        checks = tuple(self.make(rows))
        return Every(*checks).judge(rows) if checks else undecided(Why.REGIME, self.lacking)


@dataclass(frozen=True)
class CountedAs:
    """A check that is listed under another kind than its own.

    >>> import numpy as np
    >>> zero = Quantity("error", lambda rows: np.zeros(5))
    >>> CountedAs("level", Identity(zero, 0.0)).kind
    'level'
    """

    kind: str
    check: Check

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the check needs."""
        return self.check.needs

    def judge(self, rows: Evidence) -> Verdict:
        """Return the verdict of the check."""
        return self.check.judge(rows)


def named_parts(check: Check) -> Mapping[str, Check]:
    """Return the named parts of a check, also those of a wrapped check; empty if it has none. A
    part of `Given` or `UnlessRefuted` is wrapped in the same way."""
    if isinstance(check, Parts):
        return check.checks
    if isinstance(check, Every):
        return {name: part for one in check.checks for name, part in named_parts(one).items()}
    if isinstance(check, CountedAs):
        return named_parts(check.check)
    if isinstance(check, (Given, UnlessRefuted)):
        return {name: replace(check, check=part) for name, part in named_parts(check.check).items()}
    return {}


def _needs(checks: Iterable[Check]) -> tuple[Need, ...]:
    return tuple(need for check in checks for need in check.needs)


def _judged(checks: Iterable[Check], rows: Evidence) -> list[Verdict]:
    """Return the verdicts of several checks; those that depend on the seeds split the error
    probability."""
    known = list(checks)
    shared = rows.shared(sum(not isinstance(check, _CERTAIN) for check in known))
    return [judged(check, rows if isinstance(check, _CERTAIN) else shared) for check in known]


def judged(check: Check, rows: Evidence) -> Verdict:
    """Return the verdict of a check; undecided if the plan lacks a run or quantity it needs."""
    try:
        made = check.judge(rows)
    except NoSuchRun as lost:
        return undecided(Why.REGIME, f"{NO_RUN}: {lost}")
    if not isinstance(made, Verdict):
        raise ValueError(f"the method judge of a check must return a Verdict, got {made!r}.")
    return made if made.kind else replace(made, kind=check.kind)


def _slack(verdict: Verdict) -> float:
    """Return by how much a verdict's largest value is below its bound; ∞ if it has no bound."""
    known = [value for m in verdict.measured for value in m.values if value is not None]
    return verdict.high - max(known) if verdict.high is not None and known else math.inf


def _joined_reasons(verdicts: list[Verdict]) -> str:
    """Join the reasons of verdicts. Of reasons that differ only in numbers, only that of the
    verdict furthest outside its range is listed, with the number of the others; it is preceded by
    its quantity."""
    alike: dict[str, list[Verdict]] = {}
    for v in verdicts:
        alike.setdefault(_NUMERAL.sub("", v.reason), []).append(v)
    reasons = []
    for group in alike.values():
        v = min(group, key=_room)
        name = v.measured[0].name if v.measured and not v.said else ""
        reason = v.reason if not name or name in v.reason else f"{name}: {v.reason}"
        reason = re.sub(r" \(worst of \d+\)$", "", reason) if len(group) > 1 else reason
        others = f" (worst of {len(group)})" if len(group) > 1 else ""
        reasons.append(f"{reason}{others}")
    if len(reasons) > _JOINED:
        reasons[_JOINED - 1 :] = [f"and {len(reasons) - _JOINED + 1} more"]
    return "; ".join(reasons)


_JOINED = 3  # the most reasons that are joined
_NUMERAL = re.compile(r"[\d.]+(e[+-]?\d+)?")


def _room(verdict: Verdict) -> float:
    """Return how far the first quantity of a verdict is inside its range."""
    return verdict.parts[0].room(verdict.measured[0]) if verdict.measured else math.inf
