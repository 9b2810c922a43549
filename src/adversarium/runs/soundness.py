"""Check whether a file can serve as a store, and say why if it cannot."""

import sqlite3
from pathlib import Path

APPLICATION_ID = 0x41445653  # "ADVS", in the file's header


class StoreError(ValueError):
    """The file cannot serve as a store; the message says why, and what to do."""


class StoreFull(StoreError):
    """The disk is full, or the file may not grow; the rows already stored are intact."""

    status = 1  # not 2: the command line was correct


_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_FSYNC")


def is_full(fault: sqlite3.Error) -> bool:
    """Return whether an error means that the store's file cannot grow."""
    return getattr(fault, "sqlite_errorname", "") in _FULL


def check_file(path: Path) -> None:
    """Raise if a file is not a complete store of adversarium, without opening it for writing."""
    if str(path) == ":memory:":
        raise StoreError("a store in memory would be lost; name a file (--store FILE).")
    if path.is_dir():
        raise StoreError(f"the store {path} is a directory; choose a file (--store FILE).")
    if not path.exists():
        folder = path.absolute().parent
        if not folder.is_dir():
            raise StoreError(f"the store's directory {folder} does not exist; create it first.")
        return
    if not path.is_file():
        raise StoreError(f"the store {path} is not a regular file; choose another (--store FILE).")
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        header = file.read(100)
    if header[:16] != b"SQLite format 3\0" or len(header) < 100:
        raise StoreError(f"{path} is not a store (not an SQLite file); it was left untouched.")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program; it was left untouched.")
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        return  # sqlite recovers from the log that a killed process left
    if path.stat().st_size < (65536 if page == 1 else page) * pages:
        raise StoreError(
            f"{path} is truncated ({path.stat().st_size} of {page * pages} bytes); it was left "
            "untouched. Restore it from a copy, or choose a new file (--store FILE)."
        )
