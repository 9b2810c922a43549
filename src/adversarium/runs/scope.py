"""Decide claims: judge their parts, then limit the verdicts to what the judged runs cover.

“Holds” and “fails” need every hypothesis that the statement supposes; “holds” also needs enough
values of every symbol that the statement quantifies over.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from adversarium.plans import compound
from adversarium.plans.compound import named_parts
from adversarium.plans.evidence import Evidence
from adversarium.plans.experiment import Experiment
from adversarium.plans.gates import Gate
from adversarium.plans.papers import Claim, papers
from adversarium.plans.rules import Check
from adversarium.plans.run import Read, Run, Task
from adversarium.plans.verdict import Outcome, Verdict, Why, combine, speaking


def regime(experiment: Experiment, tasks: Sequence[Task]) -> tuple[Gate, ...]:
    """Return each hypothesis of the paper for the run that satisfies it with the smallest slack,
    with the name of this run."""
    if experiment.gates is None:
        return ()
    worst: dict[str, Gate] = {}
    for task in tasks:
        for gate in _gates(experiment, task):
            before = worst.get(gate.text)
            if before is None or _room(gate) < _room(before):
                worst[gate.text] = replace(gate, run=task.label)
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


def judged(check: Check, rows: Evidence) -> Verdict:
    """Return the verdict of a check, judged only on the rows that it needs."""
    return compound.judged(check, rows.needed(check.needs))


def decided(experiment: Experiment, claim: Claim | None, check: Check, rows: Evidence) -> Verdict:
    """Return the verdict of a claim. Every part is judged and then limited by its own runs."""
    verdict = judged(check, rows)
    if claim is None:
        return verdict
    verdict = _limited(check, verdict, _Hypotheses(experiment, claim, check, rows, verdict))
    verdict = _limited(check, verdict, _Coverage(experiment, claim, rows))
    return _labelled(verdict, experiment, claim, check, rows)


def judged_rows(check: Check, verdict: Verdict, rows: Evidence) -> Evidence:
    """Return the rows on which a verdict is based: those of its parts, except for parts that are
    only reported."""
    judged_names = {part.name for part in verdict.parts if part.outcome in _JUDGED}
    named = named_parts(check)
    needs = [need for name, part in named.items() if name in judged_names for need in part.needs]
    return rows.needed(needs or check.needs)


_JUDGED = (Outcome.HOLDS, Outcome.FAILS, Outcome.MIXED, Outcome.UNDECIDED)

_Limit = Callable[[str, Outcome, Check], tuple[Why, str] | None]


def _limited(check: Check, verdict: Verdict, limit: _Limit) -> Verdict:
    """Make those parts undecided for which `limit` (name, outcome, check) returns a reason."""
    named = named_parts(check)
    if not named:
        if (found := limit("", verdict.outcome, check)) is None:
            return verdict
        why, detail = found
        return replace(verdict, outcome=Outcome.UNDECIDED, why=why, detail=detail, said="")
    parts = []
    for part in verdict.parts:
        found = limit(part.name, part.outcome, named[part.name]) if part.name in named else None
        if found is not None:
            part = replace(part, outcome=Outcome.UNDECIDED, reason=": ".join(found))
        parts.append(part)
    if tuple(parts) == verdict.parts:
        return verdict
    outcome = combine([part.outcome for part in parts])
    return replace(verdict, outcome=outcome, within=tuple(parts), said=speaking(parts))


@dataclass(frozen=True)
class _Hypotheses:
    """Limit a part to runs that satisfy the hypotheses of its statement.

    A hypothesis that is not satisfied does not limit the part if the claim waives it: for a proof,
    for a statement that does not suppose it, or for an arm, another part that satisfies it and has
    the same verdict. In the name of an arm, {} stands for the name of the part.
    """

    experiment: Experiment
    claim: Claim
    check: Check
    rows: Evidence
    verdict: Verdict

    def __call__(self, name: str, outcome: Outcome, check: Check) -> tuple[Why, str] | None:
        if outcome not in (Outcome.HOLDS, Outcome.FAILS):
            return None
        bound = [g for g in self._unmet(check) if not self._waived(g, name, outcome)]
        listed = "; ".join(f"{gate} ({gate.run})" for gate in bound)
        return (Why.REGIME, listed) if bound else None

    def _unmet(self, check: Check) -> list[Gate]:
        tasks = [run.task for run in self.rows.needed(check.needs)]
        return [g for g in regime(self.experiment, tasks) if g.printed and not g.holds]

    def _waived(self, gate: Gate, name: str, outcome: Outcome) -> bool:
        reason = waiver(self.claim.waived, gate)
        if not reason.startswith(ARM):
            return bool(reason)
        arm = reason.removeprefix(ARM).replace("{}", name)
        alike = any(p.name == arm and p.outcome == outcome for p in self.verdict.parts)
        part = named_parts(self.check).get(arm)
        return alike and part is not None and gate.text not in [g.text for g in self._unmet(part)]


ARM = "arm: "


def waiver(waived: Mapping[str, str], gate: Gate) -> str:
    """Return why a hypothesis does not limit a claim; empty if it does."""
    for text, reason in waived.items():
        if text == "*" or gate.text.startswith(text):
            return reason
    return ""


@dataclass(frozen=True)
class _Coverage:
    """Limit a part that holds to statements about symbols of which its runs have at least three
    values, spanning a factor of four, unless a proof covers the others."""

    experiment: Experiment
    claim: Claim
    rows: Evidence

    def __call__(self, name: str, outcome: Outcome, check: Check) -> tuple[Why, str] | None:
        if self.claim.proved or outcome != Outcome.HOLDS:
            return None
        letters = self.claim.for_part.get(name, self.claim.for_all)
        rows = self.rows.needed(check.needs)
        narrow = _narrow(letters, spans(self.experiment, [run.task for run in rows], rows))
        return (Why.SPANS, narrow) if narrow else None


def _labelled(
    verdict: Verdict, experiment: Experiment, claim: Claim, check: Check, rows: Evidence
) -> Verdict:
    """Add to a violation by one of the paper's own experiments that it is outside the hypotheses,
    if it is."""
    if (
        verdict.outcome not in (Outcome.FAILS, Outcome.MIXED)
        or PUBLISHED not in claim.waived.values()
    ):
        return verdict
    tasks = [run.task for run in judged_rows(check, verdict, rows)]
    unmet = [str(gate) for gate in regime(experiment, tasks) if gate.printed and not gate.holds]
    if not unmet:
        return verdict
    outside = f"outside the theorem's hypotheses ({'; '.join(unmet)})"
    return replace(verdict, said="; ".join(text for text in (verdict.reason, outside) if text))


PUBLISHED = "published"  # the waiver of the paper's own experiments


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
