"""A calibrated estimator, the single checks of a claim, and synthetic rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from adversarium.papers.boat.theory.calibrated import Calibrated
from adversarium.plans import Each, Every, Exponent, Given, Level, NoGrowth, Parts, UnlessRefuted
from adversarium.plans.compound import CountedAs
from adversarium.plans.evidence import Evidence, Rows, Series, end, exactly
from adversarium.plans.intervals import interval
from adversarium.plans.loading import load
from adversarium.plans.papers import claims
from adversarium.plans.run import Task
from adversarium.plans.slopes import FLAT
from tests.planted.misses import stored

Fit = Exponent | NoGrowth
ROUNDING = 1e-7  # a smaller bias is rounding of the processor


@dataclass(frozen=True)
class Case:
    """What an estimator returns on an exact law.

    `bias` is the fitted power minus the power of the law, `half` the half width of its 99 %
    interval over seeds (0 without noise), and `tolerance` the distance from the power of the law
    to the nearest end of the range that the claim accepts.
    """

    claims: tuple[str, ...]
    fitted: str
    law: str
    sizes: str
    bias: float
    tolerance: float
    half: float = 0.0
    note: str = ""

    @property
    def ratio(self) -> float:
        """Return the tolerance over the size of the bias; 0 if the fit returns no number."""
        if math.isnan(self.bias) or not self.tolerance:
            return 0.0
        return math.inf if abs(self.bias) < ROUNDING else self.tolerance / abs(self.bias)


def leaves(check: object, tasks: Sequence[Task]) -> Iterator[object]:
    """Yield the single checks of which a check consists, for all runs that it selects."""
    match check:
        case Parts():
            for part in check.checks.values():
                yield from leaves(part, tasks)
        case Every():
            for part in check.checks:
                yield from leaves(part, tasks)
        case Given() | UnlessRefuted() | CountedAs() | Calibrated():
            yield from leaves(check.check, tasks)
        case Each():
            for task in tasks:
                if check.selection.meets(task):
                    yield from leaves(check.make(exactly(task)), tasks)
        case _:
            yield check


def tasks_of(claim: str) -> tuple[Task, ...]:
    """Return the runs and trials of a claim's experiment at the preset `paper`."""
    return _planned(claims()[claim].experiment)


@cache
def _planned(experiment: str) -> tuple[Task, ...]:
    return load(experiment).tasks("paper")


def leaves_of(claim: str) -> list[object]:
    """Return the single checks of which the check of a claim consists."""
    return list(leaves(load(claims()[claim].experiment).checks[claim], tasks_of(claim)))


def fits_of(claim: str, *words: str) -> list[Fit]:
    """Return the fits of a claim along sizes whose name contains all the words. A fit to fewer
    than four sizes is not judged."""
    found = [leaf for leaf in leaves_of(claim) if isinstance(leaf, (Exponent, NoGrowth))]
    named = [fit for fit in found if all(word in fit.name for word in words)]
    return [fit for fit in named if len(sizes_of(claim, fit)) >= 4]


def levels_of(claim: str, word: str) -> list[Level]:
    """Return the ranges of a claim for quantities whose name contains a word."""
    found = [leaf for leaf in leaves_of(claim) if isinstance(leaf, Level)]
    return [level for level in found if word in level.quantity.name]


@cache
def rows_of(claim: str) -> Evidence:
    """Return the stored rows from which a claim is judged."""
    known = stored(claim)
    assert known is not None and known[1] is not None, claim
    return known[1]


def series(values: np.ndarray, t: np.ndarray | None = None) -> Series:
    """Return synthetic values: (seed, t), or (seed,) for a quantity that is recorded once."""
    return Series(np.zeros(1), values[:, None]) if t is None else Series(t, values)


def synthetic(task: Task, made: Mapping[str, Series]) -> Rows:
    """Return the rows of a run with synthetic quantities."""
    return Rows(task, tuple(range(len(next(iter(made.values())).values))), made)


def sizes_of(claim: str, fit: Fit) -> dict[float, Task]:
    """Return the runs to which a power is fitted, by their size."""
    chosen = [task for task in tasks_of(claim) if fit.selection.meets(task)]
    return dict(sorted((task.coordinates[fit.along], task) for task in chosen))


def fitted(fit: Fit, tasks: Mapping[float, Task], values: Sequence[np.ndarray]) -> np.ndarray:
    """Return the power that a check fits to synthetic values, per seed.

    `values` has one array over the seeds per size; they are those before the division by `per`.
    """
    rows = tuple(
        synthetic(task, {"law": series(np.asarray(y, dtype=float))})
        for task, y in zip(tasks.values(), values, strict=True)
    )
    (measured,) = replace(fit, number=end("law")).judge(Evidence(rows)).measured
    return np.array([math.nan if v is None else v for v in measured.values])


def half_width(values: np.ndarray) -> float:
    """Return the half width of the 99 % interval of the mean over seeds."""
    low, high = interval(values)
    return (high - low) / 2


def accepted(check: Fit | Level) -> tuple[float, float]:
    """Return the accepted range of a check."""
    if isinstance(check, NoGrowth):
        return (-FLAT, math.inf) if check.decay else (-math.inf, FLAT)
    return check.low, check.high


def distance(check: Fit | Level, power: float) -> float:
    """Return the distance from a power to the nearest end of the accepted range."""
    low, high = accepted(check)
    return max(0.0, min(power - low, high - power))


def listed(sizes: Sequence[float]) -> str:
    """Return the first and the last size, and how many there are."""
    first, last = (f"{x:.4g}".replace("e+", "e") for x in (min(sizes), max(sizes)))
    return f"{first} … {last} ({len(sizes)})"
