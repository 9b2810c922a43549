"""An experiment as data: what is run, what is checked, what is drawn. No torch at import."""

import hashlib
import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Run:
    """A training run of every seed: data, network, attack, rule, and what is recorded.

    `label` names the run in checks and figures and is not part of its key; `engine` asks for one
    engine by name.
    """

    data: Any
    network: Any
    n: int
    steps: int
    eta: float
    attack: Any = None
    risk: Any = None  # training.Risk; None: cross-entropy
    optimiser: Any = None  # training.SGD; None: full-batch gradient descent
    probes: Sequence[Any] = ()  # at every record time
    final: Sequence[Any] = ()  # after the last step only
    folds: Sequence[Any] = ()  # at every step
    record: int | tuple[int, ...] | None = None  # a stride, times, or None: log-spaced
    dtype: str = "float64"
    engine: str | None = None
    label: str = ""

    def __post_init__(self) -> None:
        for name in ("probes", "final", "folds"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.dtype not in ("float64", "float32"):
            raise ValueError(f"Run needs dtype float64 or float32, got {self.dtype!r}.")

    @property
    def times(self) -> tuple[int, ...]:
        """The record times up to the last step, which is always one."""
        if self.record is None:
            return log_times(self.steps)
        chosen: Iterable[int] = (
            range(0, self.steps, self.record) if isinstance(self.record, int) else self.record
        )
        return tuple(sorted({*(t for t in chosen if 0 <= t <= self.steps), self.steps}))


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A function of a random stream and parameters that returns named numbers; it trains nothing.

    `function` stands at the top level of a module: its name, `parameters` and `version` are the
    key. Raise `version` when its numbers change.
    """

    function: Callable[..., Mapping[str, float]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    label: str = ""


def log_times(steps: int, count: int = 40) -> tuple[int, ...]:
    """0 and about `count` log-spaced times up to the last step."""
    grid = {round(steps ** (i / (count - 1))) for i in range(count)} if steps > 1 else set()
    return tuple(sorted({0, steps} | grid))


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Probes against t (or a recorded x), mean and band over seeds, one panel per label."""

    name: str
    y: tuple[str, ...]
    of: tuple[str, ...] = ()  # labels of the runs, one panel each; (): the first four
    title: str = ""
    x_label: str = "t"
    y_label: str = ""
    names: Mapping[str, str] = field(default_factory=dict)  # probe → symbol
    log_x: bool = False
    log_y: bool = False
    lines: Mapping[str, float] = field(default_factory=dict)  # vertical marks: text → t
    levels: Mapping[str, float] = field(default_factory=dict)  # horizontal marks: text → value
    moments: Mapping[str, "Moment"] = field(default_factory=dict)  # times that the rows decide
    caption: str = ""


@dataclass(frozen=True)
class Moment:
    """A time of one run that its rows decide, one number a seed; drawn as their mean."""

    where: str  # label of the panel
    of: Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class Course:
    """One seed of one run against t, one panel a group of probes; a probe with components is drawn
    with all of them. Marked times are rows with one number a seed."""

    name: str
    run: str  # label
    panels: Mapping[str, Mapping[str, str]]  # title → probe → symbol
    times: Mapping[str, str] = field(default_factory=dict)  # text → probe or fold
    seed: int = 0
    title: str = ""
    x_label: str = "t"
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """The probes."""
        return tuple(probe for panel in self.panels.values() for probe in panel)

    @property
    def of(self) -> tuple[str, ...]:
        """The label of the run."""
        return (self.run,)


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Final values of probes, one group per label, mean and interval over seeds."""

    name: str
    y: tuple[str, ...]
    of: tuple[str, ...] = ()  # labels of the runs; (): all that recorded them
    title: str = ""
    y_label: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    log_y: bool = False
    levels: Mapping[str, float] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The components of final probes against x, mean and band over seeds, one panel a label."""

    name: str
    y: Mapping[str, tuple[float, ...]]  # probe → the x of its components
    of: tuple[str, ...] = ()  # labels of the runs; (): all that recorded them
    x: str = ""  # rows whose components are the x instead, where a knob can move them
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    complement: bool = False  # draw 1 − value: an error as an accuracy
    between: tuple[str, str] | None = None  # two probes whose means bound a shaded bracket
    steps: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    lines: Mapping[str, float] = field(default_factory=dict)  # vertical marks: text → x
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Final values of probes, one row per label: mean ± half the interval."""

    name: str
    y: tuple[str, ...]
    of: tuple[str, ...] = ()  # labels of the runs; (): all that recorded them
    title: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Switch:
    """What a sweep looks for: a probe's last value above or below a level; and the theorem's
    boundary, `predicted(run)`: positive where it should be above, negative where below."""

    probe: str
    above: float
    name: str = ""
    predicted: Callable[[Any], float] | None = None


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A probe over a plane of two positive parameters, the predicted boundary where a switch
    happens and the fitted one."""

    name: str
    cells: Mapping[str, tuple[float, float]]  # label of a run → (x, y)
    switch: Switch
    # label of a run → a number that changes its sign at the theorem's boundary
    predicted: Mapping[str, float] = field(default_factory=dict)
    line: bool = True  # fit a straight boundary
    point: tuple[str, float, float] | None = None  # a marked place: text, x, y
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """The probe."""
        return (self.switch.probe,)

    @property
    def of(self) -> tuple[str, ...]:
        """The labels of the runs."""
        return tuple(self.cells)


@dataclass(frozen=True, kw_only=True)
class Powers:
    """A number a run against what is swept, on logarithmic axes, one panel a sweep: the fitted
    power with its 99 % interval, and the claimed one."""

    name: str
    probe: str
    number: Callable[[Any], Any]  # of a run's rows, one a seed
    sweeps: Mapping[str, Mapping[str, float]]  # what is swept → label of a run → its value
    claimed: Mapping[str, float]  # what is swept → power
    title: str = ""
    y_label: str = ""
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """The probe."""
        return (self.probe,)

    @property
    def of(self) -> tuple[str, ...]:
        """The labels of the runs."""
        return tuple(label for runs in self.sweeps.values() for label in runs)


Figure = Curves | Course | Bars | Profile | Table | Phase | Powers


@dataclass(frozen=True)
class Experiment:
    """A plan with presets, checks (one line a claim) and figures."""

    id: str
    title: str
    plan: Callable[..., Iterable[Run | Trial]]
    presets: Mapping[str, Mapping[str, Any]]
    checks: Mapping[str, Any]
    figures: tuple[Any, ...] = ()
    switch: Switch | None = None  # what a sweep looks for, where no claim is named

    @property
    def name(self) -> str:
        """The id as the stem of file names (an own file's without its folder)."""
        return Path(self.id).stem if self.id.endswith(".py") else self.id

    def seeds(self, preset: str) -> int:
        """How many seeds the preset asks for."""
        asked = self.presets[preset].get("seeds", 5)
        if not isinstance(asked, int) or asked < 1:
            raise ValueError(f"the preset {preset} of {self.id} needs seeds >= 1, got {asked!r}.")
        return asked

    def knobs(self, preset: str) -> dict[str, Any]:
        """The preset's knobs of the plan."""
        return {k: v for k, v in self.presets[preset].items() if k != "seeds"}

    def runs(self, preset: str, **changes: Any) -> tuple[Run | Trial, ...]:
        """The plan at a preset, with knobs changed."""
        tasks = tuple(self.plan(**{**self.knobs(preset), **changes}))
        labels = [getattr(task, "label", None) for task in tasks]
        if not all(isinstance(task, (Run, Trial)) for task in tasks):
            raise ValueError(f"the plan of {self.id} must yield Run or Trial values.")
        if len(set(labels)) < len(labels):
            raise ValueError(f"two runs of {self.id} share a label; name them: label=….")
        return tasks


def configuration(value: Any) -> Any:
    """A value as plain JSON: dataclasses by name and fields, functions by their full name.

    What is not the laboratory's own carries a digest of its source file: edited code is another
    run.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(k): configuration(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [configuration(v) for v in value]
    if isinstance(value, (FunctionType, type)):
        return _name(value)
    if is_dataclass(value):
        named = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        named.pop("label", None)
    else:
        named = dict(vars(value)) if hasattr(value, "__dict__") else {"value": repr(value)}
    return {"is": _name(type(value)), **{k: configuration(v) for k, v in named.items()}}


def _name(thing: Any) -> str:
    """The name of a function or class: short if it is ours, else with its file's digest."""
    if thing.__module__.startswith("adversarium."):
        whole = isinstance(thing, FunctionType)
        return f"{thing.__module__}.{thing.__qualname__}" if whole else thing.__qualname__
    if "<lambda>" in thing.__qualname__:
        raise ValueError("a lambda has no name to store rows under; write it as a function.")
    try:
        source = Path(inspect.getsourcefile(thing) or "").read_bytes()
    except (OSError, TypeError):
        source = repr(thing).encode()
    return f"{thing.__qualname__}@{hashlib.sha256(source).hexdigest()[:12]}"


def key(task: Run | Trial, engine: str, version: int) -> str:
    """The digest of a configuration and its engine's version; seeds are not in it."""
    whole = {"task": configuration(task), "engine": engine, "version": version}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def changed(task: Run, path: str, value: Any) -> Run:
    """The run with one field replaced; a dotted path reaches into a part."""
    head, _, rest = path.partition(".")
    part = getattr(task, head)
    return replace(task, **{head: replace(part, **{rest: value}) if rest else value})
