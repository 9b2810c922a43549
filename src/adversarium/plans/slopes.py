"""Judge how a quantity grows along a coordinate of the runs, by its log–log slope."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from adversarium.plans.evidence import (
    Evidence,
    Need,
    Quantity,
    Reading,
    Rows,
    Where,
    end,
    summary,
)
from adversarium.plans.intervals import finite, interval, slope, varies
from adversarium.plans.rules import (
    MOST,
    more_seeds,
    require_numbers,
    seeds_needed,
    unseen,
    within,
)
from adversarium.plans.verdict import Fit, Outcome, Sensitivity, Verdict, Why, undecided

FLAT = 0.1  # a slope up to this counts as no growth
SIZES, FACTOR = 4, 8.0  # a fit needs this many sizes, which span this factor


def _reading(number: str | Reading) -> Reading:
    return end(number) if isinstance(number, str) else number


def _fitted(
    runs: Mapping[float, Rows], number: str | Reading, per: Callable[[float], float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the sizes, the numbers (seed, size) and one log–log slope per seed; None if there are
    too few sizes."""
    x = np.array([float(size) for size in runs])
    if len(x) < SIZES or x.max() < FACTOR * x.min():
        return None
    numbers = [_reading(number).of(run) / per(size) for size, run in runs.items()]
    table = np.stack(numbers, axis=1)
    return x, table, slope(x, table)


def _fit(
    name: str, along: str, x: np.ndarray, table: np.ndarray, claimed: float
) -> tuple[Fit, ...]:
    """Return what a picture of the fit shows; nothing if a number is not positive."""
    if not (np.isfinite(table).all() and (table > 0).all()):
        return ()
    means = np.exp(np.log(table).mean(0))
    return (Fit(name, along, tuple(x.tolist()), tuple(means.tolist()), claimed),)


def _too_few(low: float, high: float) -> Verdict:
    message = "an exponent needs four sizes that span a factor of eight"
    return undecided(Why.SPANS, message, (), finite(low), finite(high))


def _one(size: float) -> float:
    return 1.0


