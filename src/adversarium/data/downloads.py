"""Download the official files of image data sets, and verify them by their checksums."""

import errno
from collections.abc import Callable
from pathlib import Path

from adversarium.data.files import SETS, Download, downloads_folder

Progress = Callable[[str, int, int], None]  # file, kilobytes so far, kilobytes in all


def fetch(name: str, progress: Progress | None = None) -> Path:
    """Download the files of a set that are missing; return the folder in which they are stored.

    A file that is already there is verified, and downloaded again if it is damaged. A download that
    breaks off leaves nothing behind.
    """
    known = SETS[name]
    if not known.downloads:
        raise ValueError(
            f"{known.title} cannot be downloaded; name a directory that has {known.needs} "
            "(--data DIR)."
        )
    folder = downloads_folder(name)
    for file in known.downloads:
        _retrieve(file, folder, progress)
    return folder


def _retrieve(file: Download, folder: Path, progress: Progress | None) -> None:
    import logging

    from pooch import HTTPDownloader, get_logger, retrieve

    get_logger().setLevel(logging.ERROR)
    bar = _Bar(file, progress) if progress is not None else False
    downloader = HTTPDownloader(progressbar=bar, timeout=30)
    try:
        retrieve(file.url, f"md5:{file.md5}", file.name, folder, downloader=downloader)
    except ValueError as fault:  # pooch: the checksum differs
        raise ValueError(
            f"{file.url} did not return the official file (its checksum differs); nothing was "
            "stored. Try again, or name a directory that has the file (--data DIR)."
        ) from fault
    except OSError as fault:  # no connection, no such host, a disk that is full
        if fault.errno in (errno.ENOSPC, errno.EACCES, errno.EROFS):
            raise
        raise ValueError(
            f"{file.url} cannot be downloaded ({type(fault).__name__}); check the connection, or "
            "name a directory that has the file (--data DIR)."
        ) from fault


class _Bar:
    """Count bytes for pooch, which sets `total` and calls update, reset and close."""

    def __init__(self, file: Download, progress: Progress) -> None:
        self.total, self._file, self._progress, self._done = 0, file, progress, 0

    def update(self, count: int) -> None:
        self._done += count
        whole = self.total or self._file.megabytes * 1e6
        self._progress(self._file.name, self._done // 1000, int(whole) // 1000)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        """Do nothing: the last line stays."""
