"""Draw figures from stored rows, and write the numbers of each as a CSV file of the same name."""

from adversarium.report.figures.drawing import draw, drawing, figure_runs
from adversarium.report.figures.numbers import Drawing, mean_and_interval
from adversarium.report.figures.summaries import table_columns, table_value

__all__ = [
    "Drawing",
    "draw",
    "drawing",
    "figure_runs",
    "mean_and_interval",
    "table_columns",
    "table_value",
]
