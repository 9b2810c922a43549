"""Folds: what must be seen at every step and is stored once."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from adversarium.probes.scene import Scene
from adversarium.training.states import State

Probe = Callable[[State, Scene], Tensor]


def probe_name(probe: Any) -> str:
    """The name under which a probe's rows are stored."""
    return getattr(probe, "name", "") or getattr(probe, "__name__", type(probe).__name__)


@dataclass(frozen=True)
class At:
    """A probe that is recorded at its own times instead of the run's (a costly one)."""

    probe: Probe
    times: tuple[int, ...]

    @property
    def name(self) -> str:
        """The row's name."""
        return probe_name(self.probe)

    def __call__(self, state: State, scene: Scene) -> Tensor:
        return self.probe(state, scene)


@dataclass(frozen=True)
class FirstTime:
    """The first t at which a probe reaches a level; NaN if it never does."""

    probe: Probe
    level: float

    @property
    def name(self) -> str:
        """The row's name."""
        return f"first_time({probe_name(self.probe)} >= {self.level:g})"

    def see(self, memory: Any, state: State, scene: Scene) -> Tensor:
        """The memory after one more state."""
        if memory is not None and memory.device.type == "cpu" and not memory.isnan().any():
            return memory  # every seed is there (asking a GPU would cost more than the probe)
        value = self.probe(state, scene)
        if memory is None:
            memory = torch.full_like(value, math.nan)
        return torch.where(memory.isnan() & (value >= self.level), float(state.t), memory)

    def rows(self, memory: Any) -> dict[str, Tensor]:
        """What is stored."""
        return {self.name: memory}


@dataclass(frozen=True)
class Worst:
    """The largest value of a probe over all steps from `after` on, and the step it fell on."""

    probe: Probe
    after: int = 0

    @property
    def name(self) -> str:
        """The row's name."""
        return f"worst({probe_name(self.probe)})"

    def see(self, memory: Any, state: State, scene: Scene) -> Any:
        """The memory after one more state."""
        if state.t < self.after:
            return memory
        value = self.probe(state, scene)
        if memory is None:
            return value, torch.full_like(value, float(state.t))
        worse = ~(value <= memory[0]) & ~memory[0].isnan()  # NaN is the worst, and stays
        return torch.where(worse, value, memory[0]), torch.where(worse, state.t, memory[1])

    def rows(self, memory: Any) -> dict[str, Tensor]:
        """What is stored."""
        return {self.name: memory[0], f"{self.name}.t": memory[1]}


@dataclass(frozen=True)
class Total:
    """The sum of a probe over all steps."""

    probe: Probe

    @property
    def name(self) -> str:
        """The row's name."""
        return f"total({probe_name(self.probe)})"

    def see(self, memory: Any, state: State, scene: Scene) -> Tensor:
        """The memory after one more state."""
        value = self.probe(state, scene)
        return value if memory is None else memory + value

    def rows(self, memory: Any) -> dict[str, Tensor]:
        """What is stored."""
        return {self.name: memory}
