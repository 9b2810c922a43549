"""The verdict rules as an experiment writes them, one function each."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from adversarium.plans.compound import (
    Cited,
    Each,
    Every,
    Given,
    Kind,
    Present,
    Titled,
    UnlessRefuted,
)
from adversarium.plans.evidence import NO_ROWS, Evidence, Need, Quantity, Reading, Where
from adversarium.plans.rules import (
    AtMost,
    Check,
    Existence,
    Exponent,
    Frequency,
    Identity,
    InRegime,
    Level,
    Ordering,
)
from adversarium.plans.run import Run


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
    return InRegime(Quantity(told, one_a_seed, (Need(meant, NO_ROWS),)), at_least)


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
