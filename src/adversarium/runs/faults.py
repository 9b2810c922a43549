"""Describe an error that a part (such as a network, a probe or a trial) raised in one sentence: the
user's file and line, the part, and the error."""

import sys
import traceback
from pathlib import Path

_HOME = Path(__file__).parents[1]
RAISED = (Exception, SystemExit)  # a part that exits ends its run, not the program


class PartFault(Exception):
    """An error whose message already names the part that raised it."""


def describe(fault: BaseException) -> str:
    """Return an error as text, with the user's file and line if it came from a user's file.

    >>> describe(KeyError("lost"))
    "KeyError: 'lost'"
    """
    if isinstance(fault, PartFault):
        return str(fault)
    return _joined(_place(fault), _words(fault))


def _words(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__


def part_fault(what: str, fault: BaseException) -> PartFault:
    """Return an error with the name of the part that was running, and the user's file and line."""
    said = f"{what}: {_words(fault)}"
    return fault if isinstance(fault, PartFault) else PartFault(_joined(_place(fault), said))


def _joined(place: str, said: str) -> str:
    return f"{place}, {said}" if place else said


def _place(fault: BaseException) -> str:
    """Return file and line of the innermost frame in a user's file; empty if there is none."""
    for frame in reversed(traceback.extract_tb(fault.__traceback__)):
        path = Path(frame.filename)
        ours = path.is_relative_to(_HOME) or frame.filename.startswith("<")
        installed = {"site-packages", "dist-packages"} & set(path.parts)
        standard = path.is_relative_to(Path(sys.base_prefix) / "lib")
        if not ours and not installed and not standard:
            return f"{path.name}, line {frame.lineno}"
    return ""
