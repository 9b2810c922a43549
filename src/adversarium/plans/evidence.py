"""What checks and figures read: the rows of runs, asked by family and coordinate, and named numbers
of them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from adversarium.plans.intervals import CONFIDENCE, clopper_pearson_each, finite, interval
from adversarium.plans.run import Run, Task
from adversarium.plans.shares import clipped, shares


@dataclass(frozen=True, eq=False)
class Series:
    """One recorded number: its times, its values (seed, t, *axes), and the coordinates of the
    axes beyond seed and time."""

    t: np.ndarray
    values: np.ndarray
    axes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def last(self) -> np.ndarray:
        """The values at the last time, (seed, *axes)."""
        return self.values[:, -1]

    def kept(self, chosen: np.ndarray) -> "Series":
        """The same of some of the seeds."""
        return Series(self.t, self.values[chosen], self.axes)


@dataclass(frozen=True)
class Where:
    """Which runs are meant: those of a family (or of several), at some coordinates.

    >>> Where("ladder", {"d": 200}).told
    'ladder, d = 200'
    """

    family: str | tuple[str, ...] | None = None
    at: Mapping[str, Any] = field(default_factory=dict)

    def meets(self, task: Task) -> bool:
        """Whether a run is meant."""
        families = (self.family,) if isinstance(self.family, str) else self.family
        if families is not None and task.family not in families:
            return False
        place = task.coordinates
        return all(name in place and _same(place[name], v) for name, v in self.at.items())

    @property
    def told(self) -> str:
        """In words."""
        family = self.family if isinstance(self.family, str) else ""
        places = (f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}"
                  for k, v in self.at.items())  # fmt: skip
        return ", ".join(part for part in (family, *places) if part)


def _same(one: Any, other: Any) -> bool:
    """Equal, or equal but for rounding: a coordinate may be computed (1 − γ)."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)


def where(family: str | tuple[str, ...] | None = None, /, **at: Any) -> Where:
    """The runs of a family at some coordinates.

    >>> where("ladder", d=200) == Where("ladder", {"d": 200})
    True
    """
    return Where(family, at)


def exactly(task: Task) -> Where:
    """That one run.

    >>> from adversarium.plans import Trial
    >>> exactly(Trial(function=max, family="ladder", at={"d": 200})).told
    'ladder, d = 200'
    """
    return Where(task.family, task.coordinates)


class NoSuchRun(KeyError):
    """A check asks for what the plan does not have: a run, or a number of one too short for it."""

    __str__ = Exception.__str__


NO_ROWS = ("",)  # the names of a need that asks for the run alone


@dataclass(frozen=True)
class Need:
    """Rows that a check cannot do without: numbers by name, of the runs that are meant (`alone`: of
    one). No name: a trial's, which come all at once."""

    where: Where
    names: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one run or trial, and the task itself: what a check derives comes from it."""

    task: Task
    seeds: tuple[int, ...]
    series: Mapping[str, Series]

    @property
    def label(self) -> str:
        """The family and the coordinates in words."""
        return self.task.label

    @property
    def run(self) -> Run:
        """The task, which must be a run: what a check derives from its parts."""
        if not isinstance(self.task, Run):
            raise TypeError(f"{self.label or 'the task'} is a trial and has no parts.")
        return self.task

    def __getitem__(self, name: str) -> Series:
        if name not in self.series:
            there = ", ".join(sorted(self.series)) or "nothing"
            raise NoSuchRun(f"no rows of {name!r} in {self.label or 'the run'}; there is {there}.")
        return self.series[name]

    def curve(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Times and values (seed, t, *axes) of a number."""
        return self[name].t, self[name].values

    def parameter(self, name: str) -> Any:
        """What its trial was given."""
        return getattr(self.task, "parameters", {})[name]

    def last(self, name: str) -> np.ndarray:
        """The values at the last record time, (seed, *axes)."""
        return self[name].last()

    def points(self, name: str) -> int:
        """Of how many drawn points a number is the share in every seed; 0 where it is none."""
        if not isinstance(self.task, Run):
            return 0
        known = (measure for recording in self.task.recordings for measure in recording.measures)
        return next((measure.points for measure in known if measure.name == name), 0)

    def kept(self, chosen: np.ndarray) -> "Rows":
        """The rows of some of the seeds: a truth value for each."""
        seeds = tuple(seed for seed, stays in zip(self.seeds, chosen, strict=True) if stays)
        return Rows(self.task, seeds, {n: s.kept(chosen) for n, s in self.series.items()})

    def only(self, names: frozenset[str]) -> "Rows":
        """The rows of some of the numbers."""
        return Rows(self.task, self.seeds, {n: s for n, s in self.series.items() if n in names})


