"""Experiments on CGRO: a plan, its checks and its figures."""
