"""Store rows in one sqlite file (in WAL mode), with one array per (run, seed, probe, name).

A finished block of seeds is written in one transaction, so a killed process loses at most the block
that it was computing. If a file is not a store, an error is raised and the file is not changed.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from adversarium.digest import Json
from adversarium.plans.evidence import Series
from adversarium.plans.papers import claims
from adversarium.plans.wording import counted
from adversarium.runs.blocks import Block, StoredSeries
from adversarium.runs.ledger import Entry, Facts, entry, read
from adversarium.runs.soundness import APPLICATION_ID, StoreError, StoreFull, check_file, is_full

FORMAT = 2

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, experiment TEXT NOT NULL,
  config TEXT NOT NULL, engine TEXT NOT NULL, refused TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS spent (
  run INTEGER NOT NULL, seed INTEGER NOT NULL, seconds REAL NOT NULL, provenance TEXT NOT NULL,
  PRIMARY KEY (run, seed)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS times (id INTEGER PRIMARY KEY, t BLOB UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS done (
  run INTEGER NOT NULL, seed INTEGER NOT NULL, probe TEXT NOT NULL, times INTEGER,
  PRIMARY KEY (run, seed, probe)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS arrays (
  run INTEGER NOT NULL, seed INTEGER NOT NULL, probe TEXT NOT NULL, name TEXT NOT NULL,
  t INTEGER NOT NULL, axes TEXT NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (run, seed, probe, name));
CREATE TABLE IF NOT EXISTS failures (
  key TEXT NOT NULL, experiment TEXT NOT NULL, config TEXT NOT NULL, seeds TEXT NOT NULL,
  reason TEXT NOT NULL, time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS verdicts (
  claim TEXT PRIMARY KEY, entry TEXT NOT NULL, time REAL NOT NULL);
"""