@dataclass(frozen=True, eq=False)
class Evidence:
    """The rows of the runs of a plan, and how sure a check of them has to be: 99 % belong to a
    claim as a whole, its parts share what may go wrong."""

    runs: tuple[Rows, ...] = ()
    confidence: float = CONFIDENCE

    def __iter__(self) -> Iterator[Rows]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of its runs."""
        return self.runs[0].seeds if self.runs else ()

    def where(self, meant: Where) -> "Evidence":
        """The runs that are meant."""
        return replace(self, runs=tuple(run for run in self.runs if meant.meets(run.task)))

    def one(self, meant: Where) -> Rows:
        """The one run that is meant."""
        chosen = self.where(meant).runs
        if len(chosen) != 1:
            there = "; ".join(run.label or "a run" for run in self.runs) or "no run"
            raise NoSuchRun(
                f"{len(chosen) or 'no'} runs are {meant.told or 'any'}, one is needed; there is: "
                f"{there}"
            )
        return chosen[0]

    def by(self, name: str) -> dict[Any, Rows]:
        """The runs by one of their coordinates, rising."""
        placed = [(run.task.coordinates[name], run) for run in self.runs]
        return dict(sorted(placed, key=lambda pair: pair[0]))

    def kept(self, chosen: np.ndarray) -> "Evidence":
        """The same of some of the seeds: a truth value for each."""
        return replace(self, runs=tuple(run.kept(chosen) for run in self.runs))

    def shared(self, parts: int) -> "Evidence":
        """The same for one of several parts that vary with the seeds."""
        return replace(self, confidence=1 - (1 - self.confidence) / max(parts, 1))

    def needed(self, needs: Sequence[Need]) -> "Evidence":
        """What is needed of it, and nothing else: a check that reads more would not find it."""
        runs = []
        for run in self.runs:
            asked = [need for need in needs if need.where.meets(run.task)]
            if asked:
                names = frozenset(name for need in asked for name in need.names)
                whole = any(not need.names for need in asked)
                runs.append(run if whole else run.only(names))
        return replace(self, runs=tuple(runs))


@dataclass(frozen=True)
class Quantity:
    """A named number a seed, computed from the evidence. `points`: it is a share of so many points
    a seed; `step` is where a worst value fell.

    Shares of drawn points among the rows that it needs have an error of their own: `reach` and
    `interval` move them and see how far the number goes."""

    name: str
    of: Callable[[Evidence], np.ndarray] = field(repr=False)
    needs: tuple[Need, ...] = ()
    points: int = 0
    step: Callable[[Evidence], np.ndarray | None] = field(default=lambda rows: None, repr=False)
    share: Callable[[Evidence], bool] = field(default=lambda rows: False, repr=False)  # in [0, 1]

    def __sub__(self, other: "Quantity") -> "Quantity":
        return Quantity(
            " − ".join(f"[{one.name}]" if " − " in one.name else one.name for one in (self, other)),
            lambda rows: self.of(rows) - other.of(rows),
            (*self.needs, *other.needs),
        )

    def reach(self, rows: Evidence, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Between which numbers each seed's lies: a share of drawn points is known no better."""
        values = self.of(rows)
        if self.points:
            return clopper_pearson_each(values, self.points, confidence)
        return self._moved(
            rows, values, lambda share, n: clopper_pearson_each(share, n, confidence)
        )

    def interval(
        self, values: np.ndarray, rows: Evidence, confidence: float = CONFIDENCE
    ) -> tuple[float, float]:
        """The interval of the mean over seeds, at least as wide as the drawn points leave it; that
        of a share lies in [0, 1]."""
        around = self._around(values, rows, confidence)
        return clipped(*around) if self.share(rows) else around

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
        """How far the number goes when its shares of drawn points go to their ends, one at a time;
        what each of them does is added. Many of them average out: seeds tell their spread."""
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
        """The shares of drawn points that it needs: which run, which number, of how many points."""
        for place, run in enumerate(rows.runs):
            asked = [need for need in self.needs if need.where.meets(run.task)]
            names = {name for need in asked for name in (need.names or tuple(run.series))}
            for name in sorted(names & set(run.series)):
                if points := run.points(name):
                    yield place, name, points


