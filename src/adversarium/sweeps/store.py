"""The store: one sqlite file (WAL). A row is (run, seed, t, probe, value).

A finished block of seeds is written in one transaction, so a killed process loses at most the
block in flight. A file that is not a store is refused and never written to.
"""

import gzip
import io
import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from adversarium.experiments.evidence import Rows

APPLICATION_ID = 0x41445653  # "ADVS", in the file's header
FORMAT = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, experiment TEXT NOT NULL,
  config TEXT NOT NULL, engine TEXT NOT NULL, refused TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS done (
  run INTEGER NOT NULL, seed INTEGER NOT NULL, seconds REAL NOT NULL, provenance TEXT NOT NULL,
  PRIMARY KEY (run, seed)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rows (
  run INTEGER NOT NULL, seed INTEGER NOT NULL, probe TEXT NOT NULL, t INTEGER NOT NULL,
  value REAL, PRIMARY KEY (run, seed, probe, t)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
  key TEXT NOT NULL, experiment TEXT NOT NULL, config TEXT NOT NULL, seeds TEXT NOT NULL,
  reason TEXT NOT NULL, time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS verdicts (
  claim TEXT PRIMARY KEY, entry TEXT NOT NULL, time REAL NOT NULL);
"""


class StoreError(ValueError):
    """The file cannot serve as a store; the message says why and the way out."""


@dataclass(frozen=True)
class Block:
    """What one finished block of seeds leaves behind."""

    key: str
    experiment: str
    config: Mapping[str, Any]
    engine: str
    refused: Mapping[str, str]
    seeds: tuple[int, ...]
    seconds: float  # per seed
    provenance: Mapping[str, Any]
    rows: Mapping[str, tuple[np.ndarray, np.ndarray]]  # probe → times, values (seed, t)


def check_file(path: Path) -> None:
    """Refuses what is not a whole store of ours, without opening it for writing."""
    if path.is_dir():
        raise StoreError(f"the store {path} is a directory; name a file (--store FILE).")
    if not path.exists():
        folder = path.absolute().parent
        if not folder.is_dir():
            raise StoreError(f"the store's directory {folder} does not exist; make it first.")
        return
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        header = file.read(100)
    if header[:16] != b"SQLite format 3\0" or len(header) < 100:
        raise StoreError(f"{path} is not a store (no sqlite file); it was left untouched.")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program; it was left untouched.")
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        return  # sqlite finishes what a killed process left in its log
    if path.stat().st_size < (65536 if page == 1 else page) * pages:
        raise StoreError(
            f"{path} is cut short ({path.stat().st_size} bytes of {page * pages}); it was left "
            "untouched. Restore it from a copy, or name a new file (--store FILE)."
        )


class Store:
    """An open store. `readonly` never creates or changes the file."""

    def __init__(self, path: str | Path, readonly: bool = False) -> None:
        self.path = Path(path)
        check_file(self.path)
        empty = not self.path.exists() or self.path.stat().st_size == 0
        if readonly and empty:
            self._db = sqlite3.connect(":memory:")
            self._db.executescript(_SCHEMA)
        else:
            self._db = self._view() if readonly else self._connect()
        with self._reported():
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise StoreError(
                f"{self.path} was written by a newer adversarium (format {version}); update, or "
                "name a new file (--store FILE)."
            )

    def _view(self) -> sqlite3.Connection:
        """A connection that writes nothing, also where nothing can be written."""
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
                raise StoreError(
                    f"the store {self.path} cannot be opened for writing ({fault}); name another "
                    "place (--store FILE)."
                ) from fault
            return db

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as fault:
            raise StoreError(
                f"the store {self.path} cannot be read or written ({fault}); nothing was changed. "
                "Restore it from a copy, or name a new file (--store FILE)."
            ) from fault

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def write(self, block: Block) -> None:
        """Adds a finished block: all of it, or nothing."""
        with self._reported(), self._db:
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
                self._db.execute(
                    "INSERT OR REPLACE INTO done VALUES (?, ?, ?, ?)",
                    (run, seed, block.seconds, json.dumps(block.provenance)),
                )
                self._db.execute("DELETE FROM rows WHERE run = ? AND seed = ?", (run, seed))
                self._db.executemany(
                    "INSERT INTO rows VALUES (?, ?, ?, ?, ?)",
                    [
                        (run, seed, probe, int(t), float(value))
                        for probe, (times, values) in block.rows.items()
                        for t, value in zip(times, values[i], strict=True)
                    ],
                )

    def _run(self, key: str) -> int | None:
        found = self._db.execute("SELECT id FROM runs WHERE key = ?", (key,)).fetchone()
        return found[0] if found else None

    def seeds(self, key: str) -> set[int]:
        """The finished seeds of a run."""
        with self._reported():
            run = self._run(key)
            return {s for (s,) in self._db.execute("SELECT seed FROM done WHERE run = ?", (run,))}

    def read(self, key: str, seeds: Sequence[int]) -> Rows | None:
        """The rows of a run, if every seed is there."""
        if not set(seeds) <= self.seeds(key):
            return None
        with self._reported():
            run = self._run(key)
            table: dict[str, dict[int, dict[int, float]]] = {}
            for seed in seeds:
                for probe, t, value in self._db.execute(
                    "SELECT probe, t, value FROM rows WHERE run = ? AND seed = ? ORDER BY t",
                    (run, seed),
                ):
                    number = float("nan") if value is None else value
                    table.setdefault(probe, {}).setdefault(t, {})[seed] = number
        return Rows(tuple(seeds), {p: _grid(by_t, seeds) for p, by_t in table.items()})

    def provenance(self, key: str, seeds: Sequence[int]) -> dict[str, Any]:
        """Engine, refusals, seconds per seed and machine of a run."""
        with self._reported():
            run, engine, refused = self._db.execute(
                "SELECT id, engine, refused FROM runs WHERE key = ?", (key,)
            ).fetchone()
            marks = ",".join("?" * len(seeds))
            done = self._db.execute(
                f"SELECT seconds, provenance FROM done WHERE run = ? AND seed IN ({marks})",
                (run, *seeds),
            ).fetchall()
        return {
            "engine": engine,
            "refused": json.loads(refused),
            "seconds": sum(seconds for seconds, _ in done),
            **(json.loads(done[0][1]) if done else {}),
        }

    def fail(self, key: str, experiment: str, config: Any, seeds: Sequence[int], why: str) -> None:
        """Records a run that raised or diverged."""
        with self._reported(), self._db:
            self._db.execute(
                "INSERT INTO failures VALUES (?, ?, ?, ?, ?, ?)",
                (key, experiment, json.dumps(config), json.dumps(list(seeds)), why, time.time()),
            )

    def failures(self) -> list[dict[str, Any]]:
        """The runs that failed."""
        with self._reported():
            found = self._db.execute("SELECT experiment, seeds, reason FROM failures").fetchall()
        return [{"experiment": e, "seeds": json.loads(s), "reason": r} for e, s, r in found]

    def why(self, key: str) -> str:
        """Why a run failed last; nothing if it never did."""
        query = "SELECT reason FROM failures WHERE key = ? ORDER BY rowid DESC LIMIT 1"
        with self._reported():
            found = self._db.execute(query, (key,)).fetchone()
        return found[0] if found else ""

    def keep_verdicts(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Remembers the last verdicts, for `show` and `report`."""
        with self._reported(), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)",
                [(e["id"], json.dumps(e, ensure_ascii=False), time.time()) for e in entries],
            )

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """The last verdict of every claim that was audited here."""
        with self._reported():
            found = self._db.execute("SELECT claim, entry FROM verdicts").fetchall()
        return {claim: json.loads(entry) for claim, entry in found}

    def dump(self) -> Iterator[Block]:
        """Every run with its finished seeds, as blocks."""
        with self._reported():
            runs = self._db.execute(
                "SELECT key, experiment, config, engine, refused FROM runs ORDER BY id"
            ).fetchall()
        for key, experiment, config, engine, refused in runs:
            seeds = tuple(sorted(self.seeds(key)))
            rows = self.read(key, seeds)
            if rows is None or not seeds:
                continue
            p = self.provenance(key, seeds)
            seconds = p.pop("seconds") / len(seeds)
            p.pop("engine"), p.pop("refused")
            yield Block(
                key,
                experiment,
                json.loads(config),
                engine,
                json.loads(refused),
                seeds,
                seconds,
                p,
                rows.values,
            )


