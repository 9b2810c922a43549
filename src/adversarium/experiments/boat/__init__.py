"""Experiments on BOAT."""
