"""Record the quantities of one run during training, as arrays by probe and name."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from adversarium.digest import Json
from adversarium.measure.measuring import measured
from adversarium.measure.scene import AnyScene
from adversarium.plans.evidence import Series
from adversarium.plans.run import Run
from adversarium.runs.blocks import StoredSeries
from adversarium.runs.faults import RAISED, PartFault, part_fault
from adversarium.runs.jobs import Job
from adversarium.sockets import AnyFold, AnyProbe, AnyState, Measure, Recorded


class Recorder:
    """Record one run: probes at their times, folds at every step."""

    def __init__(self, job: Job, scene: AnyScene) -> None:
        assert isinstance(job.task, Run)
        self.job, self.scene = job, scene
        self.probes: list[tuple[str, AnyProbe, tuple[int, ...]]] = []
        self.folds: list[AnyFold] = []
        self._fold_ids: list[str] = []
        for recording in job.task.recordings:
            id = recording.id
            if recording.times is None:
                self.folds.append(cast(AnyFold, recording.probe))
                self._fold_ids.append(id)
            elif recording.times:
                self.probes.append((id, cast(AnyProbe, recording.probe), recording.times))
        self.times = {t for _, _, times in self.probes for t in times}
        self._rows: dict[str, dict[str, dict[int, Recorded]]] = {}
        self._memories: list[Any] = [None] * len(self.folds)

    @property
    def memory(self) -> dict[str, object]:
        """Return everything recorded so far, for a checkpoint."""
        return {"rows": self._rows, "folds": self._memories}

    @memory.setter
    def memory(self, saved: Json) -> None:
        self._rows, self._memories = dict(saved["rows"]), list(saved["folds"])

    def see(self, state: AnyState) -> dict[str, Recorded]:
        """Pass a state to all folds, and to the probes with this record time. Return the quantities
        that the probes recorded, by name."""
        t, scene = state.t, self.scene
        seen: dict[str, Recorded] = {}
        asked: AnyProbe | AnyFold | None = None
        try:
            for i, asked in enumerate(self.folds):
                self._memories[i] = asked.see(self._memories[i], state, scene)
            for id, asked in [(id, probe) for id, probe, times in self.probes if t in times]:
                rows = rows_of(asked, asked(state, scene), len(scene.problem.seeds))
                by_name = self._rows.setdefault(id, {})
                for name in rows.keys() & self._taken(id, asked):
                    raise ValueError(f"another probe also records {name}; rename one of them")
                for name, row in rows.items():
                    if not bool(torch.isfinite(row.values).all()):
                        raise PartFault(f"the run diverged: {name} is not finite at t = {t}")
                    by_name.setdefault(name, {})[t] = row
                seen |= rows
            if (t in self.times or t == scene.problem.recipe.steps) and not _is_finite(state):
                raise PartFault(f"the run diverged: its weights are not finite at t = {t}")
        except PartFault:
            raise
        except RAISED as fault:
            raise part_fault(f"probe {_name(asked)}", fault) from fault
        return seen

    def _taken(self, id: str, asked: AnyProbe) -> set[str]:
        """Return the names that other probes and folds record."""
        others = [probe for _, probe, _ in self.probes if probe is not asked]
        named = {m.name for other in (*others, *self.folds) for m in measured(other)}
        return named | {n for other, by in self._rows.items() if other != id for n in by}

    def kept(self, count: int) -> dict[str, StoredSeries]:
        """Return all recordings of the first `count` seeds; the others only fill the block."""
        made: dict[str, StoredSeries] = {}
        for id, probe, _ in self.probes:
            series = {
                name: _series(_measure(probe, name), list(by_t), list(by_t.values()), count)
                for name, by_t in self._rows.get(id, {}).items()
            }
            made[id] = StoredSeries(self.job.asked[id], series)
        last = self.scene.problem.recipe.steps
        for id, fold, memory in zip(self._fold_ids, self.folds, self._memories, strict=True):
            series = {}
            rows = {} if memory is None else fold.rows(memory)  # None: the run is too short
            for name, row in rows_of(fold, rows, len(self.scene.problem.seeds)).items():
                whole = row if row.t is not None else Recorded(row.values[:, None], (last,), row.at)
                series[name] = _curve(_measure(fold, name), whole, count)
            made[id] = StoredSeries(None, series)
        return made


def rows_of(probe: AnyProbe | AnyFold, value: object, seeds: int) -> dict[str, Recorded]:
    """Return what a probe or a fold recorded, by name: one number or array per seed."""
    given = value if isinstance(value, Mapping) else {measured(probe)[0].name: value}
    rows: dict[str, Recorded] = {}
    for name, one in given.items():
        row = Recorded(one) if isinstance(one, Tensor) else one
        if not isinstance(row, Recorded):
            raise TypeError(f"{name} must be a tensor, got {type(row).__name__}")
        if row.values.is_complex():
            raise TypeError(f"{name} must be real, got complex numbers")
        if not row.values.ndim or len(row.values) != seeds:
            shape = tuple(row.values.shape)
            raise ValueError(
                f"the first axis of {name} must have length {seeds} (one entry per seed), "
                f"got the shape {shape}"
            )
        rows[name] = row
    return rows


def _is_finite(state: AnyState) -> bool:
    """Return whether all numbers of a state are finite; with NaN weights, errors mean nothing."""
    held = (leaf for leaf in tree_leaves(vars(state)) if isinstance(leaf, Tensor))
    return all(bool(leaf.isfinite().all()) for leaf in held if leaf.is_floating_point())


def _name(probe: object) -> str:
    return measured(probe)[0].name if measured(probe) else type(probe).__name__


def _measure(probe: AnyProbe | AnyFold, name: str) -> Measure:
    known = {measure.name: measure for measure in measured(probe)}
    return known.get(name, Measure(name))


def _series(measure: Measure, t: list[int], rows: list[Recorded], count: int) -> Series:
    """Return rows at several times as one series, (seed, t, *axes)."""
    values = torch.stack([row.values for row in rows], dim=1)
    return _curve(measure, Recorded(values, tuple(t), rows[0].at), count)


def _curve(measure: Measure, row: Recorded, count: int) -> Series:
    """Return recorded values as a series, with the names and coordinates of its axes."""
    values = row.values.detach().double().cpu().numpy()[:count]
    lengths = values.shape[2:]
    names = measure.axes or tuple(f"axis {i + 1}" for i in range(len(lengths)))
    if len(names) != len(lengths):
        raise ValueError(
            f"{measure.name} has {len(lengths)} axes in addition to seed and t, but its probe "
            f"names {names}."
        )
    axes = {
        name: tuple(float(v) for v in row.at.get(name, range(length)))
        for name, length in zip(names, lengths, strict=True)
    }
    return Series(np.array(row.t), values, axes)