class Store:
    """An open store. `readonly` never creates or changes the file."""

    def __init__(self, path: str | Path, readonly: bool = False) -> None:
        self.path = Path(path)
        check_file(self.path)
        empty = not self.path.exists() or self.path.stat().st_size == 0
        if readonly and empty:
            self._db = sqlite3.connect(":memory:")
            self._db.executescript(_SCHEMA)
            return
        self._db = self._view() if readonly else self._connect()
        with self._reported():
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version > FORMAT:
                raise StoreError(
                    f"{self.path} was written by a newer adversarium (format {version}); update "
                    "adversarium, or choose a new file (--store FILE)."
                )
            if version < FORMAT:
                raise StoreError(
                    f"{self.path} was written by an older adversarium (format {version}); choose "
                    "a new file (--store FILE)."
                )

    def _view(self) -> sqlite3.Connection:
        """Return a read-only connection. It also works if the folder cannot be written to."""
        place = quote(str(self.path.absolute()))
        with self._reported():
            try:
                db = sqlite3.connect(f"file:{place}?mode=ro", uri=True, timeout=30)
                db.execute("SELECT COUNT(*) FROM runs")
            except sqlite3.OperationalError:
                db = sqlite3.connect(f"file:{place}?immutable=1", uri=True)
            return db

    def _connect(self) -> sqlite3.Connection:
        with self._reported():
            try:
                db = sqlite3.connect(self.path, timeout=30)
                _create(db)
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
            except sqlite3.OperationalError as fault:
                if is_full(fault):
                    raise
                raise StoreError(
                    f"the store {self.path} cannot be opened for writing ({fault}); choose "
                    "another file (--store FILE)."
                ) from fault
            return db

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as fault:
            if is_full(fault):
                raise StoreFull(
                    f"the disk of {self.path} is full, or the file cannot grow ({fault}); "
                    f"{self._kept()}. Free some space and repeat the command to continue."
                ) from fault
            raise StoreError(
                f"the store {self.path} cannot be read or written ({fault}); nothing was changed. "
                "Restore it from a copy, or choose a new file (--store FILE)."
            ) from fault

    def _kept(self) -> str:
        """Return a text that says how many runs are stored."""
        try:
            count = self._db.execute("SELECT COUNT(DISTINCT run) FROM spent").fetchone()[0]
        except (sqlite3.Error, AttributeError):
            return "all finished runs are stored"
        return f"{counted(count, 'run')} {'are' if count != 1 else 'is'} stored"

    @property
    def checkpoints(self) -> str:
        """Return the folder next to the store for checkpoints of runs that request them."""
        return f"{self.path.absolute()}.checkpoints"

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def write(self, block: Block) -> None:
        """Add a finished block, either completely or not at all."""
        with self._reported(), self._db:
            self._add(block)

    def _add(self, block: Block) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO runs (key, experiment, config, engine, refused) "
            "VALUES (?, ?, ?, ?, ?)",
            (
                block.key,
                block.experiment,
                json.dumps(block.config, ensure_ascii=False, sort_keys=True),
                block.engine,
                json.dumps(block.refused),
            ),
        )
        self._db.execute("DELETE FROM failures WHERE key = ?", (block.key,))
        run = self._run(block.key)
        for i, seed in enumerate(block.seeds):
            had = self._db.execute("SELECT probe FROM done WHERE run = ? AND seed = ?", (run, seed))
            if {probe for (probe,) in had} <= set(block.kept):  # no older rows remain
                self._db.execute("DELETE FROM spent WHERE run = ? AND seed = ?", (run, seed))
            origin = json.dumps(self._origin(run, seed, block.provenance))
            self._db.execute(
                "INSERT INTO spent VALUES (?, ?, ?, ?) ON CONFLICT (run, seed) DO UPDATE SET "
                "seconds = seconds + excluded.seconds, provenance = excluded.provenance",
                (run, seed, block.seconds, origin),
            )
            for probe, kept in block.kept.items():
                self._keep(run, seed, i, probe, kept)

    def _origin(self, run: int | None, seed: int, new: Json) -> Json:
        """Return the provenance of a seed's rows: the stored one if there is one, with the entry
        `first` merged with that of the new rows; else the new one."""
        query = "SELECT provenance FROM spent WHERE run = ? AND seed = ?"
        row = self._db.execute(query, (run, seed)).fetchone()
        if row is None:
            return dict(new)
        old, first = json.loads(row[0]), dict(new.get("first", {}))
        for known, numbers in old.get("first", {}).items():
            first[known] = {**numbers, **first.get(known, {})}
        return {**old, **({"first": first} if first else {})}

    def _keep(self, run: int | None, seed: int, i: int, probe: str, kept: StoredSeries) -> None:
        """Store what a probe recorded for seed number i of a block. Rows at other times remain."""
        before = self._db.execute(
            "SELECT times.t FROM done LEFT JOIN times ON times.id = done.times "
            "WHERE run = ? AND seed = ? AND probe = ?",
            (run, seed, probe),
        ).fetchone()
        old: dict[str, Series] = {}
        times = kept.times
        if before is not None and before[0] is not None and times is not None:
            had = tuple(_ints(before[0]).tolist())
            if not set(had) <= set(times):
                old = self._arrays(run, [seed]).get(probe, {})
                times = tuple(sorted({*had, *times}))
        when = None if times is None else self._times(np.array(times))
        self._db.execute(
            "INSERT OR REPLACE INTO done VALUES (?, ?, ?, ?)", (run, seed, probe, when)
        )
        for name, series in kept.series.items():
            t, values = series.t, series.values[i]
            if name in old:
                t, values = _merged(old[name].t, old[name].values[0], t, values)
            axes = json.dumps({k: list(v) for k, v in series.axes.items()}, ensure_ascii=False)
            self._db.execute(
                "INSERT OR REPLACE INTO arrays VALUES (?, ?, ?, ?, ?, ?, ?)",
                (run, seed, probe, name, self._times(t), axes, values.astype(np.float64).tobytes()),
            )

    def _times(self, t: np.ndarray) -> int:
        """Return the row id of an array of record times; equal arrays are stored once."""
        blob = t.astype(np.int64).tobytes()
        self._db.execute("INSERT OR IGNORE INTO times (t) VALUES (?)", (blob,))
        row = self._db.execute("SELECT id FROM times WHERE t = ?", (blob,)).fetchone()
        return int(row[0])

    def _run(self, key: str) -> int | None:
        row = self._db.execute("SELECT id FROM runs WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def recorded(self, key: str) -> dict[tuple[int, str], tuple[int, ...] | None]:
        """Return the record times of a run by (seed, probe); they are None for folds and trials."""
        with self._reported():
            rows = self._db.execute(
                "SELECT seed, probe, times.t FROM done LEFT JOIN times ON times.id = done.times "
                "WHERE run = ?",
                (self._run(key),),
            ).fetchall()
        known = {blob: tuple(_ints(blob).tolist()) for _, _, blob in rows if blob is not None}
        return {(seed, probe): known.get(blob) for seed, probe, blob in rows}

    def runs(self) -> list[tuple[str, str, object]]:
        """Return every run: its key, experiment and configuration."""
        with self._reported():
            rows = self._db.execute("SELECT key, experiment, config FROM runs ORDER BY id")
            return [(key, experiment, json.loads(config)) for key, experiment, config in rows]

    def seeds(self, key: str) -> set[int]:
        """Return the seeds of a run that have stored rows."""
        with self._reported():
            run = self._run(key)
            return {s for (s,) in self._db.execute("SELECT seed FROM spent WHERE run = ?", (run,))}

    def arrays(self, key: str, seeds: Sequence[int]) -> dict[str, dict[str, Series]]:
        """Return the series of a run by probe and name; values are NaN for seeds without rows."""
        with self._reported():
            return self._arrays(self._run(key), seeds)

    def _arrays(self, run: int | None, seeds: Sequence[int]) -> dict[str, dict[str, Series]]:
        place = {seed: i for i, seed in enumerate(seeds)}
        marks = ",".join("?" * len(place))
        rows = self._db.execute(
            "SELECT seed, probe, name, times.t, axes, value FROM arrays "
            "JOIN times ON times.id = arrays.t "
            f"WHERE run = ? AND seed IN ({marks})",
            (run, *place),
        )
        made: dict[str, dict[str, list[tuple[int, bytes, str, bytes]]]] = {}
        for seed, probe, name, t, axes, value in rows:
            made.setdefault(probe, {}).setdefault(name, []).append((place[seed], t, axes, value))
        try:
            return {
                probe: {name: _series(parts, len(place)) for name, parts in by_name.items()}
                for probe, by_name in made.items()
            }
        except ValueError as fault:
            raise StoreError(
                f"the store {self.path} has damaged rows ({fault}); repeat the command with "
                "--fresh to compute them again, or choose a new file (--store FILE)."
            ) from fault

    def provenance(self, key: str, seeds: Sequence[int]) -> Json:
        """Return a run's engine, the reasons against other engines, the seconds that these seeds
        took in all, and the machine."""
        with self._reported():
            run, engine, refused = self._db.execute(
                "SELECT id, engine, refused FROM runs WHERE key = ?", (key,)
            ).fetchone()
            marks = ",".join("?" * len(seeds))
            spent = self._db.execute(
                f"SELECT seconds, provenance FROM spent WHERE run = ? AND seed IN ({marks})",
                (run, *seeds),
            ).fetchall()
        return {
            "engine": engine,
            "refused": json.loads(refused),
            "seconds": sum(seconds for seconds, _ in spent),
            **(json.loads(spent[0][1]) if spent else {}),
        }

    def fail(
        self, key: str, experiment: str, config: object, seeds: Sequence[int], why: str
    ) -> None:
        """Record a run that raised or diverged."""
        with self._reported(), self._db:
            self._db.execute(
                "INSERT INTO failures VALUES (?, ?, ?, ?, ?, ?)",
                (key, experiment, json.dumps(config), json.dumps(list(seeds)), why, time.time()),
            )

    def forget(self, key: str) -> None:
        """Delete the rows of a run."""
        with self._reported(), self._db:
            run = self._run(key)
            for table in ("spent", "done", "arrays"):
                self._db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))

    def failures(self) -> list[dict[str, object]]:
        """Return the runs that failed."""
        with self._reported():
            rows = self._db.execute("SELECT experiment, seeds, reason FROM failures").fetchall()
        return [{"experiment": e, "seeds": json.loads(s), "reason": r} for e, s, r in rows]

    def why(self, key: str) -> str:
        """Return the reason of a run's last failure; empty if it never failed."""
        query = "SELECT reason FROM failures WHERE key = ? ORDER BY rowid DESC LIMIT 1"
        with self._reported():
            row = self._db.execute(query, (key,)).fetchone()
        return row[0] if row else ""

    def keep_verdicts(self, entries: Mapping[str, Mapping[str, object]]) -> None:
        """Store verdicts by key, in place of older ones, for `show` and `report`."""
        with self._reported(), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)",
                [(k, json.dumps(e, ensure_ascii=False), time.time()) for k, e in entries.items()],
            )

    def verdicts(self) -> dict[str, dict[str, object]]:
        """Return the last verdict of every audited claim, by `catalogue.verdict_key`."""
        with self._reported():
            rows = self._db.execute("SELECT claim, entry FROM verdicts").fetchall()
        return {claim: json.loads(entry) for claim, entry in rows}

    def entries(self) -> tuple[Entry, ...]:
        """Return an entry for every claim of the catalogue, with its last verdict in this store if
        it was audited."""
        known, every = self.verdicts(), claims()
        return tuple(
            read(known[id]) if id in known else entry(claim, None, Facts(), every)
            for id, claim in every.items()
        )

    def dump(self) -> Iterator[Block]:
        """Yield all rows as blocks: one per run and group of seeds with the same recordings."""
        with self._reported():
            runs = self._db.execute(
                "SELECT key, experiment, config, engine, refused FROM runs ORDER BY id"
            ).fetchall()
        for key, experiment, config, engine, refused in runs:
            alike: dict[tuple[Any, ...], list[int]] = {}
            recorded = self.recorded(key)
            for seed in sorted({seed for seed, _ in recorded}):
                here = tuple(sorted((p, t) for (s, p), t in recorded.items() if s == seed))
                alike.setdefault(here, []).append(seed)
            for here, seeds in alike.items():
                arrays = self.arrays(key, seeds)
                origin = dict(self.provenance(key, seeds))
                seconds = origin.pop("seconds") / len(seeds)
                origin.pop("engine"), origin.pop("refused")
                kept = {probe: StoredSeries(times, arrays.get(probe, {})) for probe, times in here}
                yield Block(
                    key,
                    experiment,
                    json.loads(config),
                    engine,
                    json.loads(refused),
                    tuple(seeds),
                    seconds,
                    origin,
                    kept,
                )


