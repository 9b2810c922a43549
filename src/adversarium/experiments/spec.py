"""An experiment as data: what is run, what is checked, what is drawn. No torch at import."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
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
    probes: tuple[Any, ...] = ()  # at every record time
    final: tuple[Any, ...] = ()  # after the last step only
    folds: tuple[Any, ...] = ()  # at every step
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
    caption: str = ""


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
class Table:
    """Final values of probes, one row per label: mean ± half the interval."""

    name: str
    y: tuple[str, ...]
    of: tuple[str, ...] = ()  # labels of the runs; (): all that recorded them
    title: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True)
class Experiment:
    """A plan with presets, checks (one line a claim) and figures."""

    id: str
    title: str
    plan: Callable[..., Iterable[Run | Trial]]
    presets: Mapping[str, Mapping[str, Any]]
    checks: Mapping[str, Any]
    figures: tuple[Any, ...] = ()

    def seeds(self, preset: str) -> int:
        """How many seeds the preset asks for."""
        return int(self.presets[preset].get("seeds", 5))

    def knobs(self, preset: str) -> dict[str, Any]:
        """The preset's knobs of the plan."""
        return {k: v for k, v in self.presets[preset].items() if k != "seeds"}

    def runs(self, preset: str, **changes: Any) -> tuple[Run | Trial, ...]:
        """The plan at a preset, with knobs changed."""
        return tuple(self.plan(**{**self.knobs(preset), **changes}))


def configuration(value: Any) -> Any:
    """A value as plain JSON: dataclasses by name and fields, functions by their full name."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {f.name: configuration(getattr(value, f.name)) for f in fields(value) if f.init}
        named.pop("label", None)
        return {"is": type(value).__name__, **named}
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, Mapping):
        return {str(k): configuration(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [configuration(v) for v in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value


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
