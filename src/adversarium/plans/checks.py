"""The verdict rules. A check is a frozen value: its kind, which rows it needs, and `judge`, which
reads rows and trains nothing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np

from adversarium.plans.evidence import (
    SEEDS,
    Evidence,
    Need,
    Quantity,
    Reading,
    Summary,
    Where,
    clopper_pearson,
    exactly,
    finite,
    interval,
    slope,
    summary,
)
from adversarium.plans.run import Run
from adversarium.plans.verdict import Verdict, Why, Word, undecided


@runtime_checkable
class Check(Protocol):
    """A rule of one kind (identity, inequality, level, ordering, exponent, frequency, existence),
    applied to the rows that it needs."""

    @property
    def kind(self) -> str: ...
    @property
    def needs(self) -> tuple[Need, ...]: ...

    def judge(self, rows: Evidence) -> Verdict: ...


@dataclass(frozen=True)
class Identity:
    """holds: the worst error is within the tolerance."""

    error: Quantity
    tolerance: float
    kind = "identity"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return self.error.needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        values = self.error.of(rows)
        worst = float(values.max()) if np.isfinite(values).all() else math.inf
        told = f"worst error {worst:.3g}, tolerance {self.tolerance:.3g}"
        word = Word.HOLDS if worst <= self.tolerance else Word.FAILS
        measured = (summary(self.error, values),)
        return Verdict(word, measured, None, self.tolerance, told, sharpness=told)


@dataclass(frozen=True)
class AtMost:
    """An inequality: `worst` is the largest value over all steps, one a seed.

    With `proof`, `worst` comes from an attack (a violation is real) and `proof` from a certificate
    (an upper bound): only the certificate can make it hold.
    """

    worst: Quantity
    bound: float
    proof: Quantity | None = None
    kind = "inequality"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return (*self.worst.needs, *(self.proof.needs if self.proof else ()))

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        values, bound = self.worst.of(rows), self.bound
        measured: tuple[Summary, ...] = (summary(self.worst, values),)
        if lost := int((~np.isfinite(values)).sum()):
            return undecided(Why.REGIME, f"no number in {lost} seeds", measured, None, bound)
        top, place = float(values.max()), int(values.argmax())
        at = self._at(rows, place)
        if top > bound:
            count = f"violated in {int((values > bound).sum())} of {len(values)} seeds"
            told = f"{count}, worst {top:.4g} > {bound:.4g}{at}"
            return Verdict(Word.FAILS, measured, None, bound, told, sharpness=told)
        told = f"smallest slack {bound - top:.4g}{at}"
        sharp = f"{bound / top:.3g} × below the bound" if top > 0 and bound > 0 else told
        if self.proof is not None:
            proven = self.proof.of(rows)
            measured = (*measured, summary(self.proof, proven))
            if not float(proven.max()) <= bound:
                told = (
                    f"no violation was found, but the certificate leaves {float(proven.max()):.4g} "
                    "open; a tighter bound would decide it"
                )
                return undecided(Why.ATTACK, told, measured, None, bound)
            told += ", certified"
        if len(values) < SEEDS:
            return undecided(Why.FEW_SEEDS, _few(values), measured, None, bound)
        return Verdict(Word.HOLDS, measured, None, bound, told, sharpness=sharp)

    def _at(self, rows: Evidence, place: int) -> str:
        steps = self.worst.step(rows)
        step = f", step {int(steps[place])}" if steps is not None else ""
        return f" (seed {rows.seeds[place]}{step})"


@dataclass(frozen=True)
class Level:
    """holds: the 99 % interval over seeds lies in [low, high]; fails: it lies outside."""

    quantity: Quantity
    low: float = -math.inf
    high: float = math.inf
    kind: str = "level"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return self.quantity.needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        return _within(self.quantity, self.quantity.of(rows), self.low, self.high)


def _within(asked: Quantity, values: np.ndarray, low: float, high: float) -> Verdict:
    """Whether the 99 % interval of values lies in [low, high]."""
    measured, edges = (summary(asked, values),), (finite(low), finite(high))
    if unseen := _unseen(values):
        return undecided(*unseen, measured, *edges)
    a, b = interval(values, asked.points)
    gaps = [g for g in (a - low, high - b) if math.isfinite(g)]
    sharp = f"half width {(b - a) / 2:.3g}, {min(gaps, default=math.inf):.3g} from the edge"
    if low <= a and b <= high:
        return Verdict(Word.HOLDS, measured, *edges, sharpness=sharp)
    if b < low or a > high:
        told = "the 99 % interval lies outside the range"
        return Verdict(Word.FAILS, measured, *edges, told, sharpness=sharp)
    return undecided(Why.FEW_SEEDS, _more_seeds(values, low, high), measured, *edges)


@dataclass(frozen=True)
class Ordering:
    """holds: the 99 % interval of the paired difference lies above `by`."""

    greater: Quantity
    than: Quantity
    by: float = 0.0
    kind = "ordering"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return (*self.greater.needs, *self.than.needs)

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        a, b = self.greater.of(rows), self.than.of(rows)
        difference, by = a - b, self.by
        measured = (
            summary(self.greater - self.than, difference),
            summary(self.greater, a),
            summary(self.than, b),
        )
        if unseen := _unseen(difference):
            return undecided(*unseen, measured, by, None)
        low, high = interval(difference)
        sharp = f"half width {(high - low) / 2:.3g}, {low - by:.3g} above the edge"
        if low > by:
            return Verdict(Word.HOLDS, measured, by, None, sharpness=sharp)
        if high < by:
            told = "the difference has the other sign"
            return Verdict(Word.FAILS, measured, by, None, told, sharpness=sharp)
        told = _more_seeds(difference, by, math.inf)
        return undecided(Why.FEW_SEEDS, told, measured, by, None)


@dataclass(frozen=True)
class Exponent:
    """holds: the interval of the log–log slope of a number a run, against one of the runs'
    coordinates, lies in [low, high]; at least four sizes over a factor of eight. The number may be
    divided by `per` of the size."""

    name: str
    number: Reading
    along: str
    meant: Where
    low: float
    high: float
    per: Callable[[float], float] = field(repr=False)
    kind = "exponent"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return (Need(self.meant, self.number.names),)

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        runs = rows.where(self.meant).by(self.along)
        x = np.array([float(size) for size in runs])
        if len(x) < 4 or x.max() < 8 * x.min():
            told = "an exponent needs four sizes over a factor of eight"
            return undecided(Why.REGIME, told, (), finite(self.low), finite(self.high))
        numbers = [self.number.of(run) / self.per(size) for size, run in runs.items()]
        slopes = slope(x, np.stack(numbers, axis=1))
        return _within(Quantity(self.name, lambda _: slopes), slopes, self.low, self.high)


@dataclass(frozen=True)
class Frequency:
    """holds: the Clopper–Pearson interval of the pooled frequency lies above 1 − δ; at least 300
    trials. `successes` counts them, one number a seed, out of `trials` each."""

    successes: Quantity
    trials: int
    at_least: float
    kind = "frequency"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return self.successes.needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        values, wanted = self.successes.of(rows), self.at_least
        total = self.trials * len(values)
        low, high = clopper_pearson(round(float(values.sum())), total)
        shares = tuple(float(v) / self.trials for v in values)
        mean = float(values.sum()) / total
        measured = (Summary(self.successes.name, mean, low, high, shares),)
        sharp = f"{low - wanted:.3g} above the edge, half width {(high - low) / 2:.3g}"
        if total < 300:
            told = f"{total} trials of at least 300"
            return undecided(Why.FEW_SEEDS, told, measured, wanted, None)
        if low >= wanted:
            return Verdict(Word.HOLDS, measured, wanted, None, sharpness=sharp)
        if high < wanted:
            told = "the frequency is below the claim"
            return Verdict(Word.FAILS, measured, wanted, None, told, sharpness=sharp)
        told = "the interval crosses the claimed frequency"
        return undecided(Why.FEW_SEEDS, told, measured, wanted, None)


@dataclass(frozen=True)
class Existence:
    """holds: the object passed its exact check (1) in every seed; fails: it was refuted (0)."""

    checked: Quantity
    kind = "existence"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return self.checked.needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        values = self.checked.of(rows)
        measured = (summary(self.checked, values),)
        if lost := int(np.isnan(values).sum()):
            told = f"the object cannot be built in {lost} of {len(values)} cases"
            return undecided(Why.REGIME, told, measured, 1, None)
        bad = int((values != 1).sum())
        told = f"refuted in {bad} of {len(values)} cases" if bad else ""
        word = Word.FAILS if bad else Word.HOLDS
        return Verdict(word, measured, 1, None, told, sharpness=f"{len(values)} cases, exactly")


@dataclass(frozen=True)
class InRegime:
    """A hypothesis, not a claim: below the level the claim is undecided, out of regime."""

    quantity: Quantity
    at_least: float
    kind: str = "level"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The rows that it reads."""
        return self.quantity.needs

    def judge(self, rows: Evidence) -> Verdict:
        """The verdict on the rows."""
        values = self.quantity.of(rows)
        measured, least = (summary(self.quantity, values),), float(values.min())
        if least >= self.at_least:
            sharp = f"{least:.3g} of {self.at_least:g}"
            return Verdict(Word.HOLDS, measured, self.at_least, None, sharpness=sharp)
        told = f"{self.quantity.name} = {least:.3g} < {self.at_least:g}"
        return undecided(Why.REGIME, told, measured, self.at_least, None)


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


