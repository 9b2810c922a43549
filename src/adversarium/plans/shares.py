"""Find the quantities that are shares, and limit their intervals to [0, 1]."""

from adversarium.plans.run import Run, Task


def shares(task: Task) -> frozenset[str]:
    """Return the quantities that a run's probes declare to be shares; empty for a trial."""
    if not isinstance(task, Run):
        return frozenset()
    return frozenset(
        measure.name
        for one in task.recordings
        for measure in one.measures
        if measure.share or measure.points
    )


def clipped(low: float, high: float) -> tuple[float, float]:
    """Clip the interval of a share to [0, 1].

    >>> clipped(-0.18, 0.28)
    (0.0, 0.28)
    """
    return max(low, 0.0), min(high, 1.0)
