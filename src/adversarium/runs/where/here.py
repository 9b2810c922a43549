"""Compute units in this process."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Protocol, runtime_checkable

from adversarium.runs.blocks import UnitResult
from adversarium.runs.compute import compute, draw_ahead
from adversarium.runs.jobs import Unit

# (number of units done, index of the reported unit, its steps done, its total steps)
Progress = Callable[[int, int, int, int], None]


@runtime_checkable
class Place(Protocol):
    """A place that computes units and returns their results, which the caller stores."""

    def computed(
        self, units: Sequence[Unit], experiment: str, progress: Progress
    ) -> Iterator[tuple[Unit, UnitResult]]: ...


@dataclass(frozen=True)
class Here:
    """This process, which computes one unit after the other."""

    def computed(
        self, units: Sequence[Unit], experiment: str, progress: Progress
    ) -> Iterator[tuple[Unit, UnitResult]]:
        """Yield every unit with its result, in order."""
        for i, unit in enumerate(units):
            progress(i, i, 0, 1)
            if unit.device != "cpu" and i + 1 < len(units):  # the CPU is idle meanwhile
                Thread(target=draw_ahead, args=(units[i + 1],), daemon=True).start()
            yield unit, compute(unit, experiment, partial(progress, i, i))


HERE = Here()
