"""Describe a claim or an experiment as text, without torch."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adversarium.digest import Json
from adversarium.plans.catalogue import selected_claims, verdict_key
from adversarium.plans.knobs import knob
from adversarium.plans.loading import load, user_file
from adversarium.plans.papers import Claim, ExperimentInfo, claims, experiments, papers
from adversarium.plans.verdict import Outcome
from adversarium.report import plan_source
from adversarium.report.claim_text import claim_text, related_ids
from adversarium.report.documents import render
from adversarium.report.verdict_lines import claim_lines, counts_table, cut, width
from adversarium.runs.ledger import Entry, read, unjudged
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


def shown(id: str, store: Path, as_json: bool, whole: bool = False) -> str:
    """Describe a claim, an experiment, a paper or a user file, as text or JSON. The text has at
    most 40 lines, unless `whole` is set."""
    verdicts = last_verdicts(store)
    known_claims = {claim.id.lower(): claim for claim in claims().values()}
    known_experiments = {info.id.lower(): info for info in experiments().values()}
    if claim := known_claims.get(id.lower()):
        if as_json:
            bibtex = papers()[claim.paper].bibtex
            verdict = verdicts.get(claim.id)
            return _json({"claim": vars(claim), "verdict": verdict, "bibtex": bibtex})
        if whole:
            return f"{_claim(claim, verdicts)}{_sources(claim)}"
        return "\n".join(_brief_claim(claim, verdicts))
    if info := known_experiments.get(id.lower()):
        if not as_json:
            return _experiment(info, verdicts, whole)
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
        return _experiment(info, verdicts, whole)
    if whole:
        return "\n\n".join(_claim(claim, verdicts) for claim in chosen)
    return "\n".join(_paper(chosen, verdicts))


def _json(plain: Mapping[str, object]) -> str:
    return json.dumps(plain, ensure_ascii=False)


def _knobs_and_verdicts(file: Path, ids: tuple[str, ...], verdicts: Verdicts) -> dict[str, object]:
    return {"knobs": plan_source.knobs(file), "verdicts": [verdicts.get(id) for id in ids]}


def last_entries(ids: Iterable[str], store: Path) -> list[Entry]:
    """Return the entries of claims with their last verdicts."""
    return _entries(ids, last_verdicts(store))


def _entries(ids: Iterable[str], verdicts: Verdicts) -> list[Entry]:
    """Return the entries of claims: their last verdicts, or “not yet implemented” or “not run”."""
    known, made = claims(), []
    for id in ids:
        plain = verdicts.get(id)
        if plain is not None:
            made.append(read(plain))
        elif id in known:
            made.append(unjudged(known[id], "no verdict yet"))
    return made


def _brief_claim(claim: Claim, verdicts: Verdicts) -> list[str]:
    plain = verdicts.get(claim.id) or verdicts.get(claim.alias_of)
    published = {e.id: e.verdict for e in committed()}
    related = _entries(related_ids(claim), verdicts)
    last = replace(read(plain), id=claim.id) if plain else None
    if last is None and claim.id in claims() and not claim.experiment:
        last = unjudged(claim)
    return claim_text(claim, last, published, related)


def _paper(chosen: Sequence[Claim], verdicts: Verdicts) -> list[str]:
    """Return a summary of the claims of one paper: counts, and those that fail."""
    paper = papers()[chosen[0].paper]
    entries = [e for e in _entries((c.id for c in chosen), verdicts) if not e.alias_of]
    lines = textwrap.wrap(f"{paper.key}  {paper.title}", width())
    lines += textwrap.wrap(f"{paper.authors}. {paper.note}", width())
    for sentence in paper.answer:
        lines += textwrap.wrap(sentence, width() - 4, initial_indent="  ", subsequent_indent="    ")
    lines += ["", *counts_table(entries)]
    foot = [
        "",
        f"one claim     adversarium show {entries[0].id}",
        f"every claim   adversarium list claims --paper {paper.tag}",
        f"run it again  adversarium verify {paper.tag}",
    ]
    bad = [e for e in entries if e.verdict in ("fails", "mixed")]
    bad.sort(key=lambda e: e.verdict != "fails")
    room = MOST_LINES - len(lines) - len(foot) - 3
    lines += ["", "fails or mixed", *claim_lines(bad[:room], why=True)] if bad else []
    if len(bad) > room:
        lines.append(f"    {len(bad) - room} more: adversarium list claims --paper {paper.tag}")
    return [*lines, *foot]


MOST_LINES = 40


def _claim(claim: Claim, verdicts: Verdicts) -> str:
    """Return everything about a claim: statement, notes, all numbers of its last verdict."""
    plain = verdicts.get(claim.id) or verdicts.get(claim.alias_of)
    last = read(plain) if plain else None
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
        entry=last,
        counts=Counter(str(part.outcome) for part in last.parts) if last else {},
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


def _experiment(info: ExperimentInfo, verdicts: Verdicts, whole: bool) -> str:
    """Describe an experiment, and list its claims with their last verdicts."""
    found = {e.id: e for e in _entries(info.claims, verdicts)}
    bare = [id for id in info.claims if id not in found]
    listed = [*claim_lines(found.values()), *(f"  ○ {id}  no verdict yet" for id in bare)]
    run = f"adversarium run {info.id}"
    if whole:
        return "\n".join([_description(info), "", "claims", *listed])
    first = plan_source.description(info.file).split("\n\n")
    about = [line for text in first[1:3] for line in _paragraph(text)]
    knobs = [
        cut(f"  {_knob(name, known, info)}", width())
        for name, known in plan_source.knobs(info.file).items()
    ]
    room = MOST_LINES - 9 - min(len(about), 6)
    claims_room = max(room - len(knobs), 10)
    knobs_room = room - min(len(listed), claims_room)
    return "\n".join(
        [
            cut(f"{info.id}  {info.title}", width()),
            *(f"  {line}" for line in about[:6]),
            "",
            "claims",
            *_first(listed, claims_room),
            "",
            "knobs (--set name=value)",
            *(_first(knobs, knobs_room) or ["  none"]),
            "",
            f"run         {run}",
            f"everything  adversarium show {info.id} --all",
        ]
    )


def _paragraph(text: str) -> list[str]:
    """Return the lines of a paragraph, wrapped; indented lines are kept as they are."""
    if text.startswith(" "):
        return text.splitlines()
    return textwrap.wrap(" ".join(text.split()), 78)


def _first(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines; of too many, the last one says how many more there are."""
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"  and {len(lines) - most + 1} more with --all"]
