"""Audit claims: run what their checks need and the store lacks, then judge them from the rows."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adversarium.digest import digest
from adversarium.plans.compound import Parts, named_parts
from adversarium.plans.evidence import Evidence, Need
from adversarium.plans.experiment import Experiment
from adversarium.plans.loading import file_claims, load
from adversarium.plans.papers import Claim, claims
from adversarium.plans.rules import Check
from adversarium.plans.run import Task, narrowed
from adversarium.plans.verdict import Outcome, Verdict, Why, combine, speaking, undecided
from adversarium.runs.jobs import Job, MissingDataError, resolve, units
from adversarium.runs.ledger import NOT_RUN, NOT_YET, Entry, Facts, Ledger, entry, unjudged
from adversarium.runs.machine import machine
from adversarium.runs.reader import Reader, evidence
from adversarium.runs.scope import decided, judged, judged_rows, regime, spans
from adversarium.runs.store import Store
from adversarium.runs.training_stream import forget_checkpoints
from adversarium.runs.validation import require_recorded, require_returned
from adversarium.runs.where import HERE, Place

Report = Callable[[str, int, int], None]  # (name of the running unit, steps done, total steps)


@dataclass(frozen=True)
class AuditOptions:
    """The options of an audit. Without `seeds`, the seeds of the preset are used. `place` says
    where the runs are computed; `fresh` recomputes stored rows."""

    preset: str = "quick"
    seeds: tuple[int, ...] = ()
    device: str = "cpu"
    place: Place = HERE
    fresh: bool = False
    named: frozenset[str] = frozenset()  # claims requested by their ids

    def chosen(self, experiment: Experiment) -> tuple[int, ...]:
        """Return the seeds for an experiment."""
        return self.seeds or tuple(range(experiment.seeds(self.preset)))


def needed(tasks: Sequence[Task], needs: Sequence[Need]) -> list[Task]:
    """Return the needed tasks, each reduced to the recordings that are needed."""
    kept: list[Task] = []
    for task in tasks:
        asked = [need for need in needs if need.where.meets(task)]
        if asked:
            whole = any(not need.names for need in asked)
            names = frozenset(name for need in asked for name in need.names)
            kept.append(task if whole else narrowed(task, names))
    return kept


def planned_jobs(
    experiment: Experiment, preset: str, needs: Sequence[Need] | None = None
) -> list[Job]:
    """Return the jobs of a plan at a preset: all of them, or only those that match `needs`."""
    tasks: Sequence[Task] = experiment.tasks(preset)
    return [resolve(t) for t in (tasks if needs is None else needed(tasks, needs))]


def run_missing(
    experiment: Experiment,
    jobs: Sequence[Job],
    seeds: Sequence[int],
    reader: Reader,
    options: AuditOptions | None = None,
    report: Report | None = None,
) -> list[str]:
    """Run the missing jobs and store their rows. Return the reasons of the runs that failed."""
    asked = options or AuditOptions()
    lacking: list[tuple[Job, tuple[int, ...]]] = []
    for job in {(job.key, repr(sorted(job.asked.items()))): job for job in jobs}.values():
        lacking += [(job, tuple(seeds))] if asked.fresh else reader.lacking(job, seeds)
    labels = {job.key: job.task.label for job in jobs}
    reasons: dict[str, str] = {}
    waiting = units(lacking, asked.device, reader.store.checkpoints)
    if asked.fresh:
        forget_checkpoints(waiting)

    def progress(done: int, unit_index: int, steps: int, whole: int) -> None:
        if report is not None:
            unit = waiting[unit_index]
            first = unit.jobs[0].task.label
            if len(unit.jobs) > 1:
                first = f"{len(unit.jobs)} runs side by side"
            what = f"{experiment.id} {first} ({done + 1} of {len(waiting)})"
            report(" ".join(what.split()), steps, whole)

    for unit, outcome in asked.place.computed(waiting, experiment.id, progress):
        for block in outcome.blocks:
            reader.store.write(block)
        for job, lost in zip(unit.jobs, unit.seeds, strict=True):
            if job.key in outcome.failures:
                why = outcome.failures[job.key]
                reader.store.fail(job.key, experiment.id, labels[job.key], lost, why)
                reasons[job.key] = why
    named = ((f"{experiment.id} {labels[k]}".strip(), why) for k, why in reasons.items())
    return [" ".join(f"{name}: {why}".split()) for name, why in named]


def audit(
    chosen: Sequence[Claim],
    store: Store,
    options: AuditOptions | None = None,
    report: Report | None = None,
) -> tuple[Ledger, list[str]]:
    """Run the missing jobs that the claims need, and judge the claims. Return the ledger and the
    failed runs.

    Claims whose data are not on this machine are not run. If `quick` is requested but rows of the
    preset `paper` are already stored, the audit uses these, and its entries name this preset.
    """
    began = time.perf_counter()
    asked = options or AuditOptions()
    known = {**claims(), **{c.id: c for c in chosen}}
    targets = [known.get(c.alias_of, c) for c in chosen]
    verdicts: dict[str, tuple[Verdict, Facts]] = {}
    lacking: dict[str, str] = {}
    failures: list[str] = []
    for home in dict.fromkeys(c.experiment for c in targets if c.experiment):
        ids = [c.id for c in targets if c.experiment == home]
        made: dict[str, tuple[Verdict, Facts]] = {}
        try:
            failures += _audited(load(home), dict.fromkeys(ids), store, asked, report, made)
        except MissingDataError as fault:
            lost = [id for id in ids if id not in made]
            lacking |= dict.fromkeys(lost, str(fault))
            failures += [f"{home}: {fault}"] if asked.named & set(lost) else []
        verdicts |= made
    entries = _entries(chosen, verdicts, lacking, known)
    spent = round(time.perf_counter() - began, 3)
    shown = ("cpu", "cores", "device", "torch", "python")
    place = {k: v for k, v in machine(asked.device).items() if k in shown}
    return Ledger(entries, place, spent), failures


def _entries(
    chosen: Sequence[Claim],
    verdicts: Mapping[str, tuple[Verdict, Facts]],
    lacking: Mapping[str, str],
    known: Mapping[str, Claim],
) -> tuple[Entry, ...]:
    """Return the entries of the chosen claims; “not run” if their data are not on this machine."""
    nothing: tuple[Verdict | None, Facts] = (None, Facts())

    def one(claim: Claim) -> Entry:
        home = known.get(claim.alias_of, claim).id
        if home in lacking:
            return unjudged(claim, lacking[home])
        return entry(claim, *verdicts.get(home, nothing), known)

    return tuple(one(claim) for claim in chosen)


def _audited(
    experiment: Experiment,
    ids: Mapping[str, None],
    store: Store,
    options: AuditOptions,
    report: Report | None,
    made: dict[str, tuple[Verdict, Facts]],
) -> list[str]:
    """Add the verdicts of some claims of one experiment to `made`, those that need no run first;
    return the failed runs."""
    reader = Reader(store, experiment.id)
    if options.preset == "quick" and not options.seeds and not options.fresh:
        strong = [id for id in paper_preset_claims(experiment) if id in ids]
        made.update(stored_verdicts(experiment, strong, reader, "paper"))
    left = [id for id in ids if id not in made]
    if not left:
        return confirmed(experiment, made, reader, options, report)
    seeds = options.chosen(experiment)
    # a whole experiment also needs the rows of its figures; a claim needs only its own
    whole = set(left) == set(experiment.checks) and not options.named & set(left)
    require_recorded(experiment, left, experiment.tasks(options.preset))
    needs = [need for id in left for need in experiment.checks[id].needs]
    jobs = planned_jobs(experiment, options.preset, None if whole else needs)
    failures = run_missing(experiment, jobs, seeds, reader, options, report)
    made.update(stored_verdicts(experiment, left, reader, options.preset, options.seeds))
    failures += confirmed(experiment, made, reader, options, report)
    lost = undecided(Why.FAILED, "; ".join(failures))
    none = lost, Facts(preset=options.preset, seeds=len(seeds))
    made.update({id: none for id in left if id not in made})
    return failures


def confirmed(
    experiment: Experiment,
    made: dict[str, tuple[Verdict, Facts]],
    reader: Reader,
    options: AuditOptions,
    report: Report | None,
) -> list[str]:
    """Run fresh seeds for the claims whose failure depends on the seeds, and judge these again."""
    if options.seeds:  # seeds chosen by the user are not confirmed on fresh seeds
        return []
    failures: list[str] = []
    for preset in ("quick", "paper"):
        ids = [id for id, (v, facts) in made.items() if doubtful(v) and facts.preset == preset]
        if ids:
            doubted = [failing_parts(experiment.checks[id], made[id][0]) for id in ids]
            jobs = planned_jobs(experiment, preset, [n for check in doubted for n in check.needs])
            seeds = fresh(range(experiment.seeds(preset)))
            failures += run_missing(
                experiment, jobs, seeds, reader, replace(options, fresh=False), report
            )
            made |= stored_verdicts(experiment, ids, reader, preset)
    return failures


def stored_verdicts(
    experiment: Experiment,
    ids: Collection[str],
    reader: Reader,
    preset: str,
    asked: tuple[int, ...] = (),
) -> dict[str, tuple[Verdict, Facts]]:
    """Return the verdicts of those claims whose rows at a preset are all stored. Run nothing."""
    seeds = asked or (tuple(range(experiment.seeds(preset))) if ids else ())
    whole, made = planned_jobs(experiment, preset) if ids else [], {}
    for id in ids:
        check = experiment.checks[id]
        jobs = list(_narrowed(whole, check.needs))
        rows = evidence(reader, jobs, seeds)
        if rows is not None:
            require_returned(experiment, [id], rows)
            verdict = decided(experiment, claim_of(experiment, id), check, rows)
            facts = _facts(experiment, reader, jobs, seeds, preset)
            based = judged_rows(check, verdict, rows)
            tasks = [run.task for run in based]
            facts = replace(
                facts,
                asked=_words(asked) if asked else "",
                regime=regime(experiment, tasks),
                spans=spans(experiment, tasks, based),
            )
            made[id] = confirm_failure(verdict, check, reader, jobs, seeds), facts
    return made


FRESH = 10_000  # this seed and larger ones are reserved for confirming failures


def fresh(seeds: Sequence[int]) -> tuple[int, ...]:
    """Return as many seeds from those reserved for confirming failures."""
    return tuple(range(FRESH, FRESH + len(seeds)))


def doubtful(verdict: Verdict) -> bool:
    """Return whether a failure depends on the seeds and must be reproduced on fresh ones."""
    return (
        verdict.chance
        and verdict.outcome in (Outcome.FAILS, Outcome.MIXED)
        and bool(_failing(verdict))
    )


def _failing(verdict: Verdict) -> set[str]:
    """Return the names of the parts whose failure depends on the seeds. A failure that does not, a
    counterexample, needs no second one."""
    return {part.name for part in verdict.parts if part.outcome == Outcome.FAILS and part.chance}


def _fails(verdict: Verdict) -> set[str]:
    """Return the names of all failing parts, whether or not they depend on the seeds."""
    return {part.name for part in verdict.parts if part.outcome == Outcome.FAILS}


def failing_parts(check: Check, verdict: Verdict) -> Check:
    """Return the part of a check that must be reproduced: its named parts that fail, or the whole
    check if it has no named parts or if a failing part is not among them."""
    named = named_parts(check)
    failing = {name: named[name] for name in named if name in _failing(verdict)}
    return Parts(failing) if failing and _failing(verdict) <= set(named) else check


def confirm_failure(
    verdict: Verdict, check: Check, reader: Reader, jobs: Sequence[Job], seeds: Sequence[int]
) -> Verdict:
    """Compare a failure that depends on the seeds with fresh seeds, if their rows are stored."""
    doubted = failing_parts(check, verdict)
    needed_jobs = list(_narrowed(jobs, doubted.needs))
    rows = evidence(reader, needed_jobs, fresh(seeds)) if doubtful(verdict) else None
    if rows is None:
        return verdict
    again = judged(doubted, rows)
    if _failing(verdict) <= _fails(again):
        confirmed = f"reproduced on {len(seeds)} fresh seeds"
        return replace(
            verdict, said="; ".join(part for part in (verdict.reason, confirmed) if part)
        )
    if _failing(verdict) & _fails(again) and _failing(verdict) <= set(named_parts(check)):
        return _partly_seen(verdict, again, len(seeds))
    because = f" ({again.reason})" if again.reason else ""
    fresh_verdict = f"{again.outcome} on {len(seeds)} fresh seeds{because}"
    detail = f"{verdict.outcome} ({verdict.reason}), but {fresh_verdict}"
    return replace(verdict, outcome=Outcome.UNDECIDED, why=Why.FEW_SEEDS, detail=detail, said="")


def _partly_seen(verdict: Verdict, again: Verdict, seeds: int) -> Verdict:
    """Return a verdict whose failing parts were reproduced only in part; the rest is undecided."""
    kept, found = [], {part.name: part.reason for part in again.parts}
    for part in verdict.parts:
        if part.name in _failing(verdict) - _fails(again):
            found_reason = found.get(part.name, "")
            reason = f"{Why.FEW_SEEDS}: not reproduced on {seeds} fresh seeds ({found_reason})"
            part = replace(part, outcome=Outcome.UNDECIDED, reason=reason)
        elif part.name in _fails(again):
            part = replace(part, reason=f"{part.reason}, reproduced on {seeds} fresh seeds")
        kept.append(part)
    outcome = combine([part.outcome for part in kept])
    return replace(verdict, outcome=outcome, within=tuple(kept), said=speaking(kept))


def claim_of(experiment: Experiment, id: str) -> Claim | None:
    """Return a claim of an experiment, from the catalogue or from the user's file."""
    own = file_claims(str(experiment.file)) if experiment.file is not None else {}
    return own.get(id, claims().get(id))


