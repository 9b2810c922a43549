"""Claims → missing runs → rows → verdicts → ledger."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from adversarium.experiments.catalogue import Claim, claims, load, own_claims
from adversarium.experiments.checks import Verdict
from adversarium.experiments.evidence import Evidence, Rows
from adversarium.experiments.spec import Experiment, Run, Trial
from adversarium.sweeps.machine import machine
from adversarium.sweeps.run import key_of, run_tasks, together
from adversarium.sweeps.store import Block, Store, shipped

NOT_YET = "not yet implemented"
NOT_RUN = "not run"
Report = Callable[[str, int, int], None]  # (what runs, steps done, steps in all)
Tasks = Sequence[Run | Trial]


class Reader:
    """Rows of one experiment, from the user's store or the row files shipped with the code."""

    def __init__(self, store: Store, experiment: str) -> None:
        self.store = store
        self._shipped = {b.key: b for b in shipped(experiment)}

    def rows(self, key: str, seeds: Sequence[int]) -> Rows | None:
        """The rows of a run, if every seed is there."""
        found = self.store.read(key, seeds)
        block = self._shipped.get(key)
        if found is None and block is not None and set(seeds) <= set(block.seeds):
            pick = [block.seeds.index(s) for s in seeds]
            return Rows(tuple(seeds), {p: (t, v[pick]) for p, (t, v) in block.rows.items()})
        return found

    def provenance(self, key: str, seeds: Sequence[int]) -> dict[str, Any]:
        """Engine, refusals, seconds and machine of a run."""
        if self.store.read(key, seeds) is not None:
            return self.store.provenance(key, seeds)
        block: Block = self._shipped[key]
        own = {"engine": block.engine, "refused": block.refused}
        return {**own, "seconds": block.seconds * len(seeds), **block.provenance}


def evidence(reader: Reader, tasks: Tasks, seeds: Sequence[int]) -> Evidence | None:
    """The rows of a plan by label, if all are there."""
    found: dict[str, Rows] = {}
    for task in tasks:
        rows = reader.rows(key_of(task), seeds)
        if rows is None:
            return None
        found[task.label] = rows
    return found


def run_missing(
    experiment: Experiment,
    tasks: Tasks,
    seeds: Sequence[int],
    reader: Reader,
    device: str,
    report: Report | None,
    fresh: bool = False,
) -> list[str]:
    """Runs what a plan still needs; returns the reasons of the runs that failed."""
    failures = []
    lacking = [t for t in tasks if fresh or reader.rows(key_of(t), seeds) is None]
    done = len(tasks) - len(lacking)
    for group in together(lacking):
        done += len(group)
        first = group[0].label if len(group) == 1 else f"{len(group)} runs side by side"
        what = f"{experiment.id} {first} ({done} of {len(tasks)})".replace("  ", " ")
        progress = (lambda d, n, w=what: report(w, d, n)) if report else None
        failed = run_tasks(group, experiment.id, seeds, reader.store, device, progress, fresh)
        for task in group:
            if task.label in failed:
                why = failed[task.label]
                reader.store.fail(key_of(task), experiment.id, task.label, seeds, why)
                failures.append(f"{experiment.id} {task.label}: {why}".replace("  ", " "))
    return failures


def judged(experiment: Experiment, id: str, rows: Evidence) -> Verdict:
    """The verdict of one check on the rows."""
    return experiment.checks[id].judge(rows)


def entry(claim: Claim, verdict: Verdict | None, **facts: Any) -> dict[str, Any]:
    """A claim as the ledger has it (the keys are a contract)."""
    known = claims()
    corrected = f"{claim.id}.corrected"
    target = known.get(claim.alias_of, claim)
    expected = None
    if claim.value or (verdict and (verdict.low is not None or verdict.high is not None)):
        expected = {
            "text": claim.value,
            "low": verdict.low if verdict else None,
            "high": verdict.high if verdict else None,
        }
    return {
        "id": claim.id,
        "paper": claim.paper,
        "source": claim.source,
        "statement": claim.statement,
        "kind": claim.kind,
        "verdict": verdict.verdict if verdict else NOT_YET,
        "measured": list(verdict.measured) if verdict else [],
        "expected": expected,
        "reason": verdict.reason if verdict else "",
        "seeds": facts.get("seeds", 0),
        "preset": facts.get("preset"),
        "engine": facts.get("engine"),
        "seconds": facts.get("seconds", 0.0),
        "corrected": corrected if corrected in known else None,
        "command": _command(target, facts) if verdict else None,
        "note": claim.note,
    }


def _command(claim: Claim, facts: Mapping[str, Any]) -> str:
    """The call that repeats the entry."""
    what = claim.experiment if claim.experiment.endswith(".py") else claim.id
    seeds = f" --seeds {facts['asked']}" if facts.get("asked") else ""
    return f"adversarium verify {what} --preset {facts['preset']}{seeds}"


