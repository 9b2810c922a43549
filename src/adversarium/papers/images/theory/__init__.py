"""Equations and probes of the benchmark: none, it uses those of the engine."""
