"""Equations, bounds, trials and probes of CGRM."""
