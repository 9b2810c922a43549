"""Equations, bounds, trials and probes of RNRF."""
