"""How every picture looks, and how it is written."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Okabe and Ito: distinct for all common forms of colour blindness
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-")


def pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "svg.fonttype": "path",
            "svg.hashsalt": "adversarium",
            "figure.constrained_layout.use": True,
        }
    )
    return plt


def save(picture: Any, path: Path) -> None:
    """Writes a picture, without a date in it; it is laid out once, whatever the formats."""
    if picture.get_layout_engine() is not None:
        picture.draw_without_rendering()
        picture.set_layout_engine("none")
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
    picture.savefig(path, metadata=undated, dpi=150)


def write_csv(path: Path, header: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(header)
        out.writerows(lines)
