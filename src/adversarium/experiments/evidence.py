"""What checks and figures read: stored rows, named numbers of them, their intervals and slopes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

SEEDS = 5  # fewer decide nothing that varies with the seed
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Rows:
    """The stored rows of one run or trial: per probe the record times and values (seed, t)."""

    seeds: tuple[int, ...]
    values: Mapping[str, tuple[np.ndarray, np.ndarray]]

    def curve(self, probe: str) -> tuple[np.ndarray, np.ndarray]:
        """Times and values (seed, t) of a probe."""
        if probe not in self.values:
            raise KeyError(f"no rows of {probe!r}; there are {', '.join(sorted(self.values))}.")
        return self.values[probe]

    def last(self, probe: str) -> np.ndarray:
        """The values at the last record time, one a seed."""
        return self.curve(probe)[1][:, -1]

    def of(self, chosen: np.ndarray) -> "Rows":
        """The rows of some of the seeds: a truth value for each."""
        seeds = tuple(seed for seed, kept in zip(self.seeds, chosen, strict=True) if kept)
        return Rows(seeds, {probe: (t, v[chosen]) for probe, (t, v) in self.values.items()})


Evidence = Mapping[str, Rows]  # by label


@dataclass(frozen=True)
class Quantity:
    """A named number per seed, computed from rows. `points`: it is a share of so many points."""

    name: str
    of: Callable[[Evidence], np.ndarray]
    points: int = 0

    step: Callable[[Evidence], np.ndarray | None] = lambda rows: None  # where a worst value fell

    def __sub__(self, other: "Quantity") -> "Quantity":
        name = f"{_bracketed(self.name)} − {_bracketed(other.name)}"
        return Quantity(name, lambda rows: self.of(rows) - other.of(rows))


def _bracketed(name: str) -> str:
    return f"[{name}]" if " − " in name else name


def interval(values: np.ndarray, points: int = 0) -> tuple[float, float]:
    """The 99 % interval of the mean over seeds (Student's t).

    For shares of `points` points a seed it is widened to the Clopper–Pearson interval of the
    pooled counts (seeds that agree exactly do not make a share exact) and kept within [0, 1].
    """
    from scipy import stats

    n = len(values)
    if n < 2 or not np.isfinite(values).all():
        return math.nan, math.nan
    mean = float(values.mean())
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
    low, high = mean - half, mean + half
    if points:
        a, b = clopper_pearson(round(float(values.sum()) * points), n * points)
        low, high = max(0.0, min(low, a)), min(1.0, max(high, b))
    return low, high


def clopper_pearson(successes: int, trials: int) -> tuple[float, float]:
    """The exact 99 % interval of a frequency."""
    from scipy import stats

    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if successes == 0 else stats.beta.ppf(tail, successes, trials - successes + 1)
    high = (
        1.0 if successes == trials else stats.beta.ppf(1 - tail, successes + 1, trials - successes)
    )
    return float(low), float(high)


def summary(quantity: Quantity, values: np.ndarray) -> dict[str, Any]:
    """A quantity as the ledger keeps it."""
    low, high = interval(values, quantity.points)
    number = lambda v: float(v) if math.isfinite(v) else None
    return {
        "name": quantity.name,
        "mean": number(values.mean()) if len(values) else None,
        "low": number(low),
        "high": number(high),
        "values": [number(v) for v in values],
    }


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The log–log slope of each row of y (seed, size) against x."""
    log_x = np.log(x) - np.log(x).mean()
    with np.errstate(all="ignore"):
        log_y = np.log(y)
    return (log_y @ log_x) / (log_x @ log_x)
