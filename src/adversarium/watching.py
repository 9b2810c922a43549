"""The files that somebody's own code reads while it runs. No torch at import."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from adversarium.sources import HOME, is_local

_watched = threading.local()
_EVENTS = ("open", "os.listdir", "os.scandir")
_CODE = (".py", ".pyc", ".so", ".pth")
_OURS = f"{HOME}{os.sep}"


@contextmanager
def watching() -> Iterator[set[Path]]:
    """The files and folders that own code opens to read in this thread while it lasts.

    >>> with watching() as seen:
    ...     pass
    >>> seen
    set()
    """
    _hook()
    before = getattr(_watched, "seen", None)
    _watched.seen, _watched.written = (seen := set[Path]()), set[Path]()
    try:
        yield seen
    finally:
        _watched.seen = before


_hooked = False


def _hook() -> None:
    """An audit hook, once: it cannot be taken away, and does nothing while nobody watches."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_heard)
        _hooked = True


def _heard(event: str, given: tuple[Any, ...]) -> None:
    seen = getattr(_watched, "seen", None)
    if seen is None or event not in _EVENTS or not given:
        return
    _watched.seen = None  # what is done here is not heard
    try:
        path = given[0]
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        if not _reads(event, given):
            _watched.written.add(Path(os.fsdecode(path)).absolute())
        else:
            file = Path(os.fsdecode(path)).absolute()
            if file not in _watched.written and _own(sys._getframe(1)) and _data(file):
                seen.add(file.resolve())
    finally:
        _watched.seen = seen


def _data(file: Path) -> bool:
    """Whether a file may be somebody's data: there, not installed, and not the system's."""
    system = file.parts[1:2] in [("proc",), ("sys",), ("dev",)]
    return file.suffix not in _CODE and not system and file.exists() and is_local(file)


def _reads(event: str, given: tuple[Any, ...]) -> bool:
    """Whether a file is opened to read."""
    mode = given[1] if event == "open" and len(given) > 1 else "r"
    flags = given[2] if event == "open" and len(given) > 2 and isinstance(given[2], int) else 0
    if isinstance(mode, str):
        return not set(mode) & set("wax")
    return not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)


def _own(frame: FrameType | None) -> bool:
    """Whether the nearest code that is neither Python's nor a library's is somebody's own, and no
    import is under way."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return False
        if name.startswith(_OURS):
            return False
        file = Path(name)
        if not name.startswith("<") and file.is_file() and is_local(file):
            return True
        if name.startswith(("<stdin", "<ipython")) or "ipykernel" in name:
            return True
        frame = frame.f_back
    return False
