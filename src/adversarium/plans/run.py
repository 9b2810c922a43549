"""Define tasks: a Run trains, a Trial only computes. Both have a family and coordinates.

Importing this module does not import torch.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from adversarium.digest import Json, configuration, digest

if TYPE_CHECKING:
    from adversarium.measure.folds import At
    from adversarium.sockets import AnyAttack, AnyData, AnyFold, AnyLearner, AnyProbe, Measure
    from adversarium.training.objectives import Risk
    from adversarium.training.recipe import Optimiser

# the parts of a run, and the attribute that each must have
PARTS = {
    "data": "sample",
    "network": "init",
    "attack": "__call__",
    "risk": "lam",
    "optimiser": "__dataclass_fields__",
}
_DYNAMICS = ("data", "network", "attack", "n", "steps", "eta", "risk", "optimiser", "dtype")


@dataclass(frozen=True)
class Read:
    """A coordinate read from a field of the task, so a changed task has a changed coordinate.

    >>> from types import SimpleNamespace as Task
    >>> Read("data.d").of(Task(data=Task(d=20)))
    20
    """

    path: str

    def of(self, task: Any) -> Any:
        """Return the field of a run or of one of its parts, or the parameter of a trial; None if
        the part is missing (clean training has no attack)."""
        value = task.parameters if isinstance(task, Trial) else task
        for name in self.path.split("."):
            if value is None:
                return None
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        return value


@dataclass(frozen=True)
class Recording:
    """A probe and the times at which it is recorded; None for a fold, which observes every step."""

    probe: "AnyProbe | AnyFold"
    times: tuple[int, ...] | None

    @property
    def measures(self) -> "tuple[Measure, ...]":
        """Return the measures that the probe records."""
        from adversarium.measure.measuring import measured

        return measured(self.probe)

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the quantities that the probe records."""
        return frozenset(measure.name for measure in self.measures)

    @cached_property
    def id(self) -> str:
        """Return the digest of the probe, under which its rows are stored at all record times."""
        return digest(configuration(self.probe), 16)


class _Placed:
    """The common base of runs and trials: a family, coordinates, and the label made of them."""

    family: str
    at: Mapping[str, Any]

    @property
    def coordinates(self) -> Json:
        """Return the coordinates of the task in its family, by name."""
        try:
            return {k: v.of(self) if isinstance(v, Read) else v for k, v in self.at.items()}
        except AttributeError as lacking:
            places = ", ".join(v.path for v in self.at.values() if isinstance(v, Read))
            raise ValueError(
                f"the coordinates of {self.family or 'the runs'} are read from {places}, but "
                f"{lacking}; use a part that has it."
            ) from lacking

    @property
    def label(self) -> str:
        """Return the family and the coordinates as text."""
        parts = (f"{name} = {_as_text(value)}" for name, value in self.coordinates.items())
        return ", ".join(part for part in (self.family, *parts) if part)


