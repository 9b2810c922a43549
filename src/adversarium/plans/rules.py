"""The rules that judge one quantity. Each is a frozen value: its kind, which rows it needs, and
`judge`, which reads rows and trains nothing."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
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
    finite,
    interval,
    slope,
    summary,
)
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
