"""The verdict rules as an experiment writes them, one function each."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from adversarium.plans.compound import (
    Each,
    Every,
    Given,
    Kind,
    Parts,
    Present,
    UnlessRefuted,
)
from adversarium.plans.evidence import NO_ROWS, Evidence, Need, Quantity, Reading, Where
from adversarium.plans.rules import (
    AtMost,
    Check,
    Existence,
    Frequency,
    Identity,
    InRegime,
    Level,
    NotTestable,
    Ordering,
    Setting,
)
from adversarium.plans.run import Run
from adversarium.plans.slopes import Exponent, NoGrowth
from adversarium.plans.verdict import Why


def identity(error: Quantity, tolerance: float) -> Check:
    """holds: the worst error is within the tolerance."""
    return Identity(error, tolerance)


def at_most(worst: Quantity, bound: float, proof: Quantity | None = None) -> Check:
    """holds: no value exceeds the bound in any seed; with a proof, only that makes it hold."""
    return AtMost(worst, bound, proof)


def level(
    quantity: Quantity, low: float = -math.inf, high: float = math.inf, always: bool = False
) -> Check:
    """holds: the interval over seeds lies in [low, high]; `always`: and so does every seed."""
    return Level(quantity, low, high, always=always)


def power(quantity: Quantity, low: float, high: float) -> Check:
    """An exponent that was fitted within each run: holds where its interval lies in the range."""
    return Level(quantity, low, high, "exponent")


def ordering(greater: Quantity, than: Quantity, by: float = 0.0) -> Check:
    """holds: the interval of the paired difference lies above `by`."""
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


def no_growth(
    name: str,
    number: str | Reading,
    along: str,
    meant: Where,
    logs: float = 0.0,
    per: Callable[[float], float] = _one,
    kind: str = "exponent",
) -> Check:
    """An upper bound with an open constant: holds where a number a run does not grow along a
    coordinate, fails where it outgrows log^logs, which the statement leaves open."""
    reading = number if isinstance(number, Reading) else end(number)
    return NoGrowth(name, reading, along, meant, logs, False, per, kind)


def no_decay(
    name: str,
    number: str | Reading,
    along: str,
    meant: Where,
    logs: float = 0.0,
    per: Callable[[float], float] = _one,
    kind: str = "exponent",
) -> Check:
    """A lower bound with an open constant: the number does not fall along a coordinate."""
    reading = number if isinstance(number, Reading) else end(number)
    return NoGrowth(name, reading, along, meant, logs, True, per, kind)


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
    return NotTestable(kind, Why.CITED, f"{what}; its own source would decide it")


def not_testable(kind: str, why: Why, what: str) -> Check:
    """A statement that no experiment decides."""
    return NotTestable(kind, why, what)


def setting(kind: str, *factors: Quantity) -> Check:
    """A hypothesis or a definition, told with its factors."""
    return Setting(kind, factors)


def every(*checks: Check) -> Check:
    """All of several checks: one statement at several places."""
    return Every(checks)


def parts(named: Mapping[str, Check]) -> Check:
    """The parts of a statement by name, each with its own word."""
    return Parts(tuple(named.items()))


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
