"""Experiments on RNRF: a plan, its checks and its figures."""
