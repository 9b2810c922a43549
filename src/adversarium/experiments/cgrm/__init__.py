"""Experiments on CGRM."""
