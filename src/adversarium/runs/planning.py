"""Plan a command: the jobs of an experiment with changes, checked before anything runs."""

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adversarium.digest import digest
from adversarium.plans.catalogue import experiment_ids
from adversarium.plans.experiment import Experiment
from adversarium.plans.loading import file_claims, load
from adversarium.plans.papers import claims
from adversarium.plans.run import Run, Task
from adversarium.runs.audit import AuditOptions, needed
from adversarium.runs.changes import planned
from adversarium.runs.differences import (
    changes_of,
    kept_radii,
    published_pairs,
    reach_note,
    resolved,
)
from adversarium.runs.jobs import Job, resolve
from adversarium.runs.validation import require_drawable, require_recorded


@dataclass(frozen=True)
class Plan:
    """The jobs of an experiment with changes, the published counterpart of each, the claims to
    judge, and notes such as the runs that a change does not affect."""

    experiment: Experiment
    preset: str
    jobs: tuple[Job, ...]
    published: tuple[Task | None, ...]
    claims: tuple[str, ...]
    changes: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    plain: tuple[Task, ...] = ()  # all published tasks

    @property
    def mark(self) -> str:
        """Return the changes as text; empty if there are none."""
        return ", ".join(f"{name} = {value}" for name, value in self.changes.items())

    @property
    def folder(self) -> str:
        """Return the name of the folder for the output of changed runs; empty if nothing is
        changed."""
        return folder_of(self.changes) if self.changes else ""

    def changed(self, i: int) -> dict[str, tuple[object, object]]:
        """Return the fields in which a job differs from its published counterpart: path → (old,
        new). If no such field is found (a change of a probe) or there is no counterpart, return
        the names that were set."""
        task, before = self.jobs[i].task, self.published[i]
        found = changes_of(task, before)
        if (
            found
            or not self.changes
            or (before and digest(task.identity) == digest(before.identity))
        ):
            return found
        return {name: (self._before(name), value) for name, value in self.changes.items()}

    def _before(self, name: str) -> object:
        """Return the published value of a parameter of the plan, or of a field of the runs (a list
        if the runs have several values)."""
        if name in inspect.signature(self.experiment.plan).parameters:
            return self.experiment.knob_value(self.preset, name)
        several: list[Any] = []
        for value in (resolved(task).get(name) for task in self.plain):
            several += [value] * (value is not None and value not in several)
        return several[0] if len(several) == 1 else several or None


def folder_of(changes: Mapping[str, object]) -> str:
    """Return a readable folder name for changes. Different changes have different names.

    >>> folder_of({"m": 4, "lam": 0.9})
    'changed m=4, lam=0.9'
    """
    words = ", ".join(f"{name}={value}" for name, value in changes.items())
    plain = "".join(c if c.isalnum() or c in "=.,_-+ ()" else "-" for c in words)
    if plain != words or len(plain) > 80:
        plain = f"{plain[:80]} {hashlib.sha256(words.encode()).hexdigest()[:8]}"
    return f"changed {plain}"


def homes(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the experiments that words select, each once, as (experiment, claim). The claim is
    empty unless the word is the id of a claim."""
    named: dict[tuple[str, str], None] = {}
    for word in words:
        claim = claims().get(word)
        target = claims().get(claim.alias_of, claim).id if claim is not None else ""
        for home in experiment_ids(word):
            named[home, target if target != home and claim is not None else ""] = None
    return list(named)


def plan(home: str, claim: str, options: AuditOptions, changes: Mapping[str, object]) -> Plan:
    """Return an experiment's jobs with changes; for one claim, only those that its check needs."""
    experiment = load(home)
    chosen = (claim,) if claim else tuple(experiment.checks)
    tasks, plain = (planned(experiment, options.preset, given) for given in (changes, {}))
    if experiment.file is not None:
        file_claims(str(experiment.file))
        require_recorded(experiment, chosen, plain)
        require_drawable(experiment, tasks)
    needs = experiment.checks[claim].needs if claim else None
    kept = tasks if needs is None else needed(tasks, needs)
    published = published_pairs(kept, plain if needs is None else needed(plain, needs))
    notes = [
        *_reach(experiment, options.preset, changes, kept),
        *kept_radii(changes, kept, published),
    ]
    notes += _never(kept)
    if changes and tasks == plain:
        text = ", ".join(f"{name} = {value}" for name, value in changes.items())
        changes, notes = {}, [*notes, f"{text} has no effect: these are the published runs"]
    jobs = tuple(resolve(task) for task in kept)
    return Plan(
        experiment, options.preset, jobs, tuple(published), chosen, changes, tuple(notes), plain
    )


def _reach(
    experiment: Experiment, preset: str, changes: Mapping[str, object], tasks: Sequence[Task]
) -> list[str]:
    """Return a note for every change that affects only some runs, with the names of the others."""
    notes = []
    for name in changes:
        others = {k: v for k, v in changes.items() if k != name}
        without = published_pairs(tasks, planned(experiment, preset, others))
        if note := reach_note(name, tasks, without):
            notes.append(note)
    return notes


def _never(tasks: Sequence[Task]) -> list[str]:
    """Return a note for every record time of a probe that is later than its run's last step."""
    runs = [task for task in tasks if isinstance(task, Run)]
    late = {
        (t, run.steps) for run in runs for probe in run.probes
        for t in getattr(probe, "times", None) or () if t > run.steps
    }  # fmt: skip
    return [f"t = {t} is after the last step ({steps}) and is not recorded"
            for t, steps in sorted(late)[:4]]  # fmt: skip
