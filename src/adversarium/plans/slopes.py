"""Judge how a number of the runs grows along one of their coordinates."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from adversarium.plans.evidence import Evidence, Need, Quantity, Reading, Rows, Where, summary
from adversarium.plans.intervals import finite, interval, slope
from adversarium.plans.rules import MOST, more_seeds, seeds_needed, unseen, within
from adversarium.plans.verdict import Outcome, Sensitivity, Verdict, Why, undecided

FLAT = 0.1  # a slope up to this counts as no growth
SIZES, FACTOR = 4, 8.0  # an exponent needs this many sizes over this factor


def _fitted(
    runs: Mapping[float, Rows], number: Reading, per: Callable[[float], float]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the sizes and one log–log slope per seed; None if there are too few sizes."""
    x = np.array([float(size) for size in runs])
    if len(x) < SIZES or x.max() < FACTOR * x.min():
        return None
    numbers = [number.of(run) / per(size) for size, run in runs.items()]
    return x, slope(x, np.stack(numbers, axis=1))


def _too_few(low: float, high: float) -> Verdict:
    message = "an exponent needs four sizes that span a factor of eight"
    return undecided(Why.SPANS, message, (), finite(low), finite(high))


@dataclass(frozen=True)
class Exponent:
    """A check that the interval of a log–log slope lies in [low, high].

    The slope is that of a number of each run against one of the runs' coordinates. It needs at
    least four sizes over a factor of eight. The number is divided by `per` of the size.
    """

    name: str
    number: Reading
    along: str
    selection: Where
    low: float
    high: float
    per: Callable[[float], float] = field(repr=False)
    kind = "exponent"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows of the number, at every size."""
        return (Need(self.selection, self.number.names),)

    def judge(self, rows: Evidence) -> Verdict:
        """Fit one slope per seed, and judge their interval."""
        fitted = _fitted(rows.where(self.selection).by(self.along), self.number, self.per)
        if fitted is None:
            return _too_few(self.low, self.high)
        slopes = fitted[1]
        asked = Quantity(self.name, lambda _: slopes)
        return within(asked, slopes, self.low, self.high, rows.confidence)


@dataclass(frozen=True)
class NoGrowth:
    """A check that a number of each run does not grow along a coordinate.

    It holds if the interval of the log–log slope ends at or below `FLAT`. It fails if the number
    grows faster over these sizes than log^`logs` of the coordinate, a factor that the statement
    leaves unspecified. In between it is undecided. With `decay`, the number must not fall instead.
    """

    name: str
    number: Reading
    along: str
    selection: Where
    logs: float = 0.0
    decay: bool = False
    per: Callable[[float], float] = field(default=lambda size: 1.0, repr=False)
    kind: str = "exponent"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows of the number, at every size."""
        return (Need(self.selection, self.number.names),)

    def judge(self, rows: Evidence) -> Verdict:
        """Fit one slope per seed, and judge their interval."""
        fitted = _fitted(rows.where(self.selection).by(self.along), self.number, self.per)
        if fitted is None:
            return _too_few(-math.inf, FLAT)
        x, slopes = fitted
        sign = -1.0 if self.decay else 1.0
        most = FLAT + (float(slope(x, np.log(x)[None] ** self.logs)[0]) if self.logs else 0.0)
        asked = Quantity(self.name, lambda _: slopes)
        measured = (summary(asked, slopes),)
        low, high = (-FLAT, None) if self.decay else (None, FLAT)
        if lacking := unseen(slopes):
            return undecided(*lacking, measured, low, high)
        a, b = interval(sign * slopes, 0, rows.confidence)
        sharp = (Sensitivity("half width", (b - a) / 2), Sensitivity("from the edge", FLAT - b))
        chance = bool(slopes.std() > 0)
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
        """Describe the size at which log^logs, of slope logs/log x there, can be distinguished from
        a power with this mean slope."""
        needed = math.exp(min(self.logs / (mean - FLAT), 700.0))
        if needed > 1e12:
            return "no size that can be run would decide it"
        return f"sizes around {self.along} = {needed:.0e} would decide it"
