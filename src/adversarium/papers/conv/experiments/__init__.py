"""Experiments on CONV: a plan, its checks and its figures."""
