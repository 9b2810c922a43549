"""Equations, bounds, trials and probes of BOAT."""
