"""Experiments on RNRF."""
