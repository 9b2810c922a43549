"""Figures from stored rows: pictures, and beside each its numbers as CSV of the same name."""

from adversarium.report.figures.drawing import draw, drawing, shown
from adversarium.report.figures.numbers import Drawing, mean_and_interval
from adversarium.report.figures.summaries import table_columns, table_value

__all__ = [
    "Drawing",
    "draw",
    "drawing",
    "mean_and_interval",
    "shown",
    "table_columns",
    "table_value",
]
