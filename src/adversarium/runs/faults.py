"""What a part raised, as one sentence: the user's file and line, whose it was, and what."""

import sys
import traceback
from pathlib import Path

_HOME = Path(__file__).parents[1]
RAISED = (Exception, SystemExit)  # a part that exits ends its run, not the program


class PartFault(Exception):
    """A fault that already names its part."""


def describe(fault: BaseException) -> str:
    """A fault in words, with the user's file and line where it came from one.

    >>> describe(KeyError("lost"))
    "KeyError: 'lost'"
    """
    if isinstance(fault, PartFault):
        return str(fault)
    return _joined(_place(fault), _words(fault))


def _words(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__


def part_fault(what: str, fault: BaseException) -> PartFault:
    """A fault with the name of the part that was running, and the user's file and line."""
    said = f"{what}: {_words(fault)}"
    return fault if isinstance(fault, PartFault) else PartFault(_joined(_place(fault), said))


def _joined(place: str, said: str) -> str:
    return f"{place}, {said}" if place else said


def _place(fault: BaseException) -> str:
    """The last line of a user's own file on the way to a fault; nothing where there is none."""
    for frame in reversed(traceback.extract_tb(fault.__traceback__)):
        path = Path(frame.filename)
        ours = path.is_relative_to(_HOME) or frame.filename.startswith("<")
        installed = {"site-packages", "dist-packages"} & set(path.parts)
        standard = path.is_relative_to(Path(sys.base_prefix) / "lib")
        if not ours and not installed and not standard:
            return f"{path.name}, line {frame.lineno}"
    return ""
