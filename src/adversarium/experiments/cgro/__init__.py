"""Experiments on CGRO."""
