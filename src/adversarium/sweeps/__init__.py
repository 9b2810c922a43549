"""Execution: plans → runs → rows → verdicts, resumable, seeds as an axis."""

from adversarium.sweeps.audit import audit
from adversarium.sweeps.local import Result, run
from adversarium.sweeps.store import Store

__all__ = ["Result", "Store", "audit", "run"]
