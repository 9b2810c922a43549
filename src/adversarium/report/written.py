"""Keep a list of the files that adversarium wrote into a folder, with their digests.

A file that is not in the list, or that was edited since, is never overwritten.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

LIST = ".adversarium.json"


def digest(*parts: str | bytes) -> str:
    """Return the digest of a sequence of texts and bytes."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.encode() if isinstance(part, str) else part)
    return total.hexdigest()[:24]


@dataclass(frozen=True)
class FileRecord:
    """A file that adversarium wrote."""

    inputs: str = ""  # digest of the values from which it was made
    written: str = ""  # digest of its content; empty while it is being written


class WrittenFiles:
    """The files of a folder that adversarium wrote, by path."""

    def __init__(self, folder: Path, list_name: str = LIST) -> None:
        self.folder = folder
        self._list = folder / list_name
        self.inputs, self.records = self._read()

    def _read(self) -> tuple[str, dict[str, FileRecord]]:
        """Return the content of the list; empty if there is no list or it cannot be read."""
        try:
            plain = json.loads(self._list.read_text(encoding="utf-8"))
            files = plain["files"].items()
            records = {path: FileRecord(**record) for path, record in files if _is_inside(path)}
            return str(plain["inputs"]), records
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return "", {}

    def save(self, inputs: str = "") -> None:
        """Write the list. Pass the digest of all inputs only if every file is complete."""
        records = {path: asdict(record) for path, record in sorted(self.records.items())}
        plain = {"inputs": inputs, "files": records}
        text = json.dumps(plain, indent=0, ensure_ascii=False) + "\n"
        if self._list.is_file() and self._list.read_text(encoding="utf-8") == text:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self._list.with_name(f".{self._list.name}.{os.getpid()}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self._list)

    def is_unchanged(self, path: str) -> bool:
        """Return whether a file still has the content that adversarium wrote."""
        file, record = self.folder / path, self.records.get(path)
        return record is not None and file.is_file() and digest(file.read_bytes()) == record.written

    def begin(self, paths: Iterable[str]) -> None:
        """Record files before they are written, so that an interrupted call can be repeated."""
        for path in (new := list(paths)):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        self.records |= dict.fromkeys(new, FileRecord())
        self.save()

    def complete(self, path: str, inputs: str = "") -> None:
        """Record the content of a file that was written."""
        self.records[path] = FileRecord(inputs, digest((self.folder / path).read_bytes()))

    def remove(self, path: str) -> None:
        """Delete a file unless it was edited, and its folder if that is then empty."""
        file = self.folder / path
        if self.is_unchanged(path):
            file.unlink()
            if file.parent != self.folder and not any(file.parent.iterdir()):
                file.parent.rmdir()
        del self.records[path]


def _is_inside(path: str) -> bool:
    """Return whether a path of a list is inside the folder."""
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts


def refuse_others(folder: Path, names: Iterable[str]) -> None:
    """Raise if a file with one of these names was not written by adversarium or was edited."""
    files = WrittenFiles(folder)
    for name in names:
        file, record = folder / name, files.records.get(name)
        if not file.exists() or (record is not None and not record.written):
            continue
        if record is None or not file.is_file():
            raise ValueError(
                f"{file} was not written by adversarium; move it, or choose another --out."
            )
        if not files.is_unchanged(name):
            raise ValueError(
                f"{file} was edited after it was written; move it, or choose another --out."
            )


def begin(folder: Path, names: Iterable[str]) -> None:
    """Record that these files of a folder are about to be written."""
    WrittenFiles(folder).begin(names)


def end(folder: Path) -> None:
    """Record the content of the files that were written since `begin`."""
    files = WrittenFiles(folder)
    for name, record in list(files.records.items()):
        if not (folder / name).is_file():
            del files.records[name]
        elif not record.written:
            files.complete(name)
    files.save()
