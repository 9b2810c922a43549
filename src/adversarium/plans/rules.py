"""Define the rules that judge one quantity.

Each rule is a frozen dataclass with its kind, the rows that it needs, and a method `judge`, which
reads rows and never trains.
"""

import math
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from adversarium.plans.evidence import Evidence, Need, Quantity, Reading, Summary, summary
from adversarium.plans.intervals import (
    CONFIDENCE,
    SEEDS,
    clopper_pearson,
    finite,
    interval,
    varies,
)
from adversarium.plans.verdict import Outcome, Sensitivity, Verdict, Why, undecided

ABOVE_ZERO = math.nextafter(0.0, 1.0)  # the lower end of a range that excludes 0


@runtime_checkable
class Check(Protocol):
    """A rule of one kind (identity, inequality, level, ordering, exponent, frequency, existence),
    applied to the rows that it needs."""

    @property
    def kind(self) -> str: ...
    @property
    def needs(self) -> tuple[Need, ...]: ...

    def judge(self, rows: Evidence) -> Verdict: ...


def require_quantities(*asked: object) -> None:
    """Raise unless every argument is a quantity; a reading becomes one on a run."""
    for one in asked:
        if isinstance(one, Reading):
            raise ValueError(f"{one.name} belongs to no run yet; choose one with .on(where(…)).")
        if not isinstance(one, Quantity):
            raise ValueError(
                f'a check needs one number per seed, such as last("risk"), got {one!r}.'
            )


def require_numbers(**numbers: float) -> None:
    """Raise if a bound is nan."""
    for name, value in numbers.items():
        if math.isnan(value):
            raise ValueError(f"{name} needs a number, got nan.")


