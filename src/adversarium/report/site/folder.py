"""The folder of a site: a manifest says which files are ours and what each was made from, so that
only what changed is written, what is no longer needed goes, and nobody else's file is touched."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

MANIFEST = "manifest.json"
_MARK = "· adversarium</title>"


@dataclass(frozen=True)
class Made:
    """A file of ours: the digest of what it was made from, and of what was written."""

    inputs: str = ""
    written: str = ""


@dataclass(frozen=True)
class Drawn:
    """Files that are costly to make: their paths, the digest of what they are made from, and how
    they are made in a folder."""

    paths: tuple[str, ...]
    inputs: str
    draw: Callable[[Path], object]


def digest(content: bytes) -> str:
    """The digest of a file's content."""
    return hashlib.sha256(content).hexdigest()[:24]


class Folder:
    """A folder that holds a site, or will."""

    def __init__(self, home: Path) -> None:
        self.home = home
        if home.exists() and not home.is_dir():
            raise ValueError(f"--out needs a directory, got the file {home}.")
        self.inputs, self.files = self._manifest()
        first = home / "index.html"
        if first.exists() and "index.html" not in self.files:
            if _MARK not in first.read_text(encoding="utf-8", errors="replace"):
                raise ValueError(
                    f"{first} is no report of ours; name another directory (--out DIR)."
                )
            self.files["index.html"] = Made()

    def _manifest(self) -> tuple[str, dict[str, Made]]:
        """What the last build wrote; nothing where there was none or it cannot be read."""
        try:
            told = json.loads((self.home / MANIFEST).read_text(encoding="utf-8"))
            files = {path: Made(**made) for path, made in told["files"].items() if _inside(path)}
            return str(told["inputs"]), files
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return "", {}

    def current(self, inputs: str) -> bool:
        """Whether the site was made from these inputs and every file is as it was written."""
        return bool(self.files) and inputs == self.inputs and all(map(self._whole, self.files))

    def _whole(self, path: str) -> bool:
        file, made = self.home / path, self.files.get(path)
        return made is not None and file.is_file() and digest(file.read_bytes()) == made.written

    def renew(
        self,
        texts: Mapping[str, str],
        drawn: Sequence[Drawn],
        inputs: str,
        seen: Callable[[str, int, int], None] = lambda what, done, whole: None,
    ) -> None:
        """Writes what changed, removes what is no longer needed, and says so in the manifest;
        `seen` is told how many figures are there."""
        paths = [*texts, *(path for one in drawn for path in one.paths)]
        for path in paths:
            if path not in self.files and (self.home / path).exists():
                raise ValueError(
                    f"{self.home / path} is no file of ours; name another directory (--out DIR)."
                )
        before = self.files
        self.files = {path: before.get(path, Made()) for path in (*before, *paths)}
        for parent in {(self.home / path).parent for path in paths}:
            parent.mkdir(parents=True, exist_ok=True)
        if set(self.files) != set(before):
            self._keep("")  # a build that is broken off leaves nothing that is not known as ours
        for path, text in texts.items():
            self._text(path, text)
        for i, one in enumerate(drawn):
            seen("figures", i, len(drawn))
            self._draw(one)
        for path in set(before) - set(paths):
            self._remove(path)
        self._keep(inputs)

    def _text(self, path: str, text: str) -> None:
        content, file = text.encode(), self.home / path
        if not file.is_file() or file.read_bytes() != content:
            file.write_bytes(content)
        self.files[path] = Made(digest(content), digest(content))

    def _draw(self, one: Drawn) -> None:
        kept = all(self._whole(p) and self.files[p].inputs == one.inputs for p in one.paths)
        if not kept:
            one.draw(self.home)
        for path in one.paths:
            self.files[path] = Made(one.inputs, digest((self.home / path).read_bytes()))
        if not kept:
            self._keep("")  # a build that is broken off goes on after this figure

    def _remove(self, path: str) -> None:
        """Takes away a file that is as we wrote it; an edited one stays, as its owner's."""
        if self._whole(path):
            file = self.home / path
            file.unlink()
            if file.parent != self.home and not any(file.parent.iterdir()):
                file.parent.rmdir()
        self.files.pop(path)

    def _keep(self, inputs: str) -> None:
        told = {path: asdict(made) for path, made in sorted(self.files.items())}
        text = json.dumps({"inputs": inputs, "files": told}, indent=0, ensure_ascii=False) + "\n"
        place = self.home / MANIFEST
        if place.is_file() and place.read_text(encoding="utf-8") == text:
            return
        partial = place.with_name(f".{MANIFEST}.{os.getpid()}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(place)


def _inside(path: str) -> bool:
    """Whether a path of a manifest stays in its folder."""
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts
