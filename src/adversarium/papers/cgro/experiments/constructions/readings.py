"""Find, among trained networks of several widths, the smallest width that is robust."""

import numpy as np

from adversarium.plans import Evidence, Need, quantity, where

TRAINED = where("trained")


def _least_width_slope(rows: Evidence) -> np.ndarray:
    """Return the slope in D of log₂ of the smallest width with a final robust error ≤ 0.05, one per
    seed; NaN if no width has it."""
    trained = rows.where(TRAINED)
    sizes = sorted({run.task.coordinates["D"] for run in trained})
    if len(sizes) < 2:
        return np.full(len(rows.seeds), np.nan)
    least = []
    for D in sizes:
        by_width = trained.where(where(D=D)).by("m")
        good = np.stack([run.last("robust_error") for run in by_width.values()]) <= 0.05
        least.append(np.where(good.any(0), np.log2(list(by_width))[good.argmax(0)], np.nan))
    x = np.array(sizes) - np.mean(sizes)
    slope: np.ndarray = x @ np.stack(least) / (x @ x)
    return slope


width_doublings = quantity(
    "doublings of the least width a dimension",
    _least_width_slope,
    Need(TRAINED, ("robust_error",)),
)
