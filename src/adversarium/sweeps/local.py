"""Runs from Python: arrays by (seed, t), states with their weights."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.experiments.checks import Rows
from adversarium.experiments.spec import Run, Trial
from adversarium.sweeps.run import engine_of, execute, key_of, states
from adversarium.sweeps.store import Store


@dataclass(frozen=True)
class Result:
    """The rows of a run: result["probe"] is an array (seed, t), or (seed, t, component)."""

    run: Run | Trial
    rows: Rows
    device: str = "cpu"

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, in the order of the first axis."""
        return self.rows.seeds

    @property
    def probes(self) -> tuple[str, ...]:
        """The recorded names."""
        return tuple(self.rows.values)

    @property
    def refused(self) -> dict[str, str]:
        """The engines that did not run it, and why."""
        return engine_of(self.run)[2]

    def t(self, probe: str) -> np.ndarray:
        """The record times of a probe."""
        return self.rows.curve(probe if probe in self.rows.values else f"{probe}[0]")[0]

    def __getitem__(self, probe: str) -> np.ndarray:
        if probe in self.rows.values:
            return self.rows.curve(probe)[1]
        parts = [n for n in self.rows.values if n.startswith(f"{probe}[")]
        if not parts:
            raise KeyError(f"no probe {probe!r}; there are {', '.join(self.probes)}.")
        ordered = sorted(parts, key=lambda n: int(n[len(probe) + 1 : -1]))
        return np.stack([self.rows.curve(n)[1] for n in ordered], axis=-1)

    def state(self, seed: int, t: int) -> Any:
        """The state of one seed at one time: trained again up to there (runs are deterministic)."""
        if isinstance(self.run, Trial):
            raise TypeError("a Trial trains nothing and has no states.")
        if not 0 <= t <= self.run.steps:
            raise ValueError(f"t lies in 0 … {self.run.steps}, got {t}.")
        _, _, iterator = states(self.run, (seed,), self.device)
        return _Single(next(state for state in iterator if state.t == t))


class _Single:
    """One seed's view of a state: W without the replica axis, f on plain batches."""

    def __init__(self, state: Any) -> None:
        self._state = state
        self.t = state.t

    @property
    def W(self) -> Any:
        """The weights."""
        from torch.utils._pytree import tree_map

        return tree_map(lambda w: w[0], self._state.W)

    def f(self, x: Any) -> Any:
        """The network's output."""
        return self._state.f(x[None])[0]


def run(
    task: Run | Trial,
    seeds: Iterable[int] = range(5),
    store: str | Path | None = None,
    device: str = "cpu",
) -> Result:
    """Runs a Run or a Trial; with a store, only the seeds that it lacks."""
    chosen = tuple(seeds)
    with tempfile.TemporaryDirectory() as folder:
        place = Store(store if store is not None else Path(folder) / "run.sqlite")
        execute(task, task.label or "run", chosen, place, device)
        rows = place.read(key_of(task), chosen)
        place.close()
    assert rows is not None
    return Result(task, rows, device)