def _narrowed(jobs: Sequence[Job], needs: Sequence[Need]) -> Iterator[Job]:
    """Yield the needed jobs, each reduced to the needed recordings. Their keys do not change."""
    for job in jobs:
        for task in needed([job.task], needs):
            yield replace(job, task=task)


def _words(seeds: Sequence[int]) -> str:
    return ",".join(map(str, seeds)) if len(seeds) > 1 else f"{seeds[0]}:{seeds[0] + 1}"


def _facts(
    experiment: Experiment,
    reader: Reader,
    jobs: Sequence[Job],
    seeds: Sequence[int],
    preset: str,
) -> Facts:
    sources = [reader.provenance(job, seeds) for job in jobs]
    return Facts(
        preset=preset,
        seeds=len(seeds),
        engine="+".join(dict.fromkeys(s["engine"] for s in sources)) or None,
        seconds=round(sum(s["seconds"] for s in sources), 3),
        evidence=digest(sorted({job.key for job in jobs}), 12),
    )


def stored_evidence(
    experiment: Experiment, store: Store
) -> tuple[str, tuple[int, ...], list[Job], Evidence] | None:
    """Return the strongest stored evidence: preset, seeds, jobs and rows. Run nothing. Recordings
    that some seeds lack are omitted. The preset `paper` is preferred, unless a larger share of the
    runs of `quick` is stored."""
    reader = Reader(store, experiment.id)
    best, share = None, 0.0
    for preset in ("paper", "quick") if _stronger(experiment) else ("quick",):
        seeds = tuple(range(experiment.seeds(preset)))
        jobs = planned_jobs(experiment, preset)
        made = [(job, rows) for job in jobs if (rows := reader.partial(job, seeds)) is not None]
        if len(made) > share * len(jobs):
            share = len(made) / len(jobs)
            there = Evidence(tuple(rows for _, rows in made))
            best = preset, seeds, [job for job, _ in made], there
    return best


