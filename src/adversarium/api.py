"""The Python interface: run experiments and read their results, states, verdicts and slopes."""

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from adversarium.plans.catalogue import experiment_ids
from adversarium.plans.evidence import Evidence, Rows, Series
from adversarium.plans.experiment import Experiment
from adversarium.plans.frames import dataset, frame
from adversarium.plans.intervals import interval
from adversarium.plans.loading import load
from adversarium.plans.places import places
from adversarium.plans.run import Run, Task, Trial
from adversarium.plans.verdict import Verdict
from adversarium.runs.audit import AuditOptions, run_missing
from adversarium.runs.changes import LARGEST, planned
from adversarium.runs.compute import compute
from adversarium.runs.jobs import resolve, units
from adversarium.runs.machine import require_device
from adversarium.runs.reader import Reader, evidence
from adversarium.runs.scope import judged
from adversarium.runs.store import Store
from adversarium.runs.training_stream import state_at
from adversarium.sockets import AnyState


@dataclass(frozen=True, repr=False)
class Result:
    """The results of a run: result["probe"] is an array of shape (seed, t, *axes).

    >>> def double(rng, x):
    ...     return {"twice": 2.0 * x}
    >>> import adversarium as av
    >>> result = av.run(av.Trial(function=double, parameters={"x": 3.0}), seeds=range(2))
    >>> result["twice"]
    array([[6.],
           [6.]])
    """

    run: Task
    rows: Rows
    device: str = "cpu"
    checkpoints: str = ""  # folder of the run's checkpoints; empty: none

    @property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds, in the order of the first axis."""
        return self.rows.seeds

    @property
    def probes(self) -> tuple[str, ...]:
        """Return the names of the recorded quantities."""
        return tuple(self.rows.series)

    @property
    def refused(self) -> dict[str, str]:
        """Return, by name, why the engines tried before the chosen one cannot run it."""
        return dict(resolve(self.run).refused)

    def series(self, name: str) -> Series:
        """Return a recorded quantity with its record times and the coordinates of its axes."""
        if name not in self.rows.series:
            raise KeyError(f"{name!r} was not recorded; choose from {', '.join(self.probes)}.")
        return self.rows[name]

    def t(self, name: str) -> np.ndarray:
        """Return the record times of a quantity."""
        return self.series(name).t

    def axes(self, name: str) -> dict[str, tuple[float, ...]]:
        """Return the axes of a quantity other than seed and t, with their coordinates."""
        return dict(self.series(name).axes)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.series(name).values

    def __iter__(self) -> Iterator[str]:
        return iter(self.probes)

    def __len__(self) -> int:
        return len(self.probes)

    def keys(self) -> tuple[str, ...]:
        """Return the names of the recorded quantities; dict(result) maps each to its array."""
        return self.probes

    def state(self, seed: int, t: int) -> object:
        """Return the state of one seed after step t. Training is repeated up to t, from the nearest
        earlier checkpoint of the run or else from the start (runs are deterministic)."""
        if isinstance(self.run, Trial):
            raise TypeError("state needs the result of an av.Run; an av.Trial trains no network.")
        if isinstance(t, bool) or not isinstance(t, Integral) or not 0 <= t <= self.run.steps:
            raise ValueError(f"state needs a step t from 0 to {self.run.steps}, got {t}.")
        if seed not in self.seeds:
            raise ValueError(f"state needs one of the seeds {self.seeds}, got {seed}.")
        job = resolve(self.run)
        return _Single(state_at(job, seed, t, self.device, self.checkpoints))

    def to_frame(self) -> object:
        """Return a pandas frame with one line per value (needs `adversarium[frames]`)."""
        return frame(self.rows)

    def to_xarray(self) -> object:
        """Return an xarray data set over seed, t and the axes (needs `adversarium[xarray]`)."""
        return dataset(self.rows)

    def __repr__(self) -> str:
        label = f" {self.run.label!r}" if self.run.label else ""
        return f"<Result{label}: {len(self.seeds)} seeds; {', '.join(self.probes)}>"

    def last(self) -> dict[str, tuple[float, float, float]]:
        """Return, for every quantity, the mean over seeds of its last value and the 99 % interval;
        a quantity with axes has one entry per coordinate."""
        lines = {}
        for name in self.probes:
            series = self.rows[name]
            for place, values in places(series):
                ends = interval(values, self.rows.points(name))
                lines[f"{name}{place}"] = (float(values.mean()), *ends)
        return lines

    def _repr_html_(self) -> str:
        numbers = self.last().items()
        lines = [(p, _number(m), f"[{_number(a)}, {_number(b)}]") for p, (m, a, b) in numbers]
        return _html(("probe", f"last value, mean of {len(self.seeds)} seeds", "99 %"), lines)


def _distinct(seeds: Iterable[int]) -> tuple[int, ...]:
    """Return the seeds. Raise unless they are distinct integers ≥ 0 and there is at least one."""
    listed = tuple(seeds) if isinstance(seeds, Iterable) else ()
    whole = all(isinstance(s, Integral) and not isinstance(s, bool) for s in listed)
    given = tuple(int(s) for s in listed) if whole else ()
    good = all(0 <= s <= LARGEST for s in given)
    if not given or not good or len(set(given)) < len(given):
        raise ValueError(
            f"seeds must be distinct integers >= 0 and < 2^63 such as range(5), got {seeds!r}."
        )
    return given


def _number(value: float) -> str:
    return f"{value:.4g}"


def _html(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in lines)
    return f"<table><tr>{_cells('th', header)}</tr>{body}</table>"


def _cells(tag: str, row: Sequence[str]) -> str:
    return "".join(f"<{tag}>{escape(str(c))}</{tag}>" for c in row)


@dataclass(frozen=True, repr=False)
class Outcome:
    """The runs and verdicts of an experiment: outcome["label"] is the Result of one run. A notebook
    shows the verdicts, and av.plot(outcome, "name") draws a figure of the experiment.

    >>> import adversarium as av
    >>> id = min(av.plans.papers.experiments())  # or "./FILE.py"
    >>> av.experiment(id, seeds=range(2)).rows.seeds  # doctest: +SKIP
    (0, 1)
    """

    experiment: Experiment
    results: Mapping[str, Result]
    verdicts: Mapping[str, Verdict]

    @property
    def rows(self) -> Evidence:
        """Return the stored results of all runs, which checks and figures read."""
        return Evidence(tuple(result.rows for result in self.results.values()))

    def __repr__(self) -> str:
        words = ", ".join(f"{c} {v.verdict}" for c, v in self.verdicts.items())
        return f"<{self.experiment.id}: {words}>"

    def __getitem__(self, label: str) -> Result:
        if label not in self.results:
            raise KeyError(
                f"no run has the label {label!r}; choose from {', '.join(self.results)}."
            )
        return self.results[label]

    def _repr_html_(self) -> str:
        lines = []
        for claim, verdict in self.verdicts.items():
            numbers = [
                f"{q.name}: {_number(q.mean)}" for q in verdict.measured if q.mean is not None
            ]
            lines.append((claim, verdict.verdict, "; ".join(numbers[:3]), verdict.reason))
        return _html(("claim", "verdict", "measured", ""), lines)


def experiment(
    id: str,
    preset: str = "quick",
    seeds: Iterable[int] | None = None,
    store: str | Path | None = None,
    device: str = "cpu",
    **changes: object,
) -> Outcome:
    """Run and judge an experiment of the catalogue, or your ./FILE.py. `changes` are parameters of
    its plan, or fields of its data, network, attack or training rule (**{"data.beta": 0.3}). With a
    store, only missing results are computed.

    >>> import adversarium as av
    >>> outcome = av.experiment("./theorem.py", d=12)  # doctest: +SKIP
    >>> outcome.verdicts["theorem.thm1"].verdict  # doctest: +SKIP
    'holds'
    """
    if not id:
        raise ValueError("experiment needs an id or a file such as ./FILE.py, got an empty string.")
    ids = experiment_ids(id)
    if len(ids) > 1:
        raise ValueError(f"{id} names several experiments: {', '.join(ids)}; choose one.")
    home = load(ids[0])
    require_device(device)
    if preset not in home.presets:
        raise ValueError(f"preset must be one of {', '.join(home.presets)}, got {preset!r}.")
    chosen = _distinct(range(home.seeds(preset)) if seeds is None else seeds)
    jobs = [resolve(task) for task in planned(home, preset, changes)]
    with _place(store) as place:
        reader = Reader(place, home.id)
        failures = run_missing(home, jobs, chosen, reader, AuditOptions(preset, chosen, device))
        rows = evidence(reader, jobs, chosen)
    if rows is None:
        raise RuntimeError(f"a run failed: {'; '.join(failures)}")
    results = {run.label: Result(run.task, run, device) for run in rows}
    return Outcome(home, results, {c: judged(check, rows) for c, check in home.checks.items()})


@dataclass(frozen=True, repr=False)
class Slope:
    """A fitted slope: its mean over seeds, the 99 % interval of the mean, and one value per seed.

    >>> Slope(2.0, 1.9, 2.1, np.array([1.9, 2.0, 2.1]), "slope of y in x")
    slope of y in x: 2 [1.9, 2.1] (99 %, 3 seeds)
    """

    mean: float
    low: float
    high: float
    values: np.ndarray
    of: str

    def __repr__(self) -> str:
        interval = f"[{_number(self.low)}, {_number(self.high)}]"
        return f"{self.of}: {_number(self.mean)} {interval} (99 %, {len(self.values)} seeds)"

    def _repr_html_(self) -> str:
        return escape(str(self))


def slope(
    result: Result | Mapping[float, Result],
    x: str,
    y: str,
    log: bool = True,
    between: tuple[float, float] = (-math.inf, math.inf),
) -> Slope:
    """Fit the slope of y against x for every seed, of log y against log x unless log=False.

    For one result, y is a probe, and x is "t" or another probe. For results keyed by a size ({50:
    …, 100: …}), the last value of the probe y is fitted against the key; x is only the name of that
    size. Only points with x in `between` are used.

    >>> def square(rng, x):
    ...     return {"y": x**2}
    >>> import adversarium as av
    >>> runs = {x: av.run(av.Trial(function=square, parameters={"x": x}), range(3)) for x in (1, 2)}
    >>> round(av.slope(runs, "x", "y").mean, 6)
    2.0
    """
    if isinstance(result, Mapping):
        if len(result) < 2:
            raise ValueError(f"a slope over sizes needs at least two results, got {len(result)}.")
        if len({one.seeds for one in result.values()}) > 1:
            raise ValueError(
                "a slope over sizes needs results with the same seeds: it is fitted per seed."
            )
        across = np.array(list(result), dtype=float)
        up = np.stack([_curve(one, y)[1][:, -1] for one in result.values()], axis=1)
        over = np.broadcast_to(across, up.shape)
    else:
        t, up = _curve(result, y)
        other = (t, t[None]) if x == "t" else _curve(result, x)
        if len(other[0]) != len(t) or (other[0] != t).any():
            raise ValueError(f"a slope needs {x} and {y} recorded at the same times; these differ.")
        over = np.broadcast_to(other[1], up.shape)
    fits = []
    for a, b in zip(over, up, strict=True):
        kept = (a >= between[0]) & (a <= between[1])
        if log:
            kept &= (a > 0) & (b > 0)
        if len(set(a[kept])) < 2:
            raise ValueError(
                f"a slope of {y} against {x} needs at least two different values of {x} in "
                f"{between}" + (", with both quantities > 0 (or log=False)." if log else ".")
            )
        pair = (np.log(a[kept]), np.log(b[kept])) if log else (a[kept], b[kept])
        fits.append(np.polyfit(*pair, 1)[0])
    values = np.array(fits)
    name = f"slope of {'log ' * log}{y} in {'log ' * log}{x}"
    return Slope(float(values.mean()), *interval(values), values, name)


def _curve(result: Result, probe: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the times and the values (seed, t) of a quantity, averaged over its other axes."""
    values = result[probe]
    return result.t(probe), values.reshape(*values.shape[:2], -1).mean(-1)


