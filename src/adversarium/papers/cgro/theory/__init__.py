"""Equations, bounds, trials and probes of CGRO."""
