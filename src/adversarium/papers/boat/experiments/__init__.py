"""Experiments on BOAT: a plan, its checks and its figures."""
