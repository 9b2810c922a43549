"""Where memorisation loses along a ladder of N, beside N_c of the same runs."""

from collections.abc import Sequence

import numpy as np

from adversarium.papers.cgro.regime import critical_count
from adversarium.plans import Check, Evidence, Need, Run, Where, level, present, quantity


def ladders(rows: Evidence) -> list[Evidence]:
    """The runs apart by d and 1 − γ."""
    apart: dict[tuple[int, float], None] = {}
    for run in rows:
        apart[run.task.coordinates["d"], run.task.coordinates["1 − γ"]] = None
    return [rows.where(Where(None, {"d": d, "1 − γ": gap})) for d, gap in apart]


def switch_point(ladder: Evidence) -> np.ndarray:
    """N at which memorisation loses, each seed: between the last N of an unbroken run of memorised
    ones and the next; NaN where all N or none are memorised."""
    by_count = ladder.by("N")
    counts = np.array(list(by_count))
    shares = np.stack([run.last("memory_share") for run in by_count.values()], axis=1)
    last = np.cumprod(shares > 0.5, axis=1).sum(1) - 1
    inside = (last >= 0) & (last < len(counts) - 1)
    low, high = counts[last.clip(0)], counts[(last + 1).clip(max=len(counts) - 1)]
    return np.where(inside, np.sqrt(low * high), np.nan)


def switches_near(family: str, low: float, high: float) -> Check:
    """N at the switch over N_c within a range, for every d and 1 − γ that was run; at least three
    gaps."""

    def near(ladder: Evidence) -> Check:
        first = ladder.runs[0].task
        assert isinstance(first, Run)
        N_c, at = critical_count(first), first.coordinates
        place = {"d": at["d"], "1 − γ": at["1 − γ"]}
        name = f"switch over N_c ({Where(None, place).told})"
        meant = Where(family, place)
        needed = Need(meant, ("memory_share",))
        ratio = quantity(name, lambda rows: switch_point(rows.where(meant)) / N_c, needed)
        return level(ratio, low, high)

    def all_near(rows: Evidence) -> Sequence[Check]:
        apart = ladders(rows.where(Where(family)))
        gaps = {ladder.runs[0].task.coordinates["1 − γ"] for ladder in apart}
        return [near(ladder) for ladder in apart] if len(gaps) >= 3 else []

    return present("level", all_near, "needs three gaps", Need(Where(family), ("memory_share",)))