def _few(values: np.ndarray) -> str:
    return f"{len(values)} of at least {SEEDS}"


def _unseen(values: np.ndarray) -> tuple[Why, str] | None:
    """Why nothing can be said: too few seeds, or a quantity that did not come about in the run."""
    if len(values) < SEEDS:
        return Why.FEW_SEEDS, _few(values)
    lost = int((~np.isfinite(values)).sum())
    return (
        (Why.REGIME, f"no value in {lost} of {len(values)} seeds within the run") if lost else None
    )


def _more_seeds(values: np.ndarray, low: float, high: float) -> str:
    """What would decide a straddling interval."""
    mean, sd = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.inf
    gap = min(abs(mean - edge) for edge in (low, high) if math.isfinite(edge))
    need = math.ceil((2.6 * sd / gap) ** 2) + 2 if gap > 0 and math.isfinite(sd) else None
    text = "the 99 % interval crosses the edge of the range"
    return f"{text}; about {max(need, len(values) + 1)} seeds would decide it" if need else text


def _told(verdicts: list[Verdict]) -> str:
    """The reasons, each with the name of its quantity once."""
    told = []
    for v in verdicts:
        name = v.measured[0].name if v.measured else ""
        told.append(v.reason if not name or name in v.reason else f"{name}: {v.reason}")
    return "; ".join(told)


