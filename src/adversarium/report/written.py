"""Which files of a folder are ours: a list beside them keeps what was written, so that nobody
else's file, and none that was edited since, is written over."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

LIST = ".adversarium.json"
_BEGUN = "begun"  # what was broken off is ours as well


def _listed(folder: Path) -> dict[str, str]:
    try:
        told = json.loads((folder / LIST).read_text(encoding="utf-8"))
        return {str(name): str(written) for name, written in told.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _keep(folder: Path, listed: dict[str, str]) -> None:
    text = json.dumps(dict(sorted(listed.items())), indent=0, ensure_ascii=False)
    (folder / LIST).write_text(f"{text}\n", encoding="utf-8")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:24]


def refuse_others(folder: Path, names: Iterable[str]) -> None:
    """Refuses files of these names that were not written here, or were edited since."""
    listed = _listed(folder)
    for name in names:
        file, written = folder / name, listed.get(name)
        if not file.exists() or written == _BEGUN:
            continue
        if written is None or not file.is_file():
            raise ValueError(
                f"{file} exists and was not written here; move it, or name another place (--out)."
            )
        if _digest(file) != written:
            raise ValueError(
                f"{file} was edited since it was written; move it, or name another place (--out)."
            )


def begin(folder: Path, names: Iterable[str]) -> None:
    """Claims the names of what is about to be written."""
    folder.mkdir(parents=True, exist_ok=True)
    _keep(folder, _listed(folder) | dict.fromkeys(names, _BEGUN))


def end(folder: Path) -> None:
    """Writes down what was written."""
    listed = _listed(folder)
    there = {name: folder / name for name in listed if (folder / name).is_file()}
    begun = {name: _digest(file) for name, file in there.items() if listed[name] == _BEGUN}
    _keep(folder, {name: begun.get(name, listed[name]) for name in there})
