"""Execution: plans → jobs → blocks of rows → verdicts, resumable, here or elsewhere."""
