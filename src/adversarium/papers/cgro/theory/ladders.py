"""Find the N at which memorisation ends as N grows, and compare it with N_c of the same runs."""

from collections.abc import Sequence

import numpy as np

from adversarium.plans import (
    Check,
    Evidence,
    Level,
    Need,
    Present,
    Quantity,
    Run,
    Where,
    last,
    quantity,
)
from adversarium.plans.intervals import slope

from .regime import critical_count


def ladders(rows: Evidence) -> list[Evidence]:
    """Group the runs by d and 1 − γ."""
    groups: dict[tuple[int, float], None] = {}
    for run in rows:
        groups[run.task.coordinates["d"], run.task.coordinates["1 − γ"]] = None
    return [rows.where(Where(None, {"d": d, "1 − γ": gap})) for d, gap in groups]


def switch_point(ladder: Evidence) -> np.ndarray:
    """Return the N at which memorisation ends, one per seed.

    This is the geometric mean of the last N of the unbroken sequence of memorised ones, starting at
    the smallest N, and the next N; it is NaN if all N or none are memorised.
    """
    by_count = ladder.by("N")
    counts = np.array(list(by_count))
    shares = np.stack([run.last("memory_share") for run in by_count.values()], axis=1)
    last = np.cumprod(shares > 0.5, axis=1).sum(1) - 1
    inside = (last >= 0) & (last < len(counts) - 1)
    low, high = counts[last.clip(0)], counts[(last + 1).clip(max=len(counts) - 1)]
    return np.where(inside, np.sqrt(low * high), np.nan)


def switches_near(family: str, low: float, high: float) -> Check:
    """Require that the N at the switch divided by N_c lies in a range, for every d and 1 − γ in the
    plan, with at least three values of 1 − γ."""

    def near(ladder: Evidence) -> Check:
        first = ladder.runs[0].task
        assert isinstance(first, Run)
        N_c, at = critical_count(first), first.coordinates
        group = {"d": at["d"], "1 − γ": at["1 − γ"]}
        name = f"switch over N_c ({Where(None, group).description})"
        runs = Where(family, group)
        needed = Need(runs, ("memory_share",))
        ratio = quantity(name, lambda rows: switch_point(rows.where(runs)) / N_c, needed)
        return Level(ratio, low, high)

    def all_near(rows: Evidence) -> Sequence[Check]:
        groups = ladders(rows.where(Where(family)))
        gaps = {ladder.runs[0].task.coordinates["1 − γ"] for ladder in groups}
        return [near(ladder) for ladder in groups] if len(gaps) >= 3 else []

    return Present("level", all_near, "needs three gaps", (Need(Where(family), ("memory_share",)),))


def ladder_power(family: str, d: int) -> Quantity:
    """Return the power p of N ∝ (1 − γ)^p at the switch, for one d, one per seed; NaN with fewer
    than four values of 1 − γ."""
    runs = Where(family, {"d": d})

    def power(rows: Evidence) -> np.ndarray:
        groups = ladders(rows.where(runs))
        if len(groups) < 4:
            return np.full(len(rows.seeds), np.nan)
        gaps = np.array([ladder.runs[0].task.coordinates["1 − γ"] for ladder in groups])
        return slope(gaps, np.stack([switch_point(ladder) for ladder in groups], axis=1))

    name = f"power of 1 − γ in N at the switch (d = {d})"
    return quantity(name, power, Need(runs, ("memory_share",)))


def unbroken_above(family: str, at_most: float) -> Check:
    """Require a robust test error of at most `at_most` at the largest N of each d and 1 − γ."""

    def tops(rows: Evidence) -> Sequence[Check]:
        checks: list[Check] = []
        for ladder in ladders(rows.where(Where(family))):
            top = list(ladder.by("N").values())[-1].task
            error = last("robust_test_error", Where(family, top.coordinates), 500)
            checks.append(Level(error, high=at_most))
        return checks

    return Present("level", tops, "needs a ladder", (Need(Where(family), ("robust_test_error",)),))


def boundary_power(family: str) -> Quantity:
    """Return the power p of 1 − γ ∝ N^p at which memorisation ends, one per seed.

    The fit uses the N for which memorisation ends within the diagram; the power is NaN with fewer
    than four such N or if they span less than a factor of eight.
    """
    runs = Where(family)

    def power(rows: Evidence) -> np.ndarray:
        cells = rows.where(runs)
        if not len(cells):
            return np.full(len(rows.seeds), np.nan)
        counts = sorted({run.task.coordinates["N"] for run in cells})
        edges = np.stack([_edge(cells.where(Where(None, {"N": N}))) for N in counts], axis=1)
        inside = np.isfinite(edges).all(0)
        x = np.log(np.array(counts, dtype=float)[inside])
        if inside.sum() < 4 or x.max() - x.min() < np.log(8):
            return np.full(len(rows.seeds), np.nan)
        x = x - x.mean()
        return np.log(edges[:, inside]) @ x / (x @ x)

    return quantity("power of N in 1 − γ at the switch", power, Need(runs, ("memory_share",)))


def _edge(column: Evidence) -> np.ndarray:
    """Return the 1 − γ between the last memorised cell and the next for one N, one per seed."""
    by_gap = column.by("1 − γ")
    gaps = np.array(list(by_gap))
    shares = np.stack([run.last("memory_share") for run in by_gap.values()], axis=1)
    last = np.cumprod(shares > 0.5, axis=1).sum(1) - 1
    inside = (last >= 0) & (last < len(gaps) - 1)
    low, high = gaps[last.clip(0)], gaps[(last + 1).clip(max=len(gaps) - 1)]
    return np.where(inside, np.sqrt(low * high), np.nan)
