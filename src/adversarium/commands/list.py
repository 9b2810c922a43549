"""Implement `adversarium list`: list papers, experiments, claims or parts, without torch."""

import json as js
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from adversarium.commands.options import DEFAULT, Answer, File, Json
from adversarium.plans.catalogue import nearest
from adversarium.plans.mathematics import plain_text
from adversarium.plans.names import PublicName, paper_probes, public_names
from adversarium.plans.papers import claims, experiments, papers
from adversarium.plans.verdict import Outcome
from adversarium.plans.wording import counted
from adversarium.report.shown import last_entries
from adversarium.report.verdict_lines import badge, cut, said, width
from adversarium.runs.ledger import NOT_RUN, NOT_YET, Entry

What = Literal[
    "papers",
    "experiments",
    "claims",
    "probes",
    "networks",
    "datasets",
    "attacks",
    "checks",
    "figures",
]
Paper = Annotated[
    str | None, Parameter(help="only claims and experiments of the paper with this tag")
]
Verdict = Annotated[str | None, Parameter(help="only claims with this last verdict")]


def list_(
    what: What = "experiments",
    *,
    paper: Paper = None,
    verdict: Verdict = None,
    store: File = DEFAULT,
    json: Json = False,
) -> int | Answer:
    """List papers, experiments, claims or parts, one per line.

    Parameters
    ----------
    what
        papers, experiments, claims, or a kind of part for plans
    """
    if paper is not None and paper.lower() not in papers():
        raise ValueError(
            f"no paper has the tag {paper!r}; choose from {', '.join(papers())}, or set "
            "ADVERSARIUM_PAPERS=DIR to add the papers in a folder."
        )
    if paper and what not in ("experiments", "claims"):
        raise ValueError(f"--paper selects claims or experiments, not {what}; leave it out.")
    if verdict is not None and what != "claims":
        raise ValueError(f"--verdict selects claims, not {what}; use `adversarium list claims`.")
    if what == "claims":
        listed = [e for e in _claims(verdict, store) if e.paper == (paper or e.paper).lower()]
        if json:
            entries = [
                {"id": e.id, "text": plain_text(e.statement), "verdict": e.verdict,
                 "finding": e.finding}
                for e in listed
            ]  # fmt: skip
            return Answer(js.dumps({what: entries}, ensure_ascii=False))
        wide = width() if sys.stdout.isatty() else None
        for line in _claim_table(listed, wide):
            print(line)
        return 0
    lines = _lines(what)
    if paper:
        lines = {id: text for id, text in lines.items() if id.split(".")[0] == paper.lower()}
    if json:
        entries = [{"id": name, "text": text} for name, text in lines.items()]
        return Answer(js.dumps({what: entries}, ensure_ascii=False))
    longest = max((len(name) for name in lines), default=0)
    for name, text in lines.items():
        print(f"{name:<{longest}}  {text}")
    return 0


def _claim_table(listed: Sequence[Entry], columns: int | None) -> list[str]:
    """Return one line per claim: verdict, id, and finding, cut at the width of a terminal."""
    verdicts = max((len(badge(e.verdict)) for e in listed), default=0)
    longest = max((len(e.id) for e in listed), default=0)
    lines = [f"{badge(e.verdict):<{verdicts}}  {e.id:<{longest}}  {said(e)}" for e in listed]
    return [cut(line, columns) if columns else line for line in lines]


def _claims(verdict: str | None, store: Path) -> list[Entry]:
    """Return the entries of all claims; with a verdict, only those that have it."""
    words = (*map(str, Outcome), NOT_RUN, NOT_YET)
    if verdict is not None and verdict not in words:
        close = nearest(verdict, words)
        hint = close if close.startswith(" Nearest") else ""
        raise ValueError(f"--verdict must be one of {', '.join(words)}, got {verdict!r}.{hint}")
    entries = last_entries(claims(), store)  # always read it, to reject a file that is not a store
    return [e for e in entries if not verdict or e.verdict == verdict]


def _lines(what: What) -> dict[str, str]:
    match what:
        case "papers":
            return {paper.key: paper.title for paper in papers().values()}
        case "experiments":
            known = experiments().values()
            return {e.id: f"{e.title} ({counted(len(e.claims), 'claim')})" for e in known}
        case "datasets":
            named = public_names("data")
            return {n: p.sentence for n, p in named.items() if not n.endswith("Batch")}
        case "probes":
            named = {**public_names("measure"), **paper_probes()}
            return {n: _described(p) for n, p in named.items() if n not in ("Scene", "measures")}
        case "networks":
            return {n: p.sentence for n, p in public_names("networks").items() if n[0].isupper()}
        case "attacks":
            named = public_names("attacks")
            return {n: p.sentence for n, p in named.items() if n[0].isupper() and n != "Ball"}
        case "checks":
            named = public_names("plans")
            rules = ("compound.py", "rules.py", "slopes.py")
            return {
                n: p.sentence for n, p in named.items()
                if p.file in rules and p.sentence and n != "Check"
            }  # fmt: skip
        case "figures":
            named = public_names("plans")
            return {n: p.sentence for n, p in named.items() if p.file == "figures.py"}
        case _:
            raise ValueError(f"list cannot list {what}.")


def _described(name: PublicName) -> str:
    return f"{plain_text(name.symbol)}  {name.sentence}" if name.symbol else name.sentence
