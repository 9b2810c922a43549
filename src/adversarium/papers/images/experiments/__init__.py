"""Experiments of the benchmark."""
