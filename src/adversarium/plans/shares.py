"""Where a number of a probe's table can lie: what its probe calls a share stays in [0, 1]."""

from adversarium.plans.run import Run, Task


def shares(task: Task) -> frozenset[str]:
    """The names of the numbers that a run's probes call shares; a trial says of none."""
    if not isinstance(task, Run):
        return frozenset()
    return frozenset(
        measure.name
        for one in task.recordings
        for measure in one.measures
        if measure.share or measure.points
    )


def clipped(low: float, high: float) -> tuple[float, float]:
    """An interval of a share.

    >>> clipped(-0.18, 0.28)
    (0.0, 0.28)
    """
    return max(low, 0.0), min(high, 1.0)