def _create(db: sqlite3.Connection) -> None:
    """Create the tables and write our id into the header in one transaction, before the log is
    switched on: another process sees either an empty file or a complete store."""
    if db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
        return
    statements = "".join(
        (f"PRAGMA application_id = {APPLICATION_ID};", f"PRAGMA user_version = {FORMAT};")
    )
    db.executescript(f"BEGIN EXCLUSIVE; {statements} {_SCHEMA} COMMIT;")


def _ints(blob: bytes) -> np.ndarray:
    return np.frombuffer(blob, dtype=np.int64)


def _series(parts: Sequence[tuple[int, bytes, str, bytes]], count: int) -> Series:
    """Return the arrays of several seeds as one series; NaN if a seed has no value at a time."""
    axes = {k: tuple(v) for k, v in json.loads(parts[0][2]).items()}
    shape = tuple(len(v) for v in axes.values())
    blobs = {t for _, t, _, _ in parts}
    t = _ints(parts[0][1]) if len(blobs) == 1 else np.unique(np.concatenate([*map(_ints, blobs)]))
    values = np.full((count, len(t), *shape), np.nan)
    for i, times, _, value in parts:
        row = np.frombuffer(value, dtype=np.float64).reshape(-1, *shape)
        values[i, slice(None) if len(blobs) == 1 else np.searchsorted(t, _ints(times))] = row
    return Series(t, values, axes)


def _merged(
    t: np.ndarray, values: np.ndarray, other_t: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Merge two curves of one quantity. At common times, the second takes precedence."""
    whole = np.unique(np.concatenate([t, other_t]))
    merged = np.empty((len(whole), *values.shape[1:]))
    merged[np.searchsorted(whole, t)] = values
    merged[np.searchsorted(whole, other_t)] = other
    return whole, merged
