"""Bugs that CONV's claims must notice."""

from tests.planted.bugs import Bug
from tests.planted.parts import misstepping

_ONE = {"rules": ("exact",), "m": (64,)}

BUGS = (
    Bug(
        "steps twice as long as the rule says",
        misstepping("full", 2.0),
        turns=("conv.eq16",),
        knobs=_ONE,
    ),
    Bug(
        "full-batch descent goes uphill",
        misstepping("full", -1.0),
        turns=("conv.eq16",),
        knobs=_ONE,
    ),
)
