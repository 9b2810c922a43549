"""Give checks and figures access to the rows (recorded quantities) of runs, which are selected by
family and coordinates, and to quantities computed from these rows."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from adversarium.plans.intervals import CONFIDENCE, clopper_pearson_each, finite, interval
from adversarium.plans.run import Run, Task
from adversarium.plans.shares import shares


@dataclass(frozen=True, eq=False)
class Series:
    """One recorded quantity: its times, its values (seed, t, *axes), and the coordinates of all
    axes other than seed and time."""

    t: np.ndarray
    values: np.ndarray
    axes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def last(self) -> np.ndarray:
        """Return the values at the last time, (seed, *axes)."""
        return self.values[:, -1]

    def kept(self, chosen: np.ndarray) -> "Series":
        """Return the series of the chosen seeds."""
        return Series(self.t, self.values[chosen], self.axes)


@dataclass(frozen=True)
class Where:
    """A selection of runs: those of a family (or of several) with the given coordinates.

    >>> Where("ladder", {"d": 200}).description
    'ladder, d = 200'
    """

    family: str | tuple[str, ...] | None = None
    at: Mapping[str, Any] = field(default_factory=dict)

    def meets(self, task: Task) -> bool:
        """Return whether a run is selected."""
        families = (self.family,) if isinstance(self.family, str) else self.family
        if families is not None and task.family not in families:
            return False
        place = task.coordinates
        return all(name in place and _same(place[name], v) for name, v in self.at.items())

    @property
    def description(self) -> str:
        """Return the selection as text."""
        family = self.family if isinstance(self.family, str) else ""
        places = (f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}"
                  for k, v in self.at.items())  # fmt: skip
        return ", ".join(part for part in (family, *places) if part)


def _same(one: object, other: object) -> bool:
    """Return whether two values are equal up to the rounding of a computed coordinate (1 − γ)."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)


def where(family: str | tuple[str, ...] | None = None, /, **at: Any) -> Where:
    """Select the runs of a family with the given coordinates.

    >>> where("ladder", d=200) == Where("ladder", {"d": 200})
    True
    """
    return Where(family, at)


def exactly(task: Task) -> Where:
    """Select exactly this run.

    >>> from adversarium.plans import Trial
    >>> exactly(Trial(function=max, family="ladder", at={"d": 200})).description
    'ladder, d = 200'
    """
    return Where(task.family, task.coordinates)


class NoSuchRun(KeyError):
    """Raised if a check requests a run that the plan does not have, or a quantity that the run does
    not record, for example because the run is too short."""

    __str__ = Exception.__str__


NO_ROWS = ("",)  # the names of a need that requires a run but no rows


@dataclass(frozen=True)
class Need:
    """Rows that a check requires: the named quantities of the selected runs.

    Without names, all rows of these runs are required. `alone` requires exactly one run.
    """

    where: Where
    names: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one run or trial, and the task itself, whose fields a check can read."""

    task: Task
    seeds: tuple[int, ...]
    series: Mapping[str, Series]

    @property
    def label(self) -> str:
        """Return the family and the coordinates as text."""
        return self.task.label

    @property
    def run(self) -> Run:
        """Return the task; raise unless it is a run, which has parts such as data and network."""
        if not isinstance(self.task, Run):
            raise TypeError(f"{self.label or 'the task'} is a trial and has no parts.")
        return self.task

    def __getitem__(self, name: str) -> Series:
        if name not in self.series:
            there = ", ".join(sorted(self.series)) or "nothing"
            raise NoSuchRun(f"{self.label or 'the run'} has no rows of {name!r}; it has {there}.")
        return self.series[name]

    def curve(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the times and the values (seed, t, *axes) of a recorded quantity."""
        return self[name].t, self[name].values

    def parameter(self, name: str) -> Any:
        """Return a parameter of the trial."""
        return getattr(self.task, "parameters", {})[name]

    def last(self, name: str) -> np.ndarray:
        """Return the values at the last record time, (seed, *axes)."""
        return self[name].last()

    def points(self, name: str) -> int:
        """Return how many points per seed are drawn for a quantity that is a share of random
        points; 0 for any other quantity."""
        if not isinstance(self.task, Run):
            return 0
        known = (measure for recording in self.task.recordings for measure in recording.measures)
        return next((measure.points for measure in known if measure.name == name), 0)

    def kept(self, chosen: np.ndarray) -> "Rows":
        """Return the rows of the chosen seeds; `chosen` has one truth value per seed."""
        seeds = tuple(seed for seed, stays in zip(self.seeds, chosen, strict=True) if stays)
        return Rows(self.task, seeds, {n: s.kept(chosen) for n, s in self.series.items()})

    def only(self, names: frozenset[str]) -> "Rows":
        """Return the rows of the named quantities."""
        return Rows(self.task, self.seeds, {n: s for n, s in self.series.items() if n in names})