def _as_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, kw_only=True)
class Run(_Placed):
    """A training run for every seed: data, network, attack, training rule, and recordings.

    `family` and `at` identify the run in its plan; coordinates may be read from the run itself
    (`at={"d": Read("data.d")}`). `engine` requests an engine by name. The key under which the rows
    are stored does not depend on the recordings, the family and the coordinates.

    >>> from adversarium.data import Clusters
    >>> from adversarium.networks import TwoLayer
    >>> data, at = Clusters(d=20, mu=4.0), {"d": Read("data.d")}
    >>> run = Run(data=data, network=TwoLayer(m=4), n=10, steps=100, eta=0.1, record=50, at=at)
    >>> run.label, run.times
    ('d = 20', (0, 50, 100))
    """

    data: "AnyData"
    network: "AnyLearner"
    n: int
    steps: int
    eta: float
    attack: "AnyAttack" = None
    risk: "Risk | None" = None  # None: cross-entropy, or square loss for real-valued labels
    optimiser: "Optimiser | None" = None  # None: full-batch gradient descent
    probes: "Sequence[AnyProbe]" = ()  # at every record time
    final: "Sequence[AnyProbe]" = ()  # after the last step only
    folds: "Sequence[AnyFold]" = ()  # at every step
    record: int | tuple[int, ...] | None = None  # a stride, times, or None: log-spaced times
    dtype: str = "float64"
    engine: str | None = None
    checkpoint: int | None = field(default=None, compare=False)  # steps between checkpoints
    family: str = ""
    at: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("probes", "final", "folds"):
            given = getattr(self, name)
            if not isinstance(given, Iterable):
                raise ValueError(f"{name} must be a list such as [av.measure.risk], got {given!r}.")
            object.__setattr__(self, name, tuple(given))
        for name, least in (("n", 1), ("steps", 0), ("checkpoint", 1)):
            size = getattr(self, name)
            if name == "checkpoint" and size is None:
                continue
            if isinstance(size, bool) or not isinstance(size, Integral) or size < least:
                raise ValueError(f"{name} needs a whole number >= {least}, got {size!r}.")
        for name, asked in PARTS.items():
            part, needed = getattr(self, name), name in ("data", "network")
            lacks = not hasattr(part, asked) or isinstance(part, type)
            if lacks and (needed or part is not None):
                way = "; wrap it in av.networks.Module(build=…)" if hasattr(part, "forward") else ""
                message = f"{name} needs a part such as NAME(field=value), got {part!r}"
                raise ValueError(f"{message}{way}.")
            _whole_numbers(part)
        if hasattr(self.attack, "radius") and not hasattr(self.attack, "ball"):
            raise ValueError(
                f"{type(self.attack).__name__} has a radius but no ball, so nothing limits it; "
                "give it a property ball that returns av.attacks.Ball(p, radius)."
            )
        for probe in (*self.probes, *self.final, *self.folds):
            if isinstance(probe, type):
                name = probe.__name__
                raise ValueError(f"a probe must be an object {name}(…), got the class {name}.")
        for probe in (*self.probes, *self.final):
            if not callable(getattr(probe, "probe", probe)):
                raise ValueError(f"a probe must be a function (state, scene), got {probe!r}.")
            _takes_two(getattr(probe, "probe", probe))
        _record_times(self.record)
        known_number = isinstance(self.eta, Real) and not isinstance(self.eta, bool)
        if not known_number or not math.isfinite(self.eta):
            raise ValueError(f"eta needs a finite number, got {self.eta!r}.")
        if self.dtype not in ("float64", "float32"):
            raise ValueError(f"Run needs dtype float64 or float32, got {self.dtype!r}.")
        if getattr(self.optimiser, "autocast", None) and self.dtype != "float32":
            raise ValueError(
                "autocast has no effect on float64; also give the run dtype='float32'."
            )
        known: dict[str, Any] = {}
        for recording in self.recordings:
            for name in recording.names:
                if known.setdefault(name, recording.probe) != recording.probe:
                    raise ValueError(
                        f"two probes record {name}, so one would hide the other; rename or remove "
                        "one of them."
                    )

    @property
    def times(self) -> tuple[int, ...]:
        """Return the record times up to the last step, which is always included."""
        if self.record is None:
            return log_times(self.steps)
        chosen: Iterable[int] = (
            range(0, self.steps, self.record) if isinstance(self.record, int) else self.record
        )
        return tuple(sorted({*(t for t in chosen if 0 <= t <= self.steps), self.steps}))

    @cached_property
    def recordings(self) -> tuple[Recording, ...]:
        """Return all recordings of the run, with their times."""
        return (
            *(_timed(probe, self.times, self.steps) for probe in self.probes),
            *(Recording(probe, (self.steps,)) for probe in self.final),
            *(Recording(fold, None) for fold in self.folds),
        )

    @cached_property
    def dynamics(self) -> Json:
        """Return all that determines the numbers of the run, except the engine, as plain JSON."""
        return {name: configuration(getattr(self, name)) for name in _DYNAMICS}

    @property
    def identity(self) -> list[object]:
        """Return the entire run as plain JSON: dynamics, family, coordinates and recordings."""
        recorded = [[configuration(r.probe), configuration(r.times)] for r in self.recordings]
        return [self.dynamics, self.family, configuration(self.coordinates), recorded]


