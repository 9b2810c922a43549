"""Execution: plans → runs → rows → verdicts, resumable, seeds as an axis."""