@dataclass(frozen=True)
class Identity:
    """A check that the largest error over all seeds is within the tolerance.

    >>> error = Quantity("left − right", lambda rows: np.array([1e-15, 3e-12]))
    >>> Identity(error, 1e-9).judge(Evidence()).verdict
    'holds'
    """

    error: Quantity
    tolerance: float
    kind = "identity"

    def __post_init__(self) -> None:
        require_quantities(self.error)
        require_numbers(tolerance=self.tolerance)

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the error needs."""
        return self.error.needs

    def judge(self, rows: Evidence) -> Verdict:
        """Compare the largest error with the tolerance."""
        values, tolerance = self.error.of(rows), self.tolerance
        worst = float(values.max()) if np.isfinite(values).all() else math.inf
        message = f"worst error {worst:.3g}, tolerance {tolerance:.3g}"
        measured = (summary(self.error, values, rows),)
        low, high = self.error.reach(rows, _of_every_seed(rows, values))
        if (high > low).any() and (low <= tolerance).all() and not (high <= tolerance).all():
            message = f"{message}; {_of_a_sample(high)}"
            return undecided(Why.FEW_POINTS, message, measured, None, tolerance)
        outcome = Outcome.HOLDS if worst <= tolerance else Outcome.FAILS
        sharp = (Sensitivity("tolerance", tolerance),)
        return Verdict(outcome, measured, None, tolerance, message, sharpness=sharp)


@dataclass(frozen=True)
class AtMost:
    """A check that no seed exceeds the bound: `worst` is the largest value over all steps.

    With `proof`, `worst` comes from an attack (a violation is real) and `proof` from a certificate
    (an upper bound): only the certificate can confirm the inequality.

    >>> from adversarium.plans import Rows, Trial
    >>> rows = Evidence((Rows(Trial(function=max), tuple(range(5)), {}),))  # five seeds
    >>> excess = Quantity("error − bound", lambda rows: np.array([-0.1, -0.3, -0.2, -0.1, 0.2]))
    >>> AtMost(excess, 0.0).judge(rows).reason
    'violated in 1 of 5 seeds, worst 0.2 > 0 (seed 4)'
    """

    worst: Quantity
    bound: float
    proof: Quantity | None = None
    kind = "inequality"

    def __post_init__(self) -> None:
        require_quantities(self.worst, *([] if self.proof is None else [self.proof]))
        require_numbers(bound=self.bound)

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that `worst` and `proof` need."""
        return (*self.worst.needs, *(self.proof.needs if self.proof else ()))

    def judge(self, rows: Evidence) -> Verdict:
        """Search for a violation in any seed."""
        values, bound = self.worst.of(rows), self.bound
        measured: tuple[Summary, ...] = (summary(self.worst, values, rows),)
        if lost := int((~np.isfinite(values)).sum()):
            message = f"{lost} of {len(values)} seeds have no finite value"
            return undecided(Why.REGIME, message, measured, None, bound)
        top, place = float(values.max()), int(values.argmax())
        at = self._at(rows, place)
        sharp = (Sensitivity("factor below the bound", bound / top) if top > 0 and bound > 0
                 else Sensitivity("slack", bound - top),)  # fmt: skip
        low, high = self.worst.reach(rows, _of_every_seed(rows, values))
        sampled = bool((high > low).any())
        if (low > bound).any():
            count = f"violated in {int((low > bound).sum())} of {len(values)} seeds"
            message = f"{count}, worst {top:.4g} > {bound:.4g}{at}"
            return Verdict(
                Outcome.FAILS, measured, None, bound, message, sharpness=sharp, chance=sampled
            )
        if sampled and not (high <= bound).all():
            message = f"worst {top:.4g}{at}, allowed {bound:.4g}; {_of_a_sample(high)}"
            return undecided(Why.FEW_POINTS, message, measured, None, bound)
        message = f"smallest slack {bound - top:.4g}{at}"
        if self.proof is not None:
            proven = self.proof.of(rows)
            measured = (*measured, replace(summary(self.proof, proven), wanted=(None, bound)))
            if not float(proven.max()) <= bound:
                message = (
                    "no violation was found, but the certificate only proves a bound of "
                    f"{float(proven.max()):.4g}; a tighter certificate would decide it"
                )
                return undecided(Why.ATTACK, message, measured, None, bound)
            message += ", certified"
        if len(values) < SEEDS:
            return undecided(Why.FEW_SEEDS, _few(values), measured, None, bound)
        return Verdict(Outcome.HOLDS, measured, None, bound, message, sharpness=sharp)

    def _at(self, rows: Evidence, place: int) -> str:
        steps = self.worst.step(rows)
        step = f", step {int(steps[place])}" if steps is not None else ""
        return f" (seed {rows.seeds[place]}{step})"


