"""Planted bugs: each breaks one part of the laboratory, and names the claims that must turn."""

from tests.planted import boat, cgrm, cgro, conv, rnrf

BUGS = (*cgro.BUGS, *cgrm.BUGS, *rnrf.BUGS, *boat.BUGS, *conv.BUGS)
