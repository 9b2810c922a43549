"""The options that several commands have, and what is checked at the door."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

Preset = Literal["quick", "paper"]
Device = Literal["cpu", "cuda"]
Flag = Parameter(negative="")
Fresh = Annotated[bool, Parameter(negative="", help="compute again what is already there")]
Json = Annotated[bool, Parameter(negative="", help="one JSON object on standard output")]
Seeds = Annotated[str, Parameter(help="10 (0 … 9), 3,17 or 5:15; the preset's when left out")]
Changes = Annotated[
    list[str], Parameter(name="--set", help="name=value: a knob, a field (data.alpha) or a part")
]
File = Annotated[Path, Parameter(name="--store", help="the sqlite file that keeps all rows")]
DataDir = Annotated[Path | None, Parameter(name="--data", help="a directory with data files")]
On = Annotated[str, Parameter(help="where: here, processes, processes:N or tcp://HOST:PORT")]
DEFAULT = Path("adversarium.sqlite")


def ready(device: str, data: Path | None = None) -> None:
    """Checks the device and the data directory at the door."""
    if data is not None:
        if not data.is_dir():
            raise ValueError(f"--data needs a directory, got {data}.")
        os.environ["ADVERSARIUM_DATA"] = str(data.resolve())
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ValueError("--device cuda needs a CUDA device, and torch sees none; use cpu.")


def some(ids: Sequence[str]) -> tuple[str, ...]:
    """At least one id."""
    if not ids:
        raise ValueError("name at least one experiment; `adversarium list experiments` has them.")
    return tuple(ids)


def experiments_named(words: Sequence[str]) -> list[str]:
    """Experiments by id, claim, paper or own file, each once."""
    from adversarium.plans.catalogue import experiment_ids

    return list(dict.fromkeys(id for word in words for id in experiment_ids(word)))


def status(failures: Sequence[str]) -> int:
    """1 and a line each when runs failed, else 0."""
    for failure in failures:
        print(f"adversarium: {failure}", file=sys.stderr)
    return 1 if failures else 0
