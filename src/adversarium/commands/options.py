"""The options that several commands have, what is checked at the door, and what is answered."""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

Flag = partial(Parameter, negative="")
Preset = Annotated[Literal["quick", "paper"], Parameter(help="the size: quick, or the paper's")]
Device = Annotated[Literal["cpu", "cuda"], Parameter(help="where tensors live")]
Fresh = Annotated[bool, Flag(help="compute again what is already there")]
Json = Annotated[bool, Flag(help="one JSON object on standard output")]
DryRun = Annotated[bool, Flag(help="say what would run, how and how long; run nothing")]
Partly = Annotated[
    bool, Flag(help="no effect: a change that reaches only some runs is allowed and reported")
]
Seeds = Annotated[
    str | None, Parameter(help="10 (0 … 9), 3,17 or 5:15; the preset's when left out")
]
Changes = Annotated[
    list[str],
    Parameter(name="--set", negative="", help="name=value: a knob, a field (data.alpha) or a part"),
]
File = Annotated[Path, Parameter(name="--store", help="the sqlite file that keeps all rows")]
DataDir = Annotated[Path | None, Parameter(name="--data", help="a directory with data files")]
On = Annotated[str, Parameter(help="where: here, processes, processes:N or tcp://HOST:PORT")]
DEFAULT = Path("adversarium.sqlite")


@dataclass(frozen=True)
class Answer:
    """What --json answers, as text, and the status."""

    text: str
    status: int = 0


def ready(device: str, data: Path | None = None) -> None:
    """Checks the device and the data directory at the door."""
    if data is not None:
        if not data.is_dir():
            raise ValueError(f"--data needs a directory, got {data}.")
        os.environ["ADVERSARIUM_DATA"] = str(data.resolve())
    if device != "cpu":
        from adversarium.runs.machine import at_hand

        at_hand(device)


def writable(folder: Path) -> None:
    """Refuses, before any work, a folder that cannot be made or written."""
    known = folder
    while not known.exists() and known != known.parent:
        known = known.parent
    if not known.is_dir():
        raise ValueError(f"--out needs a folder, and {known} is a file; name another.")
    try:
        with tempfile.TemporaryFile(dir=known):
            pass
    except OSError:
        told = f"--out {folder}: nothing can be written in {known}; name another folder."
        raise ValueError(told) from None


def some(ids: Sequence[str]) -> tuple[str, ...]:
    """At least one id, none of them empty."""
    if not ids:
        raise ValueError("name at least one experiment; `adversarium list experiments` has them.")
    return named(ids)


def named(ids: Sequence[str]) -> tuple[str, ...]:
    """Ids, none of them empty: an empty word is a variable that was not set, not everything."""
    if not all(id.strip() for id in ids):
        raise ValueError(
            "name an experiment, got an empty word; `adversarium list experiments` has them."
        )
    return tuple(ids)


def experiments_named(words: Sequence[str]) -> list[str]:
    """Experiments by id, claim, paper or own file, each once."""
    from adversarium.plans.catalogue import experiment_ids

    return list(dict.fromkeys(id for word in named(words) for id in experiment_ids(word)))


def status(failures: Sequence[str]) -> int:
    """1 and a line each when runs failed, else 0."""
    for failure in failures:
        print(f"adversarium: {failure}", file=sys.stderr)
    return 1 if failures else 0