@dataclass(frozen=True)
class Level:
    """A check that a quantity lies in [low, high].

    It holds if the interval over seeds lies in the range, and fails if the interval lies outside.
    With `always`, it also fails if the interval lies in the range but a seed does not. Set `kind`
    to "exponent" if the quantity is an exponent fitted within each run.

    >>> error = Quantity("error", lambda rows: np.array([0.49, 0.5, 0.51, 0.5, 0.5]))
    >>> [Level(error, low, 1.0).judge(Evidence()).verdict for low in (0.4, 0.6)]
    ['holds', 'fails']
    """

    quantity: Quantity
    low: float = -math.inf
    high: float = math.inf
    always: bool = False
    kind: str = "level"

    def __post_init__(self) -> None:
        require_quantities(self.quantity)
        require_numbers(low=self.low, high=self.high)
        if self.low > self.high:
            raise ValueError(f"Level needs low <= high, got {self.low:g} and {self.high:g}.")

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the quantity needs."""
        return self.quantity.needs

    def judge(self, rows: Evidence) -> Verdict:
        """Compare the interval with the range."""
        values = self.quantity.of(rows)
        verdict = within(self.quantity, values, self.low, self.high, rows.confidence, rows)
        outside = int(((values < self.low) | (values > self.high)).sum())
        if not self.always or not outside or verdict.outcome != Outcome.HOLDS:
            return verdict
        message = f"{outside} of {len(values)} seeds lie outside the range"
        return replace(verdict, outcome=Outcome.FAILS, detail=message)


def within(
    asked: Quantity,
    values: np.ndarray,
    low: float,
    high: float,
    confidence: float,
    rows: Evidence = Evidence(),  # noqa: B008 (frozen, and empty)
) -> Verdict:
    """Judge whether the interval of values lies in [low, high]."""
    measured, edges = (summary(asked, values, rows),), (finite(low), finite(high))
    if lacking := unseen(values):
        return undecided(*lacking, measured, *edges)
    a, b = asked.interval(values, rows, confidence)
    sharp = width(a, b, low, high)
    chance = bool(asked.points or varies(values) or varies(np.array([a, b])))
    if low <= a and b <= high:
        return Verdict(Outcome.HOLDS, measured, *edges, sharpness=sharp, chance=chance)
    if b < low or a > high:
        message = "the interval lies outside the range"
        return Verdict(Outcome.FAILS, measured, *edges, message, sharpness=sharp, chance=chance)
    return undecided(Why.FEW_SEEDS, more_seeds(values, low, high, confidence), measured, *edges)


def width(a: float, b: float, low: float, high: float) -> tuple[Sensitivity, ...]:
    """Return the half width of an interval [a, b], and its distance from the ends of the range."""
    gaps = [g for g in (a - low, high - b) if math.isfinite(g)]
    edge = (Sensitivity("from the edge", min(gaps)),) if gaps else ()
    return (Sensitivity("half width", (b - a) / 2), *edge)


@dataclass(frozen=True)
class Ordering:
    """A check that one quantity is larger than another: the interval of the difference per seed,
    `greater` minus `than`, lies above `by`.

    >>> robust = Quantity("robust", lambda rows: np.array([0.5, 0.6, 0.5, 0.6, 0.5]))
    >>> clean = Quantity("clean", lambda rows: np.array([0.1, 0.2, 0.1, 0.1, 0.1]))
    >>> Ordering(robust, than=clean).judge(Evidence()).verdict
    'holds'
    """

    greater: Quantity
    than: Quantity
    by: float = 0.0
    kind = "ordering"

    def __post_init__(self) -> None:
        require_quantities(self.greater, self.than)
        require_numbers(by=self.by)

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that both sides need."""
        return (*self.greater.needs, *self.than.needs)

    def judge(self, rows: Evidence) -> Verdict:
        """Compare the interval of the differences, one per seed, with `by`."""
        a, b = self.greater.of(rows), self.than.of(rows)
        difference, by = a - b, self.by
        measured = (
            summary(self.greater - self.than, difference),
            summary(self.greater, a, rows),
            summary(self.than, b, rows),
        )
        if lacking := unseen(difference):
            return undecided(*lacking, measured, by, None)
        low, high = interval(difference, 0, rows.confidence)
        sharp, chance = width(low, high, by, math.inf), varies(difference)
        if low > by:
            return Verdict(Outcome.HOLDS, measured, by, None, sharpness=sharp, chance=chance)
        if high < by:
            message = f"the interval of the difference lies below {by:g}"
            return Verdict(
                Outcome.FAILS, measured, by, None, message, sharpness=sharp, chance=chance
            )
        message = more_seeds(difference, by, math.inf, rows.confidence)
        return undecided(Why.FEW_SEEDS, message, measured, by, None)


