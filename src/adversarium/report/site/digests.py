"""Compute digests of all that a site is made from: the code, the papers, the store, the rows."""

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import adversarium
from adversarium.plans.evidence import Evidence
from adversarium.plans.papers import papers
from adversarium.report.written import digest
from adversarium.runs.store import Store


def code_digest(added: Sequence[str]) -> str:
    """Return the digest of the files of adversarium, of all papers and of added user files."""
    home = Path(adversarium.__file__).parent
    folders = [home, *(p.folder for p in papers().values() if home not in p.folder.parents)]
    found = (file for folder in folders for file in sorted(folder.rglob("*")))
    files = [file for file in found if "__pycache__" not in file.parts]
    return digest(
        version("matplotlib"),
        *(
            part
            for file in (*files, *map(Path, added))
            if file.is_file()
            for part in (f"\n{file.resolve()}\n", file.read_bytes())
        ),
    )


def site_digest(store: Store, code: str) -> str:
    """Return the digest of the code and of the store's path, size and modification time."""
    files = (store.path, store.path.with_name(f"{store.path.name}-wal"))
    stats = [file.stat() for file in files if file.exists() and file.stat().st_size]
    return digest(f"{code} {store.path.resolve()} {[(s.st_size, s.st_mtime_ns) for s in stats]}")


def rows_digest(evidence: Evidence, keys: Iterable[str], code: str) -> str:
    """Return the digest of rows, of the keys of their runs, and of the code that draws them."""
    parts: list[str | bytes] = [f"{code} {' '.join(keys)}"]
    for run in evidence:
        parts.append(f"{run.label} {run.seeds}")
        for name, series in sorted(run.series.items()):
            parts.append(f"{name} {sorted(series.axes.items())}")
            parts += [series.t.tobytes(), series.values.tobytes()]
    return digest(*parts)