def _create(db: sqlite3.Connection) -> None:
    """Makes the tables and signs the header in one transaction, before the log is switched on:
    another process sees either nothing or a whole store."""
    if db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
        return
    statements = "".join(
        (f"PRAGMA application_id = {APPLICATION_ID};", f"PRAGMA user_version = {FORMAT};")
    )
    db.executescript(f"BEGIN EXCLUSIVE; {statements} {_SCHEMA} COMMIT;")


def _grid(
    by_t: Mapping[int, Mapping[int, float]], seeds: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    times = np.array(sorted(by_t))
    values = [[by_t[int(t)].get(seed, np.nan) for t in times] for seed in seeds]
    return times, np.array(values, dtype=float)


def write_rows(path: Path, blocks: Iterator[Block]) -> None:
    """A read-only row file (gzipped JSON lines, nine digits), as `results/` ships them."""
    with gzip.GzipFile(path, "wb", mtime=0) as raw, io.TextIOWrapper(raw, "utf-8") as file:
        for b in blocks:
            rows = {p: [t.tolist(), _nine(v)] for p, (t, v) in b.rows.items()}
            line = {**vars(b), "rows": rows, "seeds": list(b.seeds)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _nine(values: np.ndarray) -> list[list[float]]:
    return [[float(f"{v:.9g}") for v in row] for row in values]


def shipped(experiment: str) -> list[Block]:
    """The row file that the package ships for an experiment, if any."""
    path = files("adversarium") / "results" / f"{experiment}.jsonl.gz"
    if not path.is_file():
        return []
    with path.open("rb") as raw:
        lines = gzip.decompress(raw.read()).decode().splitlines()
    blocks = []
    for text in lines:
        line = json.loads(text)
        rows = {
            p: (np.array(t), np.array(v, dtype=float)) for p, (t, v) in line.pop("rows").items()
        }
        blocks.append(Block(**{**line, "seeds": tuple(line["seeds"])}, rows=rows))
    return blocks