@dataclass(frozen=True)
class Frequency:
    """A check that the Clopper–Pearson interval of the pooled frequency is at least `at_least`.

    `successes` is the number of successes per seed. `trials` is the number of attempts per seed, or
    the name of the parameter that contains it. At least 300 attempts are needed in all.

    >>> successes = Quantity("successes", lambda rows: np.array([100, 99, 100, 100, 100]))
    >>> Frequency(successes, 100, at_least=0.95).judge(Evidence()).verdict
    'holds'
    """

    successes: Quantity
    trials: int | str
    at_least: float
    kind = "frequency"

    def __post_init__(self) -> None:
        require_quantities(self.successes)
        require_numbers(at_least=self.at_least)

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the counts need."""
        return self.successes.needs

    def judge(self, rows: Evidence) -> Verdict:
        """Pool the counts of all seeds, and judge the interval of their frequency."""
        values, wanted = self.successes.of(rows), self.at_least
        trials = self.trials
        if isinstance(trials, str):
            trials = int(rows.one(self.successes.needs[0].where).parameter(trials))
        total = trials * len(values)
        successes = round(float(values.sum()))
        low, high = clopper_pearson(successes, total, rows.confidence)
        shares = tuple(float(v) / trials for v in values)
        mean = float(values.sum()) / total
        told_interval = clopper_pearson(successes, total)
        measured = (Summary(self.successes.name, mean, *told_interval, shares),)
        sharp = width(low, high, wanted, math.inf)
        if total < 300:
            message = f"{total} trials, but at least 300 are needed"
            return undecided(Why.FEW_SEEDS, message, measured, wanted, None)
        if low >= wanted:
            return Verdict(Outcome.HOLDS, measured, wanted, None, sharpness=sharp, chance=True)
        if high < wanted:
            message = "the frequency is below the claimed one"
            return Verdict(
                Outcome.FAILS, measured, wanted, None, message, sharpness=sharp, chance=True
            )
        message = "the interval contains the claimed frequency; more seeds would decide it"
        return undecided(Why.FEW_SEEDS, message, measured, wanted, None)


@dataclass(frozen=True)
class Existence:
    """A check of existence: it holds if the object passed its exact check (1) in every seed, and
    fails if any seed refuted it (0).

    >>> Existence(Quantity("found", lambda rows: np.array([1.0, 1.0]))).judge(Evidence()).verdict
    'holds'
    """

    checked: Quantity
    kind = "existence"

    def __post_init__(self) -> None:
        require_quantities(self.checked)

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the exact check needs."""
        return self.checked.needs

    def judge(self, rows: Evidence) -> Verdict:
        """Search for a seed that refuted the object."""
        values = self.checked.of(rows)
        measured = (summary(self.checked, values),)
        if lost := int(np.isnan(values).sum()):
            message = f"the object cannot be built in {lost} of {len(values)} cases"
            return undecided(Why.REGIME, message, measured, 1, None)
        bad = int((values != 1).sum())
        message = f"refuted in {bad} of {len(values)} cases" if bad else ""
        outcome = Outcome.FAILS if bad else Outcome.HOLDS
        sharp = (Sensitivity("cases", len(values)),)
        return Verdict(outcome, measured, 1, None, message, sharpness=sharp)


@dataclass(frozen=True)
class InRegime:
    """A hypothesis: if a quantity is below `at_least`, the claim is undecided (out of regime).

    >>> wide = InRegime(Quantity("m/n", lambda rows: np.array([3.0, 3.0])), at_least=8)
    >>> wide.judge(Evidence()).why.value
    'out of regime'
    """

    quantity: Quantity
    at_least: float
    kind: str = "level"

    def __post_init__(self) -> None:
        require_quantities(self.quantity)
        require_numbers(at_least=self.at_least)

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the quantity needs."""
        return self.quantity.needs

    def judge(self, rows: Evidence) -> Verdict:
        """Compare the smallest value with `at_least`."""
        values = self.quantity.of(rows)
        measured, least = (summary(self.quantity, values),), float(values.min())
        if least >= self.at_least:
            return Verdict(Outcome.SETTING, measured, self.at_least, None)
        message = f"{self.quantity.name} = {least:.3g} < {self.at_least:g}"
        return undecided(Why.REGIME, message, measured, self.at_least, None)


@dataclass(frozen=True, init=False)
class Hypothesis:
    """A hypothesis or a definition: the factors by which it is satisfied are reported, not judged.

    >>> factor = Quantity("d/n", lambda rows: np.array([20.0, 20.0]))
    >>> Hypothesis("inequality", factor).judge(Evidence()).verdict
    'setting'
    """

    kind: str
    factors: tuple[Quantity, ...]

    def __init__(self, kind: str, *factors: Quantity) -> None:
        require_quantities(*factors)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "factors", factors)

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the factors need."""
        return tuple(need for factor in self.factors for need in factor.needs)

    def judge(self, rows: Evidence) -> Verdict:
        """Report the factors."""
        message = tuple(summary(factor, factor.of(rows)) for factor in self.factors)
        return Verdict(Outcome.SETTING, message)


