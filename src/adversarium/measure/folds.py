"""Folds: measurements that are accumulated over all steps and stored once."""

import math
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import torch
from torch import Tensor

from adversarium.measure.measuring import Measuring, measured
from adversarium.sockets import AnyState, Measure, Rows, Scene_contra

Seen_contra = TypeVar("Seen_contra", bound=AnyState, contravariant=True)
Extreme = tuple[Tensor, Tensor]  # the largest value so far, and its step


@dataclass(frozen=True)
class At(Generic[Seen_contra, Scene_contra]):
    """A probe recorded at the given times instead of the run's; use it for costly probes.

    >>> from adversarium.measure import Error
    >>> At(Error(on="train"), times=(0, 100)).measures[0].name
    'train_error'
    """

    probe: Measuring[Seen_contra, Scene_contra]
    times: tuple[int, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The descriptions of what the probe measures."""
        return measured(self.probe)

    def __call__(self, state: Seen_contra, scene: Scene_contra) -> Tensor | Rows:
        return self.probe(state, scene)


@dataclass(frozen=True)
class FirstTime(Generic[Seen_contra, Scene_contra]):
    """The first t at which a probe reaches a level; NaN if it never does.

    >>> from adversarium.measure import train_error
    >>> FirstTime(train_error, 0.5).measures[0].name
    'first_time(train_error >= 0.5)'
    """

    probe: Measuring[Seen_contra, Scene_contra]
    level: float

    def __post_init__(self) -> None:
        _one(self.probe)

    @property
    def name(self) -> str:
        """The name of the recorded time."""
        return f"first_time({_one(self.probe).name} >= {self.level:g})"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The description of the time."""
        one = _one(self.probe)
        symbol = f"first $t$ with {one.symbol} ≥ {self.level:g}"
        words = f"The first step at which the value is at least {self.level:g}: {one.sentence}"
        return (replace(one, name=self.name, symbol=symbol, sentence=words, points=0),)

    def see(self, memory: Tensor | None, state: Seen_contra, scene: Scene_contra) -> Tensor:
        """Return the first times after one more state."""
        if memory is not None and memory.device.type == "cpu" and not memory.isnan().any():
            return memory  # all seeds are done; on a GPU the test costs more than the probe
        value = _number(self.probe, state, scene)
        if memory is None:
            memory = torch.full_like(value, math.nan)
        return torch.where(memory.isnan() & (value >= self.level), float(state.t), memory)

    def rows(self, memory: Tensor) -> Rows:
        """Return the first time, or NaN if the level was never reached."""
        return {self.name: memory}


@dataclass(frozen=True)
class Worst(Generic[Seen_contra, Scene_contra]):
    """The largest value of a probe over all steps from `after` on, and its step.

    Gradient descent decreases the training loss, so the loss is largest at t = 0:

    >>> from adversarium.data import PatchData
    >>> from adversarium.networks import CubicCNN
    >>> from adversarium.measure import Scene, risk
    >>> from adversarium.training import ENGINES, Recipe, Problem, train
    >>> data, network = PatchData(d=4, P=2, alpha=1.0, sigma=0.1), CubicCNN(m=2, sigma0=0.5)
    >>> problem = Problem(data, network, None, Recipe(n=3, steps=5, eta=0.1), (0, 1))
    >>> fold, memory, engine = Worst(risk), None, ENGINES["full"]
    >>> for joined in train(engine, (problem,)):
    ...     memory = fold.see(memory, engine.split(joined)[0], Scene(problem))
    >>> rows = fold.rows(memory)
    >>> list(rows), rows["step of worst(risk)"].tolist()
    (['worst(risk)', 'step of worst(risk)'], [0.0, 0.0])
    """

    probe: Measuring[Seen_contra, Scene_contra]
    after: int = 0

    def __post_init__(self) -> None:
        _one(self.probe)

    @property
    def name(self) -> str:
        """The name of the largest value."""
        return f"worst({_one(self.probe).name})"

    @property
    def step_name(self) -> str:
        """The name of the step of the largest value."""
        return f"step of {self.name}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The descriptions of the value and of its step."""
        one = _one(self.probe)
        since = f" from t = {self.after} on" if self.after else ""
        value = f"The largest value over all steps{since}: {one.sentence}"
        step = f"The step of the largest value{since}: {one.sentence}"
        symbol = f"$t$ of the largest {one.symbol}"
        return (
            replace(one, name=self.name, symbol=f"largest {one.symbol}", sentence=value),
            replace(one, name=self.step_name, symbol=symbol, sentence=step, points=0),
        )

    def see(
        self, memory: Extreme | None, state: Seen_contra, scene: Scene_contra
    ) -> Extreme | None:
        """Return the largest value and its step after one more state; None before `after`."""
        if state.t < self.after:
            return memory
        value = _number(self.probe, state, scene)
        if memory is None:
            return value, torch.full_like(value, float(state.t))
        worse = ~(value <= memory[0]) & ~memory[0].isnan()  # NaN is the worst value and stays
        return torch.where(worse, value, memory[0]), torch.where(worse, state.t, memory[1])

    def rows(self, memory: Extreme | None) -> Rows:
        """Return the rows to store; they are empty if the run ends before `after`."""
        return {} if memory is None else {self.name: memory[0], self.step_name: memory[1]}


@dataclass(frozen=True)
class Total(Generic[Seen_contra, Scene_contra]):
    """The sum of a probe over all steps.

    >>> from adversarium.measure import risk
    >>> Total(risk).measures[0].name
    'total(risk)'
    """

    probe: Measuring[Seen_contra, Scene_contra]

    def __post_init__(self) -> None:
        _one(self.probe)

    @property
    def name(self) -> str:
        """The name of the recorded sum."""
        return f"total({_one(self.probe).name})"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The description of the sum."""
        one = _one(self.probe)
        words = f"The sum over all steps: {one.sentence}"
        symbol = rf"$\sum_t$ {one.symbol}"
        total = replace(one, name=self.name, symbol=symbol, sentence=words)
        return (replace(total, points=0, share=False),)

    def see(self, memory: Tensor | None, state: Seen_contra, scene: Scene_contra) -> Tensor:
        """Return the sum after one more state."""
        value = _number(self.probe, state, scene)
        return value if memory is None else memory + value

    def rows(self, memory: Tensor) -> Rows:
        """Return the sum over all steps."""
        return {self.name: memory}


def _one(probe: Measuring[Seen_contra, Scene_contra]) -> Measure:
    """Return the measure of a probe; raise if the probe has more than one."""
    known = measured(probe)
    if len(known) != 1:
        names = ", ".join(measure.name for measure in known)
        raise ValueError(f"this fold needs a probe that returns one number, got {names}.")
    return known[0]


def _number(
    probe: Measuring[Seen_contra, Scene_contra], state: Seen_contra, scene: Scene_contra
) -> Tensor:
    """Return the value of the probe, one number per replica."""
    value = probe(state, scene)
    if not isinstance(value, Tensor):
        raise TypeError(f"this fold needs a probe that returns one number, got {', '.join(value)}.")
    return value
