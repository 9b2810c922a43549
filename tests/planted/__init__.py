"""Planted bugs: each breaks one part of the program and names the claims whose verdict must change.
Those of a paper are in tests/papers/TAG/planted.py."""

from importlib import import_module

from adversarium.plans.papers import papers

BUGS = tuple(bug for tag in papers() for bug in import_module(f"tests.papers.{tag}.planted").BUGS)