@contextmanager
def _place(store: str | Path | None) -> Iterator[Store]:
    """Open the named store, or a temporary one."""
    with tempfile.TemporaryDirectory() as folder:
        place = Store(store if store is not None else Path(folder) / "run.sqlite")
        yield place
        place.close()


class _Single:
    """The state of one seed: W and f without the leading seed axis."""

    def __init__(self, state: AnyState) -> None:
        self._state = state
        self.t = state.t

    @property
    def W(self) -> Any:
        """Return the weights."""
        from torch.utils._pytree import tree_map

        return tree_map(lambda w: w[0], self._state.W)

    def f(self, x: Tensor) -> Tensor:
        """Return the network's output."""
        return self._state.f(x[None])[0]

    def risk(self) -> float:
        """Return the training objective."""
        return float(self._state.risk()[0])


def run(
    task: Run | Trial,
    seeds: Iterable[int] = range(5),
    store: str | Path | None = None,
    device: str = "cpu",
) -> Result:
    """Run a Run or a Trial. With a store, only its missing seeds and probes are computed.

    >>> import adversarium as av
    >>> clusters = av.data.Clusters(d=20, mu=4.0, beta=0.0)
    >>> training = av.Run(data=clusters, network=av.networks.TwoLayer(m=4), n=10, steps=20,
    ...                   eta=0.1, probes=[av.measure.risk])
    >>> result = av.run(training, seeds=range(3))
    >>> result["risk"].shape == (3, len(training.times))
    True
    """
    if not isinstance(task, (Run, Trial)):
        raise ValueError(
            f"av.run needs an av.Run or an av.Trial, got {type(task).__name__}; to run an "
            "experiment by its id, use av.experiment."
        )
    require_device(device)
    chosen, job = _distinct(seeds), resolve(task)
    name = task.label or "run"
    with _place(store) as place:
        reader = Reader(place, name)
        kept = place.checkpoints if store is not None else ""
        for unit in units(reader.lacking(job, chosen), device, kept):
            outcome = compute(unit, name)
            if outcome.failures:
                raise RuntimeError(f"the run failed: {outcome.failures[job.key]}")
            for block in outcome.blocks:
                place.write(block)
        rows = reader.rows(job, chosen)
    assert rows is not None
    return Result(task, rows, device, kept)
