"""What a site is made from, as digests: the store, the code with its rows, papers of others."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib

import adversarium
from adversarium.plans.catalogue import papers
from adversarium.plans.evidence import Evidence
from adversarium.runs.store import Store


def code(added: Sequence[str]) -> str:
    """The digest of the laboratory's own files, of the papers' folders and of added files."""
    home = Path(adversarium.__file__).parent
    folders = [home, *(p.folder for p in papers().values() if home not in p.folder.parents)]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if _counts(file)]
    whole = hashlib.sha256(matplotlib.__version__.encode())
    for file in (*files, *map(Path, added)):
        whole.update(f"\n{file.resolve()}\n".encode())
        whole.update(file.read_bytes() if file.is_file() else b"")
    return whole.hexdigest()[:24]


def _counts(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def whole(store: Store, made_by: str) -> str:
    """The digest of everything: the code, and the store by its size and time of change."""
    files = (store.path, store.path.with_name(f"{store.path.name}-wal"))
    there = [file.stat() for file in files if file.exists() and file.stat().st_size]
    told = f"{made_by} {store.path.resolve()} {[(s.st_size, s.st_mtime_ns) for s in there]}"
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def rows(evidence: Evidence, keys: Iterable[str], made_by: str) -> str:
    """The digest of rows, of the keys of their runs, and of the code that draws them."""
    whole = hashlib.sha256(f"{made_by} {' '.join(keys)}".encode())
    for run in evidence:
        whole.update(f"{run.label} {run.seeds}".encode())
        for name, series in sorted(run.series.items()):
            whole.update(f"{name} {sorted(series.axes.items())}".encode())
            whole.update(series.t.tobytes())
            whole.update(series.values.tobytes())
    return whole.hexdigest()[:24]
