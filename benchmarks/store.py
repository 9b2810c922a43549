"""Arrays in the store against a row a number, as format 1 had it: write, read all, judge one check.

`python benchmarks/store.py [NUMBERS]`: so many numbers as arrays (10⁷ unless told otherwise), in
runs of ten seeds, ten probes and 200 times. A row a number is so slow that it gets a fortieth of
them, and its seconds of writing and reading are scaled up; a check reads one run, unscaled.
"""

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from adversarium.data import Clusters
from adversarium.measure.errors import Error
from adversarium.networks import TwoLayer
from adversarium.plans import Evidence, Level, Rows, Run, last, where
from adversarium.plans.evidence import Series
from adversarium.plans.intervals import interval
from adversarium.runs.audit import judged
from adversarium.runs.blocks import Block, StoredSeries
from adversarium.runs.jobs import Job, probe_id, resolve
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store

SEEDS, TIMES = tuple(range(10)), 200
PROBES = tuple(Error(n=i + 1, name=f"e{i}") for i in range(10))
RUN = len(SEEDS) * len(PROBES) * TIMES  # numbers of a run
SCALE = 40  # how many times fewer numbers the row a number gets
CHECK = Level(last("e3", where("run", i=1)), 0, 1)
T = TypeVar("T")
Seconds = tuple[float, float, float]  # to write all, to read all, to judge one check


def timed(what: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and what was made."""
    began = time.perf_counter()
    made = what()
    return time.perf_counter() - began, made


def jobs(count: int) -> list[Job]:
    """Runs that record ten numbers at 200 times."""
    parts = dict(data=Clusters(d=4, mu=1.0), network=TwoLayer(m=2), n=4)
    made = (
        Run(
            **parts,
            family="run",
            at={"i": i},
            steps=TIMES - 1,
            eta=0.1 * (i + 1),
            record=1,
            probes=PROBES,
        )
        for i in range(count)
    )
    return [resolve(run) for run in made]


def curves() -> dict[str, np.ndarray]:
    """Values (seed, t) of every number of one run."""
    rng = np.random.default_rng(0)
    return {probe.name: rng.random((len(SEEDS), TIMES)) for probe in PROBES}


def arrays(folder: Path, count: int) -> Seconds:
    """Today's store."""
    planned, values, t = jobs(count), curves(), np.arange(TIMES)
    kept = {
        probe_id(p): StoredSeries(tuple(range(TIMES)), {p.name: Series(t, values[p.name])})
        for p in PROBES
    }
    store = Store(folder / "arrays.sqlite")

    def write() -> None:
        for job in planned:
            store.write(Block(job.key, "bench", {}, "gram", {}, SEEDS, 0.0, {}, kept))

    def rows(job: Job) -> Rows:
        made = Reader(store, "bench").rows(job, SEEDS)
        assert made is not None
        return made

    written, _ = timed(write)
    read, whole = timed(lambda: [rows(job) for job in planned])
    assert (whole[0]["e3"].values == values["e3"]).all()
    spent, verdict = timed(lambda: judged(CHECK, Evidence((rows(planned[1]),))))
    assert verdict.verdict == "holds", verdict
    store.close()
    return written, read, spent


def a_row_a_number(folder: Path, count: int) -> Seconds:
    """A table with a row for every number."""
    tasks, values = [job.task for job in jobs(count)], curves()
    db = sqlite3.connect(folder / "rows.sqlite")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(
        "CREATE TABLE rows (run INTEGER NOT NULL, seed INTEGER NOT NULL, probe TEXT NOT NULL, "
        "t INTEGER NOT NULL, value REAL, PRIMARY KEY (run, seed, probe, t)) WITHOUT ROWID"
    )

    def write() -> None:
        for run in range(count):
            with db:
                for i, seed in enumerate(SEEDS):
                    lines = [
                        (run, seed, name, t, float(v))
                        for name, curve in values.items()
                        for t, v in enumerate(curve[i])
                    ]
                    db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", lines)

    def rows(run: int) -> Rows:
        table: dict[str, dict[int, dict[int, float]]] = {}
        query = "SELECT probe, t, value FROM rows WHERE run = ? AND seed = ? ORDER BY t"
        for seed in SEEDS:
            for name, t, value in db.execute(query, (run, seed)):
                table.setdefault(name, {}).setdefault(t, {})[seed] = value
        series = {}
        for name, by_t in table.items():
            grid = np.array([[by_seed[s] for by_seed in by_t.values()] for s in SEEDS])
            series[name] = Series(np.array(list(by_t)), grid)
        return Rows(tasks[run], SEEDS, series)

    written, _ = timed(write)
    read, whole = timed(lambda: [rows(run) for run in range(count)])
    assert (whole[0]["e3"].values == values["e3"]).all()
    spent, verdict = timed(lambda: judged(CHECK, Evidence((rows(1),))))
    assert verdict.verdict == "holds", verdict
    db.close()
    return written, read, spent


def main() -> None:
    """Prints a line for writing, reading, judging and the size."""
    count = max(2, int(float(sys.argv[1]) if len(sys.argv) > 1 else 1e7) // RUN)
    few = max(2, count // SCALE)
    interval(np.arange(5.0))  # scipy is there before anything is timed
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = arrays(Path(folder), count), a_row_a_number(Path(folder), few)
        sizes = [(Path(folder) / f"{n}.sqlite").stat().st_size for n in ("arrays", "rows")]
    scale = count / few
    print(f"{count * RUN:,} numbers as arrays; {few * RUN:,} as rows, scaled by {scale:g}")
    for what, fast, slow, factor in zip(
        ("write", "read", "judge one check"), ours, plain, (scale, scale, 1.0), strict=True
    ):
        ratio = slow * factor / fast
        times = f"a row a number {slow * factor:.3g} s, arrays {fast:.3g} s"
        print(f"{what}: {times}; {ratio:.1f} × faster")
    mebi = [sizes[1] * scale / 2**20, sizes[0] / 2**20]
    print(
        f"on disk: {mebi[0]:.0f} and {mebi[1]:.0f} MiB; {mebi[0] / mebi[1]:.1f} × smaller",
        flush=True,
    )


if __name__ == "__main__":
    main()
