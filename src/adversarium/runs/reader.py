"""Read the rows of one experiment from the user's store and from the row files that we ship."""

from collections.abc import Sequence

import numpy as np

from adversarium.digest import Json
from adversarium.plans.evidence import Evidence, Rows, Series
from adversarium.runs.blocks import Block
from adversarium.runs.jobs import Job
from adversarium.runs.results import shipped
from adversarium.runs.store import Store

# the seeds in the order of the arrays; the seeds with rows of a probe; series by probe and name
Source = tuple[list[int], dict[str, set[int]], dict[str, dict[str, Series]]]


class Reader:
    """The rows of one experiment; those of the store take precedence over the shipped ones."""

    def __init__(self, store: Store, experiment: str) -> None:
        self.store = store
        self._shipped: dict[str, list[Block]] = {}
        for block in shipped(experiment):
            self._shipped.setdefault(block.key, []).append(block)

    def _recorded(self, key: str) -> dict[tuple[int, str], tuple[int, ...] | None]:
        """Return the record times of a run by seed and probe, in the store or in a shipped file."""
        there = {
            (seed, probe): kept.times
            for block in self._shipped.get(key, ())
            for probe, kept in block.kept.items()
            for seed in block.seeds
        }
        return {**there, **self.store.recorded(key)}

    def lacking(self, job: Job, seeds: Sequence[int]) -> list[tuple[Job, tuple[int, ...]]]:
        """Return the missing work: the job reduced to its missing recordings, and the seeds without
        these; one pair for each set of missing recordings."""
        there, asked = self._recorded(job.key), job.asked
        groups: dict[frozenset[str], list[int]] = {}
        for seed in seeds:
            missing = frozenset(
                probe for probe, times in asked.items() if not _has(there, seed, probe, times)
            )
            if missing:
                groups.setdefault(missing, []).append(seed)
        return [(job.only(ids), tuple(group)) for ids, group in groups.items()]

    def rows(self, job: Job, seeds: Sequence[int]) -> Rows | None:
        """Return the rows of a run; None unless every requested row of every seed exists."""
        return None if self.lacking(job, seeds) else self.partial(job, seeds)

    def partial(self, job: Job, seeds: Sequence[int]) -> Rows | None:
        """Return the rows of the recordings that exist for all seeds; None if there are none."""
        there = self._recorded(job.key)
        whole = {
            probe: times
            for probe, times in job.asked.items()
            if all(_has(there, seed, probe, times) for seed in seeds)
        }
        if not whole and job.asked:
            return None
        sources = self._sources(job.key, seeds)
        series: dict[str, Series] = {}
        for probe, times in whole.items():
            found = _joined(sources, probe, seeds)
            for name in found.keys() & series.keys():
                raise ValueError(
                    f"two probes record {name}, so one would hide the other; rename one of them."
                )
            series |= {name: _at(one, times) for name, one in found.items()}
        return Rows(job.task, tuple(seeds), series)

    def _sources(self, key: str, seeds: Sequence[int]) -> list[Source]:
        """Return the sources of a run's rows: the store, then the shipped files."""
        stored = self.store.recorded(key)
        here = [seed for seed in seeds if any(s == seed for s, _ in stored)]
        sources: list[Source] = []
        if here:
            has = {p: {s for s, q in stored if q == p} for p in {p for _, p in stored}}
            sources.append((here, has, self.store.arrays(key, here)))
        for block in self._shipped.get(key, ()):
            has = {probe: set(block.seeds) for probe in block.kept}
            arrays = {probe: dict(kept.series) for probe, kept in block.kept.items()}
            sources.append((list(block.seeds), has, arrays))
        return sources

    def provenance(self, job: Job, seeds: Sequence[int]) -> Json:
        """Return a run's engine, the reasons against other engines, the seconds and the machine. If
        rows come from the store and from a shipped file, merge these facts of both."""
        stored = self.store.recorded(job.key)
        lost = {s for s in seeds for probe in job.asked if (s, probe) not in stored}
        sources = []
        if any(seed in seeds for seed, _ in stored):
            sources.append(self.store.provenance(job.key, seeds))
        for block in self._shipped.get(job.key, ()):
            if mine := lost & set(block.seeds):
                provenance = {"engine": block.engine, "refused": block.refused, **block.provenance}
                sources.append({**provenance, "seconds": block.seconds * len(mine)})
        nothing = {"engine": job.engine_name, "refused": job.refused, "seconds": 0.0}
        return _origin(sources or [nothing])


_OF_EACH = ("refused", "time")  # only the first provenance gives these fields


def _origin(sources: Sequence[Json]) -> dict[str, object]:
    """Merge several provenances: add their seconds, and list all values of other fields."""
    whole = dict(sources[0])
    for other in sources[1:]:
        for name, value in other.items():
            if name == "seconds":
                whole[name] += value
            elif name not in _OF_EACH and str(value) not in str(whole.get(name, "")):
                whole[name] = f"{whole[name]} and {value}" if name in whole else value
    return whole


def _joined(sources: Sequence[Source], probe: str, seeds: Sequence[int]) -> dict[str, Series]:
    """Return the series of a probe for the seeds, each from the first source that has it."""
    made: dict[str, Series] = {}
    left = set(seeds)
    for order, has, arrays in sources:
        mine = left & has.get(probe, set())
        if not mine:
            continue
        left -= mine
        rows = [order.index(seed) for seed in seeds if seed in mine]
        places = [i for i, seed in enumerate(seeds) if seed in mine]
        for name, one in arrays.get(probe, {}).items():
            if places == list(range(len(seeds))):
                made[name] = Series(one.t, one.values[rows], one.axes)
                continue
            shape = (len(seeds), *one.values.shape[1:])
            whole = made.setdefault(name, Series(one.t, np.full(shape, np.nan), one.axes))
            kept = np.isin(one.t, whole.t)
            at = np.searchsorted(whole.t, one.t[kept])
            for place, row in zip(places, rows, strict=True):
                whole.values[place, at] = one.values[row, kept]
    return made


def _has(
    there: dict[tuple[int, str], tuple[int, ...] | None],
    seed: int,
    probe: str,
    times: tuple[int, ...] | None,
) -> bool:
    """Return whether the recording of a probe for a seed exists at all of the times."""
    if (seed, probe) not in there:
        return False
    had = there[seed, probe]
    return times is None or times == had or set(times) <= set(had or ())


def _at(series: Series, times: tuple[int, ...] | None) -> Series:
    """Return a series at the requested times only."""
    if times is None or tuple(series.t) == times:
        return series
    kept = np.isin(series.t, times)
    return Series(series.t[kept], series.values[:, kept], series.axes)


def evidence(reader: Reader, jobs: Sequence[Job], seeds: Sequence[int]) -> Evidence | None:
    """Return the rows of all jobs; None if some are missing."""
    runs = []
    for job in jobs:
        rows = reader.rows(job, seeds)
        if rows is None:
            return None
        runs.append(rows)
    return Evidence(tuple(runs))
