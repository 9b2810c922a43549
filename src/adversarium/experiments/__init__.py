"""Experiments as data, a folder a paper."""

from adversarium.experiments.spec import Bars, Curves, Experiment, Run, Table, Trial

__all__ = ["Bars", "Curves", "Experiment", "Run", "Table", "Trial"]
