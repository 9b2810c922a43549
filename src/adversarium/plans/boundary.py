"""Fit the boundary at which an outcome switches: a line in the logarithms of two parameters."""

import itertools
from dataclasses import dataclass

import numpy as np

from adversarium.plans.intervals import SEEDS

_DRAWS = 1000  # bootstrap samples of seeds and cells
_TAILS = (0.5, 99.5)  # per cent


@dataclass(frozen=True)
class Boundary:
    """The fitted line c[0] + c[1] log₁₀ x + c[2] log₁₀ y = 0, and the lines fitted to resampled
    seeds and cells."""

    line: np.ndarray  # (3,)
    draws: np.ndarray  # (draw, 3)

    def y(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return y on the line at x, with its 99 % interval."""
        low, high = np.percentile(_log_y(self.draws, x), _TAILS, axis=0)
        return 10 ** _log_y(self.line, x), 10**low, 10**high

    def slope(self) -> tuple[float, float, float]:
        """Return the exponent p of y ∝ x^p along the line, with its 99 % interval."""
        low, high = np.percentile(_power(self.draws), _TAILS)
        return float(_power(self.line)), float(low), float(high)

    def factor(self, x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
        """Return the mean factor between y on the line and y of points (x, y) of another boundary:
        the geometric mean of larger y divided by smaller y, with its 99 % interval."""
        low, high = np.percentile(_apart(self.draws, x, y), _TAILS)
        return float(_apart(self.line, x, y)), float(low), float(high)


def _power(c: np.ndarray) -> np.ndarray:
    """Return the exponent p of y ∝ x^p along lines c (…, 3)."""
    return np.asarray(-c[..., 1] / c[..., 2])


def _apart(c: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the geometric mean of the factors between y on lines c and y of points (x, y)."""
    return np.asarray(10 ** np.abs(_log_y(c, x) - np.log10(y)).mean(-1))


def _log_y(c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return log₁₀ y of lines c (…, 3) at x."""
    return np.asarray(-(c[..., :1] + c[..., 1:2] * np.log10(x)) / c[..., 2:])


def fit(x: np.ndarray, y: np.ndarray, values: np.ndarray, above: float) -> Boundary | None:
    """Fit the line that best separates values (cell, seed) greater than `above` from smaller ones.

    The fit is a logistic regression; values equal to `above` are ignored. Intervals come from
    resampled seeds and cells. Return None if there are fewer than five seeds, if x, y or the
    outcome does not vary, or if the sign of y's coefficient is not the same in all samples.
    """
    outcomes = np.where(values == above, np.nan, values > above)
    known = np.isfinite(outcomes).any(1)
    x, y, outcomes = x[known], y[known], outcomes[known]
    flat = len(set(x)) < 2 or len(set(y)) < 2
    if outcomes.shape[1] < SEEDS or flat or not 0 < np.nanmean(outcomes) < 1:
        return None
    design = np.stack([np.ones(len(x)), np.log10(x), np.log10(y)], axis=1)
    line = _logistic(design, np.nanmean(outcomes, axis=1), np.zeros(3))
    rng = np.random.default_rng(0)
    cells, seeds = outcomes.shape
    draws = []
    for _ in range(_DRAWS):
        rows = rng.integers(cells, size=cells)
        chosen = outcomes[rows][:, rng.integers(seeds, size=seeds)]
        seen = np.isfinite(chosen).any(1)
        share = np.nanmean(chosen[seen], axis=1)
        if 0 < share.mean() < 1:
            draws.append(_logistic(design[rows][seen], share, line))
    lines = np.array(draws)
    decided = len(lines) and (np.sign(lines[:, 2]) == np.sign(line[2])).all()
    return Boundary(line, lines) if decided else None


def _logistic(
    design: np.ndarray, share: np.ndarray, start: np.ndarray, ridge: float = 1e-2
) -> np.ndarray:
    """Maximise the log-likelihood of shares by Newton's method; a ridge penalty keeps the
    coefficients finite if the data are separable."""
    c = start
    penalty = ridge * np.diag([0.0, *[1.0] * (design.shape[1] - 1)])
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(design @ c, -30, 30)))
        gradient = design.T @ (share - p) - penalty @ c
        curvature = (design * (p * (1 - p))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature + 1e-9 * np.eye(len(c)), gradient)
        c = c + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return c


def crossings(x: np.ndarray, y: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Return the points (x, y), one per row, at which predicted margins change their sign along y,
    interpolated linearly in log y between two given points with the same x."""
    turns = []
    for a in np.unique(x):
        column = sorted(zip(y[x == a], margins[x == a], strict=True))
        for (low, s), (high, t) in itertools.pairwise(column):
            if (s > 0) != (t > 0):
                share = s / (s - t)
                turns.append((a, low ** (1 - share) * high**share))
    return np.array(turns).reshape(-1, 2)
