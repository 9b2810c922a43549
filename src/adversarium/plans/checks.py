"""Define the checks that an experiment can use, one function per verdict rule."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from adversarium.plans.compound import Each, Every, Given, Kind, Parts, Present, UnlessRefuted
from adversarium.plans.evidence import NO_ROWS, Evidence, Need, Quantity, Reading, Where
from adversarium.plans.rules import (
    AtMost,
    Check,
    Existence,
    Frequency,
    Hypothesis,
    Identity,
    InRegime,
    Level,
    NotTestable,
    Ordering,
)
from adversarium.plans.run import Run
from adversarium.plans.slopes import Exponent, NoGrowth
from adversarium.plans.verdict import Why


def _require_numbers(**numbers: float) -> None:
    """Raise if a bound is nan."""
    for name, value in numbers.items():
        if math.isnan(value):
            raise ValueError(f"{name} needs a number, got nan.")


def _named(*asked: object) -> None:
    """Raise unless given one number per seed; a reading has no run yet."""
    for one in asked:
        if isinstance(one, Reading):
            raise ValueError(f"{one.name} belongs to no run yet; choose one with .on(where(…)).")
        if not isinstance(one, Quantity):
            raise ValueError(
                f'a check needs one number per seed, such as last("risk"), got {one!r}.'
            )


def identity(error: Quantity, tolerance: float) -> Check:
    """Check that the largest error over all seeds is within the tolerance.

    >>> error = Quantity("left − right", lambda rows: np.array([1e-15, 3e-12]))
    >>> identity(error, 1e-9).judge(Evidence()).verdict
    'holds'
    """
    _named(error)
    _require_numbers(tolerance=tolerance)
    return Identity(error, tolerance)


def at_most(worst: Quantity, bound: float, proof: Quantity | None = None) -> Check:
    """Check that no seed exceeds the bound; if a proof is given, only the proof can confirm it.

    >>> from adversarium.plans import Rows, Trial
    >>> rows = Evidence((Rows(Trial(function=max), tuple(range(5)), {}),))  # five seeds
    >>> excess = Quantity("error − bound", lambda rows: np.array([-0.1, -0.3, -0.2, -0.1, 0.2]))
    >>> at_most(excess, 0.0).judge(rows).reason
    'violated in 1 of 5 seeds, worst 0.2 > 0 (seed 4)'
    """
    _named(worst, *([] if proof is None else [proof]))
    _require_numbers(bound=bound)
    return AtMost(worst, bound, proof)


def level(
    quantity: Quantity, low: float = -math.inf, high: float = math.inf, always: bool = False
) -> Check:
    """Check that the interval over seeds (with `always`, also every seed) is within [low, high].

    >>> error = Quantity("error", lambda rows: np.array([0.49, 0.5, 0.51, 0.5, 0.5]))
    >>> [level(error, low, 1.0).judge(Evidence()).verdict for low in (0.4, 0.6)]
    ['holds', 'fails']
    """
    _named(quantity)
    _require_numbers(low=low, high=high)
    if low > high:
        raise ValueError(f"level needs low <= high, got {low:g} and {high:g}.")
    return Level(quantity, low, high, always=always)


def power(quantity: Quantity, low: float, high: float) -> Check:
    """Check that the interval of an exponent, fitted within each run, lies in [low, high].

    >>> fitted = Quantity("power of t", lambda rows: np.array([-1.01, -1.0, -0.99, -1.0, -1.0]))
    >>> power(fitted, -1.1, -0.9).judge(Evidence()).verdict
    'holds'
    """
    _named(quantity)
    _require_numbers(low=low, high=high)
    return Level(quantity, low, high, "exponent")


def ordering(greater: Quantity, than: Quantity, by: float = 0.0) -> Check:
    """Check that the interval of the paired difference of two numbers lies above `by`.

    >>> robust = Quantity("robust", lambda rows: np.array([0.5, 0.6, 0.5, 0.6, 0.5]))
    >>> clean = Quantity("clean", lambda rows: np.array([0.1, 0.2, 0.1, 0.1, 0.1]))
    >>> ordering(robust, than=clean).judge(Evidence()).verdict
    'holds'
    """
    _named(greater, than)
    _require_numbers(by=by)
    return Ordering(greater, than, by)


def _one(size: float) -> float:
    return 1.0


def exponent(
    name: str,
    number: str | Reading,
    along: str,
    selection: Where,
    claimed: float,
    tolerance: float | tuple[float, float],
    per: Callable[[float], float] = _one,
) -> Check:
    """Check that a number grows along a coordinate with the claimed power, up to the tolerance.

    The number is read from each run; a name selects its last value. Two tolerances apply below and
    above the claimed power.

    >>> import adversarium as av
    >>> def square(rng, d):
    ...     return {"y": d**2}
    >>> sizes = [av.Trial(function=square, parameters={"d": d}, at={"d": d}) for d in (1, 2, 4, 8)]
    >>> rows = Evidence(tuple(av.run(size, range(5)).rows for size in sizes))
    >>> exponent("y ∝ d²", "y", "d", Where(), claimed=2, tolerance=0.1).judge(rows).verdict
    'holds'
    """
    below, above = tolerance if isinstance(tolerance, tuple) else (tolerance, tolerance)
    _require_numbers(claimed=claimed, below=below, above=above)
    reading = number if isinstance(number, Reading) else end(number)
    return Exponent(name, reading, along, selection, claimed - below, claimed + above, per)


def no_growth(
    name: str,
    number: str | Reading,
    along: str,
    selection: Where,
    logs: float = 0.0,
    per: Callable[[float], float] = _one,
    kind: str = "exponent",
) -> Check:
    """Check an upper bound with an unspecified constant: a number does not grow along a coordinate.

    It holds if the number, read from each run, does not grow, and fails if the number grows faster
    than log^logs, a factor that the statement leaves unspecified.

    >>> import adversarium as av
    >>> def square(rng, d):
    ...     return {"y": d**2}
    >>> sizes = [av.Trial(function=square, parameters={"d": d}, at={"d": d}) for d in (1, 2, 4, 8)]
    >>> rows = Evidence(tuple(av.run(size, range(5)).rows for size in sizes))
    >>> no_growth("y", "y", "d", Where()).judge(rows).verdict
    'fails'
    >>> per_square = no_growth("y/d²", "y", "d", Where(), per=lambda d: d**2)
    >>> per_square.judge(rows).verdict
    'holds'
    """
    reading = number if isinstance(number, Reading) else end(number)
    return NoGrowth(name, reading, along, selection, logs, False, per, kind)


def no_decay(
    name: str,
    number: str | Reading,
    along: str,
    selection: Where,
    logs: float = 0.0,
    per: Callable[[float], float] = _one,
    kind: str = "exponent",
) -> Check:
    """Check a lower bound with an unspecified constant: a number does not fall along a coordinate.

    >>> no_decay("V", "median_memorised", "N", Where("ladder")).kind
    'exponent'
    """
    reading = number if isinstance(number, Reading) else end(number)
    return NoGrowth(name, reading, along, selection, logs, True, per, kind)


def end(name: str, called: str = "") -> Reading:
    """Return a reading of any run: the last value of a number, under the name `called` if given.

    >>> end("risk").on(Where("ladder", {"d": 200})).name
    'risk (ladder, d = 200)'
    """
    return Reading(called or name, lambda run: run.last(name), (name,))


def frequency(successes: Quantity, trials: int | str, at_least: float) -> Check:
    """Check that the exact interval of the frequency, pooled over seeds, is at least the level.

    `trials` is the number of trials per seed, or the name of the trial's parameter that has it.

    >>> kept = Quantity("kept", lambda rows: np.array([100, 99, 100, 100, 100]))
    >>> frequency(kept, 100, at_least=0.95).judge(Evidence()).verdict
    'holds'
    """
    _named(successes)
    _require_numbers(at_least=at_least)
    return Frequency(successes, trials, at_least)


def existence(checked: Quantity) -> Check:
    """Check that the object passed its exact check in every seed.

    >>> existence(Quantity("found", lambda rows: np.array([1.0, 1.0]))).judge(Evidence()).verdict
    'holds'
    """
    _named(checked)
    return Existence(checked)


def in_regime(quantity: Quantity, at_least: float) -> Check:
    """Require that a number is at least the level; otherwise the claim is out of regime.

    >>> wide = in_regime(Quantity("m/n", lambda rows: np.array([3.0, 3.0])), at_least=8)
    >>> wide.judge(Evidence()).why.value
    'out of regime'
    """
    _named(quantity)
    _require_numbers(at_least=at_least)
    return InRegime(quantity, at_least)


def gated(name: str, number: Callable[[Run], float], at_least: float, selection: Where) -> Check:
    """Require that a number of a run's configuration is at least the level, else out of regime.

    >>> gated("d/n", lambda run: run.data.d / run.n, 10, Where("ladder")).needs[0].where.description
    'ladder'
    """

    def one_a_seed(rows: Evidence) -> np.ndarray:
        run = rows.one(selection)
        assert isinstance(run.task, Run)
        return np.full(len(run.seeds), float(number(run.task)))

    label = f"{name} ({selection.description})" if selection.description else name
    return InRegime(Quantity(label, one_a_seed, (Need(selection, NO_ROWS),)), at_least)


def given(event: Quantity, check: Check) -> Check:
    """Apply the check only to the seeds in which a random hypothesis came true.

    >>> from adversarium.plans import Rows, Trial
    >>> from adversarium.plans.evidence import Series
    >>> columns = {"event": [[1.0], [1.0], [0.0]], "error": [[0.0], [0.0], [9.0]]}  # three seeds
    >>> series = {name: Series(np.zeros(1), np.array(column)) for name, column in columns.items()}
    >>> rows = Evidence((Rows(Trial(function=max), (0, 1, 2), series),))
    >>> event, error = (end(name).on(Where()) for name in ("event", "error"))
    >>> given(event, identity(error, 0.0)).judge(rows).verdict
    'holds'
    """
    _named(event)
    return Given(event, check)


def unless_refuted(check: Check, because: str) -> Check:
    """Turn a failure into “undecided”: finite sizes can confirm the check but not refute it.

    >>> error = Quantity("error", lambda rows: np.array([0.5]))
    >>> unless_refuted(identity(error, 0.1), "d is small").judge(Evidence()).why.value
    'asymptotic constant'
    """
    return UnlessRefuted(check, because)


def cited(kind: str, what: str) -> Check:
    """Mark a statement as not testable because the paper cites it from another source.

    >>> cited("inequality", "the VC bound").judge(Evidence()).verdict
    'not testable'
    """
    return NotTestable(kind, Why.CITED, f"{what}; it has to be checked in the cited source")


def not_testable(kind: str, why: Why, what: str) -> Check:
    """Mark a statement as not testable because no experiment can decide it.

    >>> not_testable("existence", Why.ALL_NETWORKS, "any ReLU network").judge(Evidence()).reason
    'quantifies over all networks: any ReLU network'
    """
    return NotTestable(kind, why, what)


def setting(kind: str, *factors: Quantity) -> Check:
    """Report the factors of a hypothesis or a definition without judging it.

    >>> factor = Quantity("d/n", lambda rows: np.array([20.0, 20.0]))
    >>> setting("inequality", factor).judge(Evidence()).verdict
    'setting'
    """
    _named(*factors)
    return Hypothesis(kind, factors)


def every(*checks: Check) -> Check:
    """Require that all of several checks hold: one statement in several settings.

    >>> small = Quantity("here", lambda rows: np.array([1e-12]))
    >>> large = Quantity("there", lambda rows: np.array([1.0]))
    >>> every(identity(small, 1e-9), identity(large, 1e-9)).judge(Evidence()).verdict
    'fails'
    """
    return Every(checks)


def parts(named: Mapping[str, Check]) -> Check:
    """Judge the named parts of a statement, each with its own verdict.

    >>> small = Quantity("here", lambda rows: np.array([1e-12]))
    >>> large = Quantity("there", lambda rows: np.array([1.0]))
    >>> both = parts({"(i)": identity(small, 1e-9), "(ii)": identity(large, 1e-9)})
    >>> both.judge(Evidence()).verdict
    'mixed'
    """
    return Parts(tuple(named.items()))


def each(selection: Where | str, make: Callable[[Where], Check]) -> Check:
    """Apply a check to every selected run.

    >>> from adversarium.plans import Rows, Trial
    >>> rows = Evidence(tuple(Rows(Trial(function=max, at={"d": d}), (0,), {}) for d in (10, 20)))
    >>> def exact(run):
    ...     return identity(Quantity(run.description, lambda rows: np.zeros(1)), 0.0)
    >>> [number.name for number in each("", exact).judge(rows).measured]
    ['d = 10', 'd = 20']
    """
    return Each(selection if isinstance(selection, Where) else Where(selection), make)


def present(
    kind: str, make: Callable[[Evidence], Sequence[Check]], lacking: str, *needs: Need
) -> Check:
    """Require that all checks that `make` builds from the available rows hold.

    >>> present("identity", lambda rows: [], "no run reached T₁").judge(Evidence()).verdict
    'undecided'
    """
    return Present(kind, make, lacking, needs)


def counted_as(kind: str, check: Check) -> Check:
    """Count a check as one of another kind.

    >>> zero = Quantity("error", lambda rows: np.zeros(5))
    >>> counted_as("level", identity(zero, 0.0)).kind
    'level'
    """
    return Kind(kind, check)
