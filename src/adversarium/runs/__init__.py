"""Execute plans: compute the missing runs, store their rows, and judge claims from stored rows."""