Ends = tuple[np.ndarray, np.ndarray]
_FEW = 6  # shares of which each may be at its end


@dataclass(frozen=True)
class Reading:
    """A number a seed of one run's rows, and the names that it reads.

    >>> Reading("twice", lambda run: 2 * run.last("risk"), ("risk",)).on(where("ladder", d=9)).name
    'twice (ladder, d = 9)'
    """

    name: str
    of: Callable[[Rows], np.ndarray] = field(repr=False)
    names: tuple[str, ...] = ()

    def on(self, meant: Where, points: int = 0) -> Quantity:
        """The number of the run that is meant."""
        told = f" ({meant.told})" if meant.told else ""
        needs = (Need(meant, self.names, alone=True),)
        return Quantity(f"{self.name}{told}", lambda rows: self.of(rows.one(meant)), needs, points)


def last(
    name: str,
    meant: Where | str | None = None,
    points: int = 0,
    over: Literal["", "mean", "max", "min"] = "",
) -> Quantity:
    """A number at the last record time (folds and trials have only one), of the one run that is
    meant; `over` reduces its axes.

    >>> (last("robust_error", "ladder") - last("clean_error", "ladder")).name
    'robust_error (ladder) − clean_error (ladder)'
    """
    if not isinstance(name, str):
        raise ValueError(f'last needs a name, such as last("risk"), got {name!r}.')
    place = meant if isinstance(meant, Where) else Where(meant)
    fell = f"step of {name}"

    def step(rows: Evidence) -> np.ndarray | None:
        return run.last(fell) if fell in (run := rows.one(place)).series else None

    def of(rows: Evidence) -> np.ndarray:
        return reduced(rows.one(place).last(name), over)

    def share(rows: Evidence) -> bool:
        return any(name in shares(run.task) for run in rows.where(place))

    told = f"{name} ({place.told})" if place.told else name
    return Quantity(told, of, (Need(place, (name, fell), alone=True),), points, step, share)


def reduced(values: np.ndarray, over: Literal["", "mean", "max", "min"]) -> np.ndarray:
    """(seed, *axes) as one number a seed."""
    flat = values.reshape(len(values), -1)
    if not over and flat.shape[1] != 1:
        raise ValueError(
            f"a number a seed is needed, got {values.shape[1:]} a seed; say what to take over them "
            "(over='mean', 'max' or 'min')."
        )
    return getattr(flat, over or "max")(axis=1)  # type: ignore[no-any-return]


def quantity(
    name: str, of: Callable[[Evidence], np.ndarray], *needs: Need, points: int = 0
) -> Quantity:
    """Any other function of the rows, one number a seed, and what it needs of them.

    >>> quantity("runs", lambda rows: np.array([len(rows)])).of(Evidence())
    array([0])
    """
    return Quantity(name, of, needs, points)


@dataclass(frozen=True)
class Summary:
    """A quantity as the ledger keeps it: mean, 99 % interval, one value a seed, and the range that
    is wanted of it; None where there is no number."""

    name: str
    mean: float | None
    low: float | None
    high: float | None
    values: tuple[float | None, ...]
    wanted: tuple[float | None, float | None] | None = None  # None: nobody has said yet


def summary(asked: Quantity, values: np.ndarray, rows: Evidence | None = None) -> Summary:
    """A quantity's values as the ledger keeps them."""
    low, high = asked.interval(values, rows if rows is not None else Evidence())
    mean, kept = values.mean() if len(values) else math.nan, tuple(finite(v) for v in values)
    return Summary(asked.name, finite(mean), finite(low), finite(high), kept)
