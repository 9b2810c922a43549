"""Define the options that several commands share, check their values, and define JSON answers."""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

Flag = partial(Parameter, negative="")
Preset = Annotated[Literal["quick", "paper"], Parameter(help="size: quick, or as in the paper")]
Device = Annotated[Literal["cpu", "cuda"], Parameter(help="device for tensors")]
Fresh = Annotated[bool, Flag(help="recompute stored results")]
Json = Annotated[bool, Flag(help="print one JSON object on standard output")]
DryRun = Annotated[bool, Flag(help="show what would run, how and how long; do not run it")]
Partly = Annotated[
    bool, Flag(help="without effect: changes that affect only some runs are always allowed")
]
Seeds = Annotated[str | None, Parameter(help="10 (for 0 … 9), 3,17 or 5:15; default: the preset's")]
Changes = Annotated[
    list[str],
    Parameter(
        name="--set", negative="", help="name=value of a knob, a field (data.alpha) or a part"
    ),
]
File = Annotated[Path, Parameter(name="--store", help="SQLite file that stores all results")]
DataDir = Annotated[Path | None, Parameter(name="--data", help="directory with data files")]
On = Annotated[str, Parameter(help="where to run: here, processes, processes:N or tcp://HOST:PORT")]
DEFAULT = Path("adversarium.sqlite")


@dataclass(frozen=True)
class Answer:
    """The answer of a command with --json, as text, and its exit status."""

    text: str
    status: int = 0


def ready(device: str, data: Path | None = None) -> None:
    """Check the device and the data directory before any work."""
    if data is not None:
        if not data.is_dir():
            raise ValueError(f"--data needs a directory, got {data}.")
        os.environ["ADVERSARIUM_DATA"] = str(data.resolve())
    if device != "cpu":
        from adversarium.runs.machine import require_device

        require_device(device)


def writable(folder: Path) -> None:
    """Raise if a folder cannot be created or written to; call this before any work."""
    known = folder
    while not known.exists() and known != known.parent:
        known = known.parent
    if not known.is_dir():
        raise ValueError(f"--out needs a folder, but {known} is a file; choose another folder.")
    try:
        with tempfile.TemporaryFile(dir=known):
            pass
    except OSError:
        message = f"--out {folder} cannot be written: {known} is not writable; choose another."
        raise ValueError(message) from None


def some(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids; raise if there is none, or if one is empty."""
    if not ids:
        raise ValueError("name at least one experiment; `adversarium list experiments` lists them.")
    return named(ids)


def named(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids; raise if one is empty, because it is probably an unset shell variable."""
    if not all(id.strip() for id in ids):
        raise ValueError(
            "name an experiment, got an empty string; `adversarium list experiments` lists them."
        )
    return tuple(ids)


def experiments_named(words: Sequence[str]) -> list[str]:
    """Return the experiments of ids (also of claims), papers or user files, each once."""
    from adversarium.plans.catalogue import experiment_ids

    return list(dict.fromkeys(id for word in named(words) for id in experiment_ids(word)))


def status(failures: Sequence[str]) -> int:
    """Print one line per failure, with its number of runs; return 1 if there is any, else 0."""
    for failure, times in Counter(failures).items():
        many = f" ({times} runs)" if times > 1 else ""
        print(f"adversarium: {failure}{many}", file=sys.stderr)
    return 1 if failures else 0