@dataclass(frozen=True)
class Exponent:
    """A check that a quantity grows like a coordinate to the claimed power, up to the tolerance.

    The quantity is read from each run (a name selects its last value) and divided by `per(size)`;
    the interval of its log–log slope over the seeds is judged. At least four sizes that span a
    factor of eight are needed. A pair of tolerances applies below and above the claimed exponent.

    >>> import adversarium as av
    >>> def square(rng, d):
    ...     return {"y": d**2}
    >>> sizes = [av.Trial(function=square, parameters={"d": d}, at={"d": d}) for d in (1, 2, 4, 8)]
    >>> rows = Evidence(tuple(av.run(size, range(5)).rows for size in sizes))
    >>> Exponent("y ∝ d²", "y", "d", Where(), claimed=2, tolerance=0.1).judge(rows).verdict
    'holds'
    """

    name: str
    number: str | Reading
    along: str
    selection: Where
    claimed: float
    tolerance: float | tuple[float, float]
    per: Callable[[float], float] = field(default=_one, repr=False)
    kind = "exponent"

    def __post_init__(self) -> None:
        require_numbers(low=self.low, high=self.high)

    @property
    def low(self) -> float:
        """Return the smallest accepted exponent."""
        below = self.tolerance[0] if isinstance(self.tolerance, tuple) else self.tolerance
        return self.claimed - below

    @property
    def high(self) -> float:
        """Return the largest accepted exponent."""
        above = self.tolerance[1] if isinstance(self.tolerance, tuple) else self.tolerance
        return self.claimed + above

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows of the quantity, at every size."""
        return (Need(self.selection, _reading(self.number).names),)

    def judge(self, rows: Evidence) -> Verdict:
        """Fit one slope per seed, and judge their interval."""
        fitted = _fitted(rows.where(self.selection).by(self.along), self.number, self.per)
        if fitted is None:
            return _too_few(self.low, self.high)
        x, table, slopes = fitted
        asked = Quantity(self.name, lambda _: slopes)
        verdict = within(asked, slopes, self.low, self.high, rows.confidence)
        return replace(verdict, fits=_fit(self.name, self.along, x, table, self.claimed))


@dataclass(frozen=True)
class NoGrowth:
    """A check of an upper bound with an unspecified constant: a quantity, read from each run and
    divided by `per(size)`, does not grow along a coordinate.

    It holds if the interval of the log–log slope ends at or below `FLAT`. It fails if the quantity
    grows faster over these sizes than log^`logs` of the coordinate, a factor that the statement
    leaves unspecified. In between it is undecided. With `decay`, or as `NoDecay`, it checks a lower
    bound: the quantity must not fall.

    >>> import adversarium as av
    >>> def square(rng, d):
    ...     return {"y": d**2}
    >>> sizes = [av.Trial(function=square, parameters={"d": d}, at={"d": d}) for d in (1, 2, 4, 8)]
    >>> rows = Evidence(tuple(av.run(size, range(5)).rows for size in sizes))
    >>> NoGrowth("y", "y", "d", Where()).judge(rows).verdict
    'fails'
    >>> per_square = NoGrowth("y/d²", "y", "d", Where(), per=lambda d: d**2)
    >>> per_square.judge(rows).verdict
    'holds'
    """

    name: str
    number: str | Reading
    along: str
    selection: Where
    logs: float = 0.0
    per: Callable[[float], float] = field(default=_one, repr=False)
    kind: str = "exponent"
    decay: bool = False

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows of the quantity, at every size."""
        return (Need(self.selection, _reading(self.number).names),)

    def judge(self, rows: Evidence) -> Verdict:
        """Fit one slope per seed, and judge their interval."""
        fitted = _fitted(rows.where(self.selection).by(self.along), self.number, self.per)
        if fitted is None:
            return _too_few(-math.inf, FLAT)
        x, table, slopes = fitted
        fits = _fit(self.name, self.along, x, table, 0.0)
        return replace(self._judged(x, slopes, rows), fits=fits)

    def _judged(self, x: np.ndarray, slopes: np.ndarray, rows: Evidence) -> Verdict:
        sign = -1.0 if self.decay else 1.0
        most = FLAT + (float(slope(x, np.log(x)[None] ** self.logs)[0]) if self.logs else 0.0)
        asked = Quantity(self.name, lambda _: slopes)
        measured = (summary(asked, slopes),)
        low, high = (-FLAT, None) if self.decay else (None, FLAT)
        if lacking := unseen(slopes):
            return undecided(*lacking, measured, low, high)
        a, b = interval(sign * slopes, 0, rows.confidence)
        sharp = (Sensitivity("half width", (b - a) / 2), Sensitivity("from the edge", FLAT - b))
        chance = varies(slopes)
        if b <= FLAT:
            return Verdict(Outcome.HOLDS, measured, low, high, sharpness=sharp, chance=chance)
        if a > most:
            word = "falls" if self.decay else "grows"
            message = f"it {word} with {self.along}, by a power above {most:.2g}"
            return Verdict(
                Outcome.FAILS, measured, low, high, message, sharpness=sharp, chance=chance
            )
        if not self.logs or sign * slopes.mean() < FLAT:
            message = more_seeds(sign * slopes, -math.inf, FLAT, rows.confidence)
            if seeds_needed(sign * slopes, -math.inf, FLAT, rows.confidence) > MOST:
                message = (
                    f"the slope is too close to the limit {FLAT:g}; a wider range of sizes would "
                    "decide it"
                )
                return undecided(Why.SPANS, message, measured, low, high)
            return undecided(Why.FEW_SEEDS, message, measured, low, high)
        message = (
            f"a slope between {FLAT:g} and {most:.2g} cannot be distinguished from a power of log; "
            f"{self._wide_enough(float(sign * slopes.mean()))}"
        )
        return undecided(Why.CONSTANT, message, measured, low, high)

    def _wide_enough(self, mean: float) -> str:
        """Say at which size x a power with this mean slope can be distinguished from log^logs,
        whose slope at x is logs/log x."""
        needed = math.exp(min(self.logs / (mean - FLAT), 700.0))
        if needed > 1e12:
            return "no size that can be run would decide it"
        return f"sizes around {self.along} = {needed:.0e} would decide it"


NoDecay = partial(NoGrowth, decay=True)  # a lower bound with an unspecified constant