def audit(
    chosen: Sequence[Claim],
    store: Store,
    preset: str = "quick",
    seeds: Sequence[int] = (),
    device: str = "cpu",
    report: Report | None = None,
    fresh: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    """Runs what the claims still need and judges them: the ledger, and the runs that failed.

    Stronger evidence that is already there (`paper` where `quick` was asked) is taken and named.
    """
    began = time.perf_counter()
    known = {**claims(), **{c.id: c for c in chosen}}
    homes = dict.fromkeys(known.get(c.alias_of, c).experiment for c in chosen)
    verdicts: dict[str, tuple[Verdict, dict[str, Any]]] = {}
    failures: list[str] = []
    for home in homes:
        if home:
            found, failed = _experiment(load(home), store, preset, seeds, device, report, fresh)
            verdicts |= found
            failures += failed
    entries = []
    for claim in chosen:
        verdict, facts = verdicts.get(known.get(claim.alias_of, claim).id, (None, {}))
        entries.append(entry(claim, verdict, **facts))
    ledger = {"claims": entries, "machine": _machine(device)}
    return {**ledger, "seconds": round(time.perf_counter() - began, 3)}, failures


def _machine(device: str) -> dict[str, Any]:
    whole = machine(device)
    return {k: whole[k] for k in ("cpu", "cores", "device", "torch", "python")}


def _experiment(
    experiment: Experiment,
    store: Store,
    preset: str,
    seeds: Sequence[int],
    device: str,
    report: Report | None,
    fresh: bool,
) -> tuple[dict[str, tuple[Verdict, dict[str, Any]]], list[str]]:
    reader = Reader(store, experiment.id)
    failures: list[str] = []
    rows, used, tasks = None, preset, experiment.runs(preset)
    chosen = tuple(seeds) or tuple(range(experiment.seeds(preset)))
    if preset == "quick" and not seeds and not fresh:
        strong = tuple(range(experiment.seeds("paper")))
        rows = evidence(reader, experiment.runs("paper"), strong)
        if rows is not None:
            used, tasks, chosen = "paper", experiment.runs("paper"), strong
    if rows is None:
        failures = run_missing(experiment, tasks, chosen, reader, device, report, fresh)
        rows = evidence(reader, tasks, chosen)
    if rows is None:
        lost = Verdict("undecided", (), None, None, f"a run failed: {'; '.join(failures)}")
        facts = {"preset": used, "seeds": len(chosen)}
        return dict.fromkeys(experiment.checks, (lost, facts)), failures
    facts = _facts(reader, tasks, chosen, used)
    if seeds:
        facts["asked"] = (
            ",".join(map(str, seeds)) if len(seeds) > 1 else f"{seeds[0]}:{seeds[0] + 1}"
        )
    found = {id: (judged(experiment, id, rows), facts) for id in experiment.checks}
    return found, failures


def _facts(reader: Reader, tasks: Tasks, seeds: Sequence[int], preset: str) -> dict[str, Any]:
    sources = [reader.provenance(key_of(task), seeds) for task in tasks]
    return {
        "preset": preset,
        "seeds": len(seeds),
        "engine": "+".join(dict.fromkeys(s["engine"] for s in sources)),
        "seconds": round(sum(s["seconds"] for s in sources), 3),
    }


def stored_evidence(
    experiment: Experiment, store: Store
) -> tuple[str, tuple[int, ...], Tasks, Evidence] | None:
    """The strongest complete evidence that is there: preset, seeds, tasks, rows. Trains nothing."""
    reader = Reader(store, experiment.id)
    for preset in ("paper", "quick"):
        tasks = experiment.runs(preset)
        seeds = tuple(range(experiment.seeds(preset)))
        rows = evidence(reader, tasks, seeds)
        if rows is not None:
            return preset, seeds, tasks, rows
    return None


def stored_entries(store: Store, own: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Every claim, judged from stored rows alone."""
    known = {**claims(), **{c.id: c for word in own for c in claims_of(word)}}
    verdicts: dict[str, tuple[Verdict, dict[str, Any]]] = {}
    for home in dict.fromkeys(c.experiment for c in known.values() if c.experiment):
        experiment = load(home)
        found = stored_evidence(experiment, store)
        if found is None:
            lost = Verdict(NOT_RUN, (), None, None, "no rows in this store")
            verdicts |= {id: (lost, {"preset": "quick"}) for id in experiment.checks}
            continue
        preset, seeds, tasks, rows = found
        facts = _facts(Reader(store, experiment.id), tasks, seeds, preset)
        verdicts |= {id: (judged(experiment, id, rows), facts) for id in experiment.checks}
    entries = []
    for claim in known.values():
        verdict, facts = verdicts.get(known.get(claim.alias_of, claim).id, (None, {}))
        entries.append(entry(claim, verdict, **facts))
    return entries


def claims_of(word: str) -> list[Claim]:
    """The claims of a user's own file."""
    load(word)
    return list(own_claims(word).values())


def write_ledger(path: Path, ledger: Mapping[str, Any]) -> None:
    """Writes the ledger; a partial audit replaces only its own entries."""
    fresh = {e["id"]: e for e in ledger["claims"]}
    entries = list(fresh.values())
    if path.exists():
        try:
            old = json.loads(path.read_text(encoding="utf-8"))["claims"]
            _ = [e["id"] for e in old]
        except (ValueError, KeyError, TypeError) as fault:
            raise ValueError(f"{path} is not a ledger ({fault}); it was left untouched.") from fault
        kept = {e["id"]: fresh.get(e["id"], e) for e in old} | fresh
        order = {id: i for i, id in enumerate(claims())}
        entries = sorted(kept.values(), key=lambda e: order.get(e["id"], len(order)))
    whole = {**ledger, "claims": entries}
    text = json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as fault:
        raise ValueError(f"the ledger {path} cannot be written ({fault.strerror}).") from fault