def _record_times(given: object) -> None:
    """Raise unless `given` is a stride, a sequence of times, or None."""
    times = given if isinstance(given, (tuple, list, range)) else () if given is None else (given,)
    least = 0 if isinstance(given, (tuple, list, range)) else 1
    for t in times:
        if isinstance(t, bool) or not isinstance(t, Integral) or t < least:
            raise ValueError(
                f"record needs a stride >= 1 or times such as (0, 10, 100), got {given!r}."
            )


def _whole_numbers(part: object) -> None:
    """Raise if a field of a part is declared as an integer but its number is not one."""
    for known in fields(part) if is_dataclass(part) else ():
        value = getattr(part, known.name)
        whole = known.type in (int, "int") and isinstance(value, Real)
        if whole and not isinstance(value, Integral):
            message = f"{type(part).__name__}.{known.name} needs a whole number"
            raise ValueError(f"{message}, got {value!r}.")


def _takes_two(probe: object) -> None:
    """Raise if a function cannot be called with a state and a scene."""
    if isinstance(probe, FunctionType):
        try:
            inspect.signature(probe).bind(None, None)
        except TypeError:
            raise ValueError(
                f"a probe needs two arguments, def {probe.__name__}(state, scene), "
                f"got {probe.__name__}{inspect.signature(probe)}."
            ) from None


def _timed(probe: "AnyProbe | AnyFold", times: tuple[int, ...], steps: int) -> Recording:
    """Return the recording of a probe at the times of its wrapper `At`, or else of the run."""
    if not hasattr(probe, "times"):
        return Recording(probe, times)
    timed = cast("At[Any, Any]", probe)
    return Recording(timed.probe, tuple(t for t in timed.times if t <= steps))


@dataclass(frozen=True, kw_only=True)
class Trial(_Placed):
    """A function of a random stream and parameters that returns named numbers and never trains.

    Define `function` at module level: rows are stored under its name, `parameters` and `version`.
    Increase `version` when its numbers change. Set `exact` if it draws no random numbers; it is
    then computed once for all seeds.

    >>> Trial(function=max, family="tails", at={"d": Read("d")}, parameters={"d": 50}).label
    'tails, d = 50'
    """

    function: Callable[..., Mapping[str, Any]]  # sockets.Numbers
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    exact: bool = False
    family: str = ""
    at: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def dynamics(self) -> Json:
        """Return all that determines the numbers of the trial, as plain JSON."""
        names = ("function", "parameters", "version")
        return {name: configuration(getattr(self, name)) for name in names}

    @property
    def identity(self) -> list[object]:
        """Return the entire trial as plain JSON: dynamics, family and coordinates."""
        return [self.dynamics, self.family, configuration(self.coordinates)]


Task = Run | Trial


def log_times(steps: int, count: int = 40) -> tuple[int, ...]:
    """Return 0 and about `count` log-spaced times up to the last step.

    >>> log_times(100, 3)
    (0, 1, 10, 100)
    """
    grid = {round(steps ** (i / (count - 1))) for i in range(count)} if steps > 1 else set()
    return tuple(sorted({0, steps} | grid))


def filtered(run: Run, wanted: Callable[[Recording], bool]) -> Run:
    """Return the run with only those recordings for which `wanted` is true."""
    return replace(
        run,
        probes=[p for p in run.probes if wanted(_timed(p, run.times, run.steps))],
        final=[p for p in run.final if wanted(Recording(p, (run.steps,)))],
        folds=[f for f in run.folds if wanted(Recording(f, None))],
    )


def narrowed(task: Task, names: frozenset[str]) -> Task:
    """Return the run with only those recordings that measure a named quantity; return a trial
    unchanged."""
    return filtered(task, lambda r: bool(r.names & names)) if isinstance(task, Run) else task


def changed(task: Run, path: str, value: Any) -> Run:
    """Return the run with one field replaced; a dotted path names a field of a part."""
    head, _, rest = path.partition(".")
    part = getattr(task, head)
    return replace(task, **{head: replace(part, **{rest: value}) if rest else value})