@dataclass(frozen=True, eq=False)
class Evidence:
    """The rows of the runs of a plan, and the confidence level of checks.

    The 99 % level applies to a claim as a whole; its parts split the error probability.
    """

    runs: tuple[Rows, ...] = ()
    confidence: float = CONFIDENCE
    planned: tuple[str, ...] = ()  # the labels of all runs of the plan, for messages

    def __iter__(self) -> Iterator[Rows]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds of the runs."""
        return self.runs[0].seeds if self.runs else ()

    def where(self, selection: Where) -> "Evidence":
        """Return the selected runs."""
        return replace(self, runs=tuple(run for run in self.runs if selection.meets(run.task)))

    def one(self, selection: Where) -> Rows:
        """Return the selected run; raise unless exactly one run is selected."""
        chosen = self.where(selection).runs
        if len(chosen) != 1:
            labels = self.planned or tuple(run.label for run in self.runs)
            listed = "; ".join(label or "a run without a label" for label in labels[:_LISTED])
            more = f"; and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
            raise NoSuchRun(
                f"{selection.description or 'any run'} selects {len(chosen)} runs, but one is "
                f"needed; the runs are: {listed or 'none'}{more}."
            )
        return chosen[0]

    def by(self, name: str) -> dict[Any, Rows]:
        """Return the runs keyed by one of their coordinates, in increasing order."""
        placed = [(run.task.coordinates[name], run) for run in self.runs]
        return dict(sorted(placed, key=lambda pair: pair[0]))

    def kept(self, chosen: np.ndarray) -> "Evidence":
        """Return the evidence of the chosen seeds; `chosen` has one truth value per seed."""
        return replace(self, runs=tuple(run.kept(chosen) for run in self.runs))

    def shared(self, parts: int) -> "Evidence":
        """Return the evidence with the confidence level of one part, if several parts split the
        error probability."""
        return replace(self, confidence=1 - (1 - self.confidence) / max(parts, 1))

    def needed(self, needs: Sequence[Need]) -> "Evidence":
        """Return only the required rows, so that a check cannot read others."""
        runs = []
        for run in self.runs:
            asked = [need for need in needs if need.where.meets(run.task)]
            if asked:
                names = frozenset(name for need in asked for name in need.names)
                whole = any(not need.names for need in asked)
                runs.append(run if whole else run.only(names))
        planned = self.planned or tuple(run.label for run in self.runs)
        return replace(self, runs=tuple(runs), planned=planned)


_LISTED = 12  # the most runs that a message lists

Limits = tuple[float, float]
UNLIMITED: Limits = (-math.inf, math.inf)
SHARE: Limits = (0.0, 1.0)


@dataclass(frozen=True)
class Quantity:
    """A named quantity with one number per seed, computed from the evidence.

    If `points` is set, the number is a share of that many random points per seed. `step` returns
    the step at which the worst value occurred. If the required rows contain shares of random
    points, `reach` and `interval` include the sampling error of these shares.
    """

    name: str
    of: Callable[[Evidence], np.ndarray] = field(repr=False)
    needs: tuple[Need, ...] = ()
    points: int = 0
    step: Callable[[Evidence], np.ndarray | None] = field(default=lambda rows: None, repr=False)
    limits: Callable[[Evidence], Limits] = field(default=lambda rows: UNLIMITED, repr=False)

    def __sub__(self, other: "Quantity") -> "Quantity":
        def limits(rows: Evidence) -> Limits:
            (low, high), (least, most) = self.limits(rows), other.limits(rows)
            return low - most, high - least

        return Quantity(
            " − ".join(f"[{one.name}]" if " − " in one.name else one.name for one in (self, other)),
            lambda rows: self.of(rows) - other.of(rows),
            (*self.needs, *other.needs),
            limits=limits,
        )

    def reach(self, rows: Evidence, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the confidence bounds of each seed's number, given the sampling error of shares of
        random points."""
        values = self.of(rows)
        if self.points:
            return clopper_pearson_each(values, self.points, confidence)
        return self._moved(
            rows, values, lambda share, n: clopper_pearson_each(share, n, confidence)
        )

    def interval(
        self, values: np.ndarray, rows: Evidence, confidence: float = CONFIDENCE
    ) -> tuple[float, float]:
        """Return the interval of the mean over seeds, at least as wide as the sampling error of
        random points requires, and within the limits of the quantity."""
        low, high = self._around(values, rows, confidence)
        least, most = self.limits(rows)
        return max(low, least), min(high, most)

    def _around(self, values: np.ndarray, rows: Evidence, confidence: float) -> tuple[float, float]:
        low, high = interval(values, self.points, confidence)
        if self.points or not math.isfinite(low):
            return low, high

        def pooled(share: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
            mean = share.mean(0, keepdims=True)
            a, b = clopper_pearson_each(mean, n * len(share), confidence)
            return (share + a - mean).clip(0, 1), (share + b - mean).clip(0, 1)

        down, up = (end.mean() for end in self._moved(rows, values, pooled))
        return min(low, float(down)), max(high, float(up))

    def _moved(
        self, rows: Evidence, values: np.ndarray, ends: "Callable[[np.ndarray, int], Ends]"
    ) -> "Ends":
        """Return the values reached if the shares of random points move to the ends of their
        intervals, one share at a time; the changes are added. More than `_FEW` shares are not
        moved: their errors average out, and the spread over seeds covers them."""
        down = up = np.zeros(len(values))
        shares = list(self._sampled(rows))
        for place, name, points in shares if len(shares) <= _FEW else ():
            run, moved = rows.runs[place], []
            for end in ends(run.series[name].values, points):
                series = {**run.series, name: replace(run.series[name], values=end)}
                some = (*rows.runs[:place], replace(run, series=series), *rows.runs[place + 1 :])
                moved.append(self.of(replace(rows, runs=some)) - values)
            down = down + np.fmin(0, np.fmin(*moved))
            up = up + np.fmax(0, np.fmax(*moved))
        return values + down, values + up

    def _sampled(self, rows: Evidence) -> Iterator[tuple[int, str, int]]:
        """Yield the required shares of random points: index of the run, name, number of points."""
        for place, run in enumerate(rows.runs):
            asked = [need for need in self.needs if need.where.meets(run.task)]
            names = {name for need in asked for name in (need.names or tuple(run.series))}
            for name in sorted(names & set(run.series)):
                if points := run.points(name):
                    yield place, name, points


Ends = tuple[np.ndarray, np.ndarray]
_FEW = 6  # the largest number of shares that are moved to the ends of their intervals


@dataclass(frozen=True)
class Reading:
    """A function of one run's rows with one number per seed, and the names of the rows it reads.

    >>> Reading("twice", lambda run: 2 * run.last("risk"), ("risk",)).on(where("ladder", d=9)).name
    'twice (ladder, d = 9)'
    """

    name: str
    of: Callable[[Rows], np.ndarray] = field(repr=False)
    names: tuple[str, ...] = ()
    limits: Limits = UNLIMITED

    def on(self, selection: Where, points: int = 0) -> Quantity:
        """Return the quantity that this function computes from the selected run."""
        at = f" ({selection.description})" if selection.description else ""
        needs = (Need(selection, self.names, alone=True),)
        return Quantity(
            f"{self.name}{at}",
            lambda rows: self.of(rows.one(selection)),
            needs,
            points,
            limits=lambda rows: self.limits,
        )


def end(name: str, called: str = "") -> Reading:
    """Return the reading of a recorded quantity's last value, renamed to `called` if given.

    >>> end("risk").on(Where("ladder", {"d": 200})).name
    'risk (ladder, d = 200)'
    """
    return Reading(called or name, lambda run: run.last(name), (name,))


def last(
    name: str,
    selection: Where | str | None = None,
    points: int = 0,
    over: Literal["", "mean", "max", "min"] = "",
) -> Quantity:
    """Return a recorded quantity of the selected run at the last record time.

    `over` reduces its axes to one number per seed. Exactly one run must be selected.

    >>> (last("robust_error", "ladder") - last("clean_error", "ladder")).name
    'robust_error (ladder) − clean_error (ladder)'
    """
    if not isinstance(name, str):
        raise ValueError(f'last needs a name, such as last("risk"), got {name!r}.')
    place = selection if isinstance(selection, Where) else Where(selection)
    fell = f"step of {name}"

    def step(rows: Evidence) -> np.ndarray | None:
        return run.last(fell) if fell in (run := rows.one(place)).series else None

    def of(rows: Evidence) -> np.ndarray:
        return reduced(rows.one(place).last(name), over)

    def limits(rows: Evidence) -> Limits:
        share = any(name in shares(run.task) for run in rows.where(place))
        return SHARE if share else UNLIMITED

    label = f"{name} ({place.description})" if place.description else name
    return Quantity(label, of, (Need(place, (name, fell), alone=True),), points, step, limits)


def reduced(values: np.ndarray, over: Literal["", "mean", "max", "min"]) -> np.ndarray:
    """Reduce values (seed, *axes) to one number per seed."""
    flat = values.reshape(len(values), -1)
    if not over and flat.shape[1] != 1:
        raise ValueError(
            f"one number per seed is needed, got an array of shape {values.shape[1:]} per seed; "
            "reduce it with over='mean', 'max' or 'min'."
        )
    return getattr(flat, over or "max")(axis=1)  # type: ignore[no-any-return]


def quantity(
    name: str,
    of: Callable[[Evidence], np.ndarray],
    *needs: Need,
    points: int = 0,
    limits: Limits = UNLIMITED,
) -> Quantity:
    """Return the quantity that a function computes from the needed rows, one number per seed.

    >>> quantity("runs", lambda rows: np.array([len(rows)])).of(Evidence())
    array([0])
    """
    return Quantity(name, of, needs, points, limits=lambda rows: limits)


@dataclass(frozen=True)
class Summary:
    """A quantity as the ledger stores it: mean, 99 % interval, one value per seed, and the accepted
    range; None replaces a number that is not finite."""

    name: str
    mean: float | None
    low: float | None
    high: float | None
    values: tuple[float | None, ...]
    wanted: tuple[float | None, float | None] | None = None  # None: not yet specified


def summary(asked: Quantity, values: np.ndarray, rows: Evidence | None = None) -> Summary:
    """Summarise a quantity's values as the ledger stores them."""
    low, high = asked.interval(values, rows if rows is not None else Evidence())
    mean, kept = values.mean() if len(values) else math.nan, tuple(finite(v) for v in values)
    return Summary(asked.name, finite(mean), finite(low), finite(high), kept)