def stored_entries(
    store: Store, chosen: Sequence[Claim], seen: Report = lambda *how_far: None
) -> tuple[Entry, ...]:
    """Judge claims from stored rows only. `seen` is called with the progress."""
    known = {**claims(), **{c.id: c for c in chosen}}
    verdicts: dict[str, tuple[Verdict, Facts]] = {}
    homes = dict.fromkeys(c.experiment for c in known.values() if c.experiment)
    for i, home in enumerate(homes):
        seen("verdicts", i, len(homes))
        experiment = load(home)
        reader = Reader(store, experiment.id)
        verdicts |= stored_verdicts(experiment, experiment.checks, reader, "quick")
        verdicts |= stored_verdicts(experiment, paper_preset_claims(experiment), reader, "paper")
    made = _entries(list(known.values()), verdicts, {}, known)
    return tuple(
        replace(e, verdict=NOT_RUN, reason="this store has no rows of its experiment")
        if e.verdict == NOT_YET and known.get(known[e.id].alias_of, known[e.id]).experiment
        else e
        for e in made
    )


def paper_preset_claims(experiment: Experiment) -> list[str]:
    """Return the claims for which the preset `paper` gives stronger evidence than `quick`: those
    that need rows, if the two presets differ."""
    known = experiment.checks.items() if _stronger(experiment) else ()
    return [id for id, check in known if check.needs]


def _stronger(experiment: Experiment) -> bool:
    """Return whether the preset `paper` differs from `quick`."""
    return experiment.presets.get("paper") not in (None, experiment.presets["quick"])
