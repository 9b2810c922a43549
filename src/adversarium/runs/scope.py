"""Compute the scope of evidence: by what factors its runs satisfy the paper's hypotheses, which
values of each symbol it spans, and whether these suffice for a statement about all values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adversarium.plans.compound import named_parts
from adversarium.plans.evidence import Evidence
from adversarium.plans.experiment import Experiment
from adversarium.plans.gates import Gate
from adversarium.plans.papers import Claim, papers
from adversarium.plans.rules import Check
from adversarium.plans.run import Read, Run, Task
from adversarium.plans.verdict import Outcome, Verdict, Why, combine, speaking


def regime(experiment: Experiment, tasks: Sequence[Task]) -> tuple[Gate, ...]:
    """Return each hypothesis of the paper for the run that satisfies it with the smallest slack."""
    if experiment.gates is None:
        return ()
    worst: dict[str, Gate] = {}
    for task in tasks:
        for gate in _gates(experiment, task):
            before = worst.setdefault(gate.text, gate)
            if _room(gate) < _room(before):
                worst[gate.text] = gate
    return tuple(worst.values())


def assumptions(experiment: Experiment, task: Task) -> list[dict[str, object]]:
    """Return the paper's hypotheses for one run as JSON values."""
    return [
        {"text": g.text, "factor": g.factor, "holds": g.holds, "printed": g.printed, "told": str(g)}
        for g in _gates(experiment, task)
    ]


def _gates(experiment: Experiment, task: Task) -> Sequence[Gate]:
    """Return the hypotheses for a run or trial; none for a trial of a user's file."""
    known = experiment.file is None or isinstance(task, Run)
    return experiment.gates(task) if experiment.gates is not None and known else ()


def _room(gate: Gate) -> float:
    """Return how far a hypothesis's factor is inside its range; negative if outside."""
    return min(gate.factor - gate.low, gate.high - gate.factor)


_COUNTED = ("class", "unit", "point")  # axes that only number things; no statement is about them


def spans(
    experiment: Experiment, tasks: Sequence[Task], rows: Evidence | None = None
) -> dict[str, tuple[float, ...]]:
    """Return the values that the evidence contains, in increasing order, for every symbol of the
    paper, every coordinate of the runs and every axis of their quantities."""
    paper = papers().get(experiment.id.split(".")[0])
    letters = dict(paper.letters) if paper and experiment.file is None else {}
    values: dict[str, list[float]] = {}
    for task in tasks:
        named = {k: v for k, v in task.at.items() if _path(v) not in letters.values()}
        places = {k: v for k, v in task.coordinates.items() if k in named}
        for letter, value in {**_lettered(task, letters), **places}.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                values.setdefault(letter, []).append(value)
    for series in (s for run in rows or () for s in run.series.values()):
        for axis, at in series.axes.items():
            if axis not in _COUNTED:
                values.setdefault(axis, []).extend(at)
    return {letter: tuple(sorted(set(v))) for letter, v in values.items()}


def _path(coordinate: object) -> str:
    """Return the path of the field from which a coordinate is read; empty if it is a constant."""
    return coordinate.path if isinstance(coordinate, Read) else ""


def _lettered(task: Task, letters: Mapping[str, str]) -> dict[str, object]:
    """Return the values of those symbols of a paper that a task has."""
    places = {}
    for letter, path in letters.items():
        for way in (path, letter):  # a trial may have a parameter of that name
            try:
                places[letter] = Read(way).of(task)
                break
            except (AttributeError, KeyError, TypeError):
                continue
    return places


PLACES, WIDE = 3, 4.0  # a statement for all values needs this many values, spanning this factor


Spans = Mapping[str, Sequence[float]]


def spanning(
    claim: Claim | None, check: Check, verdict: Verdict, reach: Callable[[Check], Spans]
) -> Verdict:
    """Make “holds” undecided if a statement is about all values of a symbol but the evidence has
    fewer than three values of it that span a factor of four, and no proof covers the others. Every
    named part is judged by the values in its own evidence, which `reach` returns."""
    if claim is None or claim.proved:
        return verdict
    named = named_parts(check)
    if not named:
        narrow = _narrow(claim.for_all, reach(check)) if verdict.outcome == Outcome.HOLDS else ""
        if not narrow:
            return verdict
        return replace(verdict, outcome=Outcome.UNDECIDED, why=Why.SPANS, detail=narrow, said="")
    parts = []
    for part in verdict.parts:
        letters = claim.for_part.get(part.name, claim.for_all)
        holds = part.outcome == Outcome.HOLDS and part.name in named
        if narrow := _narrow(letters, reach(named[part.name])) if holds else "":
            part = replace(part, outcome=Outcome.UNDECIDED, reason=f"{Why.SPANS}: {narrow}")
        parts.append(part)
    if tuple(parts) == verdict.parts:
        return verdict
    outcome = combine([part.outcome for part in parts])
    return replace(verdict, outcome=outcome, within=tuple(parts), said=speaking(parts))


def _narrow(letters: Sequence[str], spans: Spans) -> str:
    """Name the symbols for which the evidence has too few values; empty if there are none."""
    few = {letter: spans.get(letter, ()) for letter in letters}
    gaps = "; ".join(f"{name}: {_few(v)}" for name, v in few.items() if not _wide(v))
    return f"{gaps} (three values that span a factor of four are needed)" if gaps else ""


def _wide(values: Sequence[float]) -> bool:
    sizes = {abs(v) for v in values if v}
    return len(sizes) >= PLACES and max(sizes) >= WIDE * min(sizes)


def _few(values: Sequence[float]) -> str:
    return ", ".join(f"{v:g}" for v in sorted(set(values))) or "not varied"