def identity(error: Quantity, tolerance: float) -> Check:
    """holds: the worst error is within the tolerance."""
    return Identity(error, tolerance)


def at_most(worst: Quantity, bound: float, proof: Quantity | None = None) -> Check:
    """holds: no value exceeds the bound in any seed; with a proof, only that makes it hold."""
    return AtMost(worst, bound, proof)


def level(quantity: Quantity, low: float = -math.inf, high: float = math.inf) -> Check:
    """holds: the 99 % interval over seeds lies in [low, high]."""
    return Level(quantity, low, high)


def power(quantity: Quantity, low: float, high: float) -> Check:
    """An exponent that was fitted within each run: holds where its interval lies in the range."""
    return Level(quantity, low, high, "exponent")


def ordering(greater: Quantity, than: Quantity, by: float = 0.0) -> Check:
    """holds: the 99 % interval of the paired difference lies above `by`."""
    return Ordering(greater, than, by)


def _one(size: float) -> float:
    return 1.0


def exponent(
    name: str,
    number: str | Reading,
    along: str,
    meant: Where,
    claimed: float,
    tolerance: float | tuple[float, float],
    per: Callable[[float], float] = _one,
) -> Check:
    """holds: the power of a coordinate in a number a run (a name: its last value) lies within the
    tolerance of the claimed one (or within two tolerances, below and above it)."""
    below, above = tolerance if isinstance(tolerance, tuple) else (tolerance, tolerance)
    reading = number if isinstance(number, Reading) else end(number)
    return Exponent(name, reading, along, meant, claimed - below, claimed + above, per)


def end(name: str) -> Reading:
    """The last value of a number, as a reading of any run."""
    return Reading(name, lambda run: run.last(name), (name,))


def frequency(successes: Quantity, trials: int, at_least: float) -> Check:
    """holds: the exact interval of the pooled frequency lies above the level."""
    return Frequency(successes, trials, at_least)


def existence(checked: Quantity) -> Check:
    """holds: the object passed its exact check in every seed."""
    return Existence(checked)


def in_regime(quantity: Quantity, at_least: float) -> Check:
    """A hypothesis: below the level nothing is said."""
    return InRegime(quantity, at_least)


def gated(name: str, number: Callable[[Run], float], at_least: float, meant: Where) -> Check:
    """A hypothesis about the run's own configuration: below the level nothing is said."""

    def one_a_seed(rows: Evidence) -> np.ndarray:
        run = rows.one(meant)
        assert isinstance(run.task, Run)
        return np.full(len(run.seeds), float(number(run.task)))

    told = f"{name} ({meant.told})" if meant.told else name
    return InRegime(Quantity(told, one_a_seed), at_least)


def given(event: Quantity, check: Check) -> Check:
    """The check on the seeds in which a random hypothesis came true."""
    return Given(event, check)


def unless_refuted(check: Check, because: str) -> Check:
    """A check that finite sizes can confirm and not refute."""
    return UnlessRefuted(check, because)


def cited(kind: str, what: str) -> Check:
    """A statement that a paper takes from elsewhere."""
    return Cited(kind, what)


def every(*checks: Check) -> Check:
    """All of several checks, each a part."""
    return Every(checks)


def each(meant: Where | str, make: Callable[[Where], Check]) -> Check:
    """A check of every run that is meant."""
    return Each(meant if isinstance(meant, Where) else Where(meant), make)


def present(
    kind: str, make: Callable[[Evidence], Sequence[Check]], lacking: str, *needs: Need
) -> Check:
    """Checks that depend on what was run."""
    return Present(kind, make, lacking, needs)


def counted_as(kind: str, check: Check) -> Check:
    """A check that counts as one of another kind."""
    return Kind(kind, check)


def part(name: str, check: Check) -> Check:
    """A check as one part of a statement, by name."""
    return Titled(name, check)
