"""Bugs that the claims of the benchmark must notice: none yet, since they have no results."""

from tests.planted.bugs import Bug

BUGS: tuple[Bug, ...] = ()
