"""Figures from stored rows: pictures, and beside each its numbers as CSV of the same name."""

from adversarium.report.figures.drawing import (
    Drawing,
    draw,
    drawing,
    mean_and_interval,
    shown,
    table_columns,
    table_value,
)

__all__ = [
    "Drawing",
    "draw",
    "drawing",
    "mean_and_interval",
    "shown",
    "table_columns",
    "table_value",
]
