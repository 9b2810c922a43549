"""Execute plans: plans → jobs → blocks of rows → verdicts. Runs resume, on any machine."""
