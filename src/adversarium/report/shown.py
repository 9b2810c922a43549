"""Describe a claim or an experiment as text, without torch."""

import json
import textwrap
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adversarium.digest import Json
from adversarium.plans.catalogue import selected_claims, verdict_key
from adversarium.plans.knobs import knob
from adversarium.plans.loading import load, user_file
from adversarium.plans.papers import Claim, ExperimentInfo, claims, experiments, papers
from adversarium.plans.verdict import Outcome
from adversarium.report import plan_source
from adversarium.report.documents import render
from adversarium.runs.ledger import read
from adversarium.runs.ledger_file import committed

Verdicts = Mapping[str, dict[str, Any]]  # id → entry of a ledger as JSON


def last_verdicts(store: Path) -> dict[str, dict[str, object]]:
    """Return the verdicts of the committed ledger; those of the user's store take precedence."""
    words = {str(word) for word in Outcome}
    verdicts = {e.id: e.plain() for e in committed() if e.verdict in words}
    if store.exists():
        from adversarium.runs.store import Store

        verdicts |= Store(store, readonly=True).verdicts()
    return verdicts


def shown(id: str, store: Path, as_json: bool) -> str:
    """Describe a claim, an experiment, or all claims of a paper or user file, as text or JSON."""
    verdicts = last_verdicts(store)
    known_claims = {claim.id.lower(): claim for claim in claims().values()}
    known_experiments = {info.id.lower(): info for info in experiments().values()}
    if claim := known_claims.get(id.lower()):
        if not as_json:
            return f"{_claim(claim, verdicts)}{_sources(claim)}"
        bibtex = papers()[claim.paper].bibtex
        return _json({"claim": vars(claim), "verdict": verdicts.get(claim.id), "bibtex": bibtex})
    if info := known_experiments.get(id.lower()):
        if not as_json:
            return _experiment(info, verdicts)
        more = _knobs_and_verdicts(info.file, info.claims, verdicts)
        return _json({"experiment": {**vars(info), "file": str(info.file)}, **more})
    chosen, file = selected_claims((id,)), user_file(id)
    verdicts |= {c.id: verdicts[verdict_key(c)] for c in chosen if verdict_key(c) in verdicts}
    ids = tuple(claim.id for claim in chosen)
    if as_json:
        more = _knobs_and_verdicts(file, ids, verdicts) if file is not None else {}
        return _json({"claims": [vars(claim) for claim in chosen], **more})
    if file is not None:
        info = ExperimentInfo(id=id, title=load(id).title, module="", file=file, claims=ids)
        return _experiment(info, verdicts)
    return "\n\n".join(_claim(claim, verdicts) for claim in chosen)


def _json(plain: Mapping[str, object]) -> str:
    return json.dumps(plain, ensure_ascii=False)


def _knobs_and_verdicts(file: Path, ids: tuple[str, ...], verdicts: Verdicts) -> dict[str, object]:
    return {"knobs": plan_source.knobs(file), "verdicts": [verdicts.get(id) for id in ids]}


def _claim(claim: Claim, verdicts: Verdicts) -> str:
    """Return the statement of a claim, its notes and its last verdict."""
    plain = verdicts.get(claim.id) or verdicts.get(claim.alias_of)
    entry = read(plain) if plain else None
    corrected = f"{claim.id}.corrected"
    text = render(
        "claim.txt",
        claim=claim,
        paper=papers()[claim.paper],
        notes={
            "value" if claim.source.startswith("ours") else "paper's value": claim.value,
            "planned evidence": claim.rule,
            "reading": claim.reading,
            "note": claim.note,
        },
        same=claims().get(claim.alias_of),
        entry=entry,
        counts=Counter(str(part.outcome) for part in entry.parts) if entry else {},
        corrected=corrected if corrected in claims() else "",
    )
    return text.rstrip()


def _sources(claim: Claim) -> str:
    """Return the experiment of a claim and the BibTeX entry of its paper."""
    bibtex = textwrap.indent(papers()[claim.paper].bibtex, "  ")
    if not claim.experiment:
        return f"\n\n{bibtex}"
    return f"\n\nexperiment: {_description(experiments()[claim.experiment])}\n\n{bibtex}"


def _description(info: ExperimentInfo) -> str:
    """Return the title, the docstring of the plan, its parameters and its presets."""
    text = render(
        "experiment.txt",
        info=info,
        description=plan_source.description(info.file),
        knobs=[_knob(name, found, info) for name, found in plan_source.knobs(info.file).items()],
        presets=plan_source.presets(info.file),
    )
    return text.rstrip()


def _knob(name: str, found: Json, info: ExperimentInfo) -> str:
    """Describe a parameter: its symbols, type, value at the quick preset, and meaning."""
    known = knob(name, info.id)
    also = f" (also {', '.join(known.symbols)})" if known.symbols else ""
    takes = " ".join(part for part in (found["takes"], known.limits) if part)
    text = f"{takes}, {_plain(found['quick'])}"
    return f"{name}{also}: {'; '.join(part for part in (text, known.says) if part)}"


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_plain, value))}{',' * (len(value) == 1)})"
    return "none" if value is None else str(value)


def _experiment(info: ExperimentInfo, verdicts: Verdicts) -> str:
    """Describe an experiment, and list its claims with their last verdicts."""
    none = {"verdict": f"no verdict yet (run `adversarium verify {info.id}`)"}
    lines = (f"  {id}: {verdicts.get(id, none)['verdict']}" for id in info.claims)
    return "\n".join([_description(info), "", "claims", *lines])