@dataclass(frozen=True)
class NotTestable:
    """A statement that no experiment decides: cited, vacuous, or about all networks. Its testable
    consequences are separate claims.

    >>> NotTestable("existence", Why.ALL_NETWORKS, "any ReLU network").judge(Evidence()).reason
    'quantifies over all networks: any ReLU network'
    """

    kind: str
    why: Why
    what: str
    needs: tuple[Need, ...] = ()

    def judge(self, rows: Evidence) -> Verdict:
        """Return the verdict “not testable” with its reason."""
        source = "; it has to be checked in the cited source" if self.why == Why.CITED else ""
        return Verdict(Outcome.NOT_TESTABLE, detail=f"{self.what}{source}", why=self.why)


@dataclass(frozen=True)
class Open:
    """A part of a statement that no run decides: what was not tried, and what would decide it.

    >>> Open("level", "no certified optimum is known for H ≥ 2").judge(Evidence()).reason
    'not tried: no certified optimum is known for H ≥ 2'
    """

    kind: str
    what: str
    needs: tuple[Need, ...] = ()

    def judge(self, rows: Evidence) -> Verdict:
        """Return the verdict “undecided” with its reason."""
        return undecided(Why.NOT_TRIED, self.what)


def _of_every_seed(rows: Evidence, values: np.ndarray) -> float:
    """Return the confidence level of one seed if all seeds split the error probability."""
    return 1 - (1 - rows.confidence) / max(len(values), 1)


def _of_a_sample(high: np.ndarray) -> str:
    most = f"the true value may be up to {float(high.max()):.4g}"
    return f"on this sample of points, {most}; more points would decide it"


def _few(values: np.ndarray) -> str:
    return f"{len(values)}, but at least {SEEDS} are needed"


def unseen(values: np.ndarray) -> tuple[Why, str] | None:
    """Explain why values cannot be judged: too few seeds, or seeds without a finite value."""
    if len(values) < SEEDS:
        return Why.FEW_SEEDS, _few(values)
    lost = int((~np.isfinite(values)).sum())
    message = f"{lost} of {len(values)} seeds have no finite value within the run"
    return (Why.REGIME, message) if lost else None


MOST = 1000  # the largest number of seeds that a reason suggests


def seeds_needed(
    values: np.ndarray, low: float, high: float, confidence: float = CONFIDENCE
) -> float:
    """Estimate how many seeds would make an interval exclude an end of the range that it now
    contains; ∞ if the mean equals that end."""
    from scipy import stats

    mean, sd = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.inf
    gap = min(abs(mean - edge) for edge in (low, high) if math.isfinite(edge))
    if not gap > 0 or not math.isfinite(sd):
        return math.inf
    wide = float(stats.norm.ppf((1 + confidence) / 2))
    return max(math.ceil((wide * sd / gap) ** 2) + 2, len(values) + 1)


def more_seeds(values: np.ndarray, low: float, high: float, confidence: float) -> str:
    """Say how many seeds would decide a check whose interval contains an end of the range."""
    need = seeds_needed(values, low, high, confidence)
    whole = "" if confidence == CONFIDENCE else " (99 % for the whole claim)"
    level = f"the {100 * confidence:.4g} % interval{whole}"
    text = f"{level} contains an end of the accepted range"
    return (
        f"{text}; about {need:g} seeds would decide it"
        if need <= MOST
        else f"{text}, and the mean is so close to it that {MOST} seeds would not suffice"
    )
