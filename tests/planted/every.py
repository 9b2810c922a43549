"""The planted bugs of all papers."""

from importlib import import_module

from adversarium.plans.papers import papers

BUGS = tuple(bug for tag in papers() for bug in import_module(f"tests.papers.{tag}.planted").BUGS)
