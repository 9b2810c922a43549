"""Experiments on CGRM: a plan, its checks and its figures."""
