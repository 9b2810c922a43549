"""Equations, bounds, trials and probes of CONV."""
