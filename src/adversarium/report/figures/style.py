"""How every picture looks, and how it is written."""

import csv
from collections.abc import Mapping, Sequence
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


def marks(axis: Any, verticals: Mapping[str, float], levels: Mapping[str, float]) -> None:
    """Vertical and horizontal marks with their texts."""
    for i, (text, t) in enumerate(sorted(verticals.items(), key=lambda mark: mark[1])):
        axis.axvline(t, color="#666666", linewidth=0.8, linestyle=":")
        place = axis.transAxes.inverted().transform(axis.transData.transform((t, 0)))[0]
        right = place > 0.8  # near the edge the text goes to the left
        axis.annotate(
            text,
            (t, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if right else 3, -9 - 11 * (i % 3)),
            ha="right" if right else "left",
            textcoords="offset points",
            fontsize=8,
            color="#444444",
        )
    for text, value in levels.items():
        axis.axhline(value, color="#666666", linewidth=0.8, linestyle=":")
        axis.annotate(
            text,
            (1, value),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 3),
            ha="right",
            textcoords="offset points",
            fontsize=8,
            color="#444444",
        )
