"""Planted bugs: each breaks one part of the program and names the claims whose verdict must change.
The bugs of a paper are in tests/papers/TAG/planted.py."""
