"""Require that a plan records the quantities that an experiment's checks and figures need. Runs are
checked before anything runs; trials are checked once they have returned their numbers."""

from collections.abc import Iterable, Sequence

from adversarium.plans.evidence import Evidence
from adversarium.plans.experiment import Experiment
from adversarium.plans.run import Run, Task, Trial


def require_recorded(experiment: Experiment, ids: Iterable[str], tasks: Sequence[Task]) -> None:
    """Raise if a check needs quantities that no run of the plan records, or if it reads one run but
    several are selected."""
    for id in ids:
        for need in experiment.checks[id].needs:
            selected = [
                task.label or "a run without a label" for task in tasks if need.where.meets(task)
            ]
            if need.alone and len(selected) > 1:
                raise ValueError(
                    f"{experiment.file or experiment.id}: the check of {id} reads one run, but "
                    f"{len(selected)} are selected ({'; '.join(selected[:3])}); select one, or "
                    "use each()."
                )
            runs = [t for t in tasks if isinstance(t, Run) and need.where.meets(t)]
            there = {name for run in runs for r in run.recordings for name in r.names}
            asked = [name for name in need.names if name]
            if runs and asked and not there & set(asked):
                raise ValueError(
                    f"{experiment.file or experiment.id}: the check of {id} needs {asked[0]!r}, "
                    f"which the plan does not record; it records {', '.join(sorted(there))}."
                )


def require_drawable(experiment: Experiment, tasks: Sequence[Task]) -> None:
    """Raise if a figure needs quantities that no run of a user's plan records. If the plan has
    trials, do nothing: what they return is not known before they run."""
    runs = [task for task in tasks if isinstance(task, Run)]
    if len(runs) == len(tasks):
        there = {name for run in runs for r in run.recordings for name in r.names}
        _figures(experiment, there, "record")


def require_returned(experiment: Experiment, ids: Iterable[str], rows: Evidence) -> None:
    """Raise if a check needs quantities that no trial of a user's plan returned."""
    if experiment.file is None:
        return
    for id in ids:
        for need in experiment.checks[id].needs:
            trials = [
                run for run in rows if isinstance(run.task, Trial) and need.where.meets(run.task)
            ]
            there = {name for run in trials for name in run.series}
            lost = [name for name in need.names if name not in there]
            if trials and lost and not there & set(need.names):
                raise ValueError(
                    f"{experiment.file}: the check of {id} needs {lost[0]!r}, which no trial "
                    f"returns; the trials return {', '.join(sorted(there)) or 'nothing'}."
                )


def require_shown(experiment: Experiment, rows: Evidence) -> None:
    """Raise if a figure needs quantities that no task of a user's plan produced."""
    if experiment.file is not None and rows.runs:
        _figures(experiment, {name for run in rows for name in run.series}, "produce")


def _figures(experiment: Experiment, there: set[str], verb: str) -> None:
    for figure in experiment.figures:
        for name in figure.y:
            if name not in there:
                raise ValueError(
                    f"{experiment.file}: the figure {figure.name!r} shows {name!r}, which the plan "
                    f"does not {verb}; it {verb}s {', '.join(sorted(there)) or 'nothing'}."
                )
