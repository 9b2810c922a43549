"""Experiments on CONV."""
