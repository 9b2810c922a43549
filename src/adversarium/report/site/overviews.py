"""The pages about everything: ledger, errata, notation and provenance."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files

from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import papers, readings
from adversarium.plans.verdict import Outcome
from adversarium.report.documents import render
from adversarium.report.findings import Finding
from adversarium.report.site.experiment import RunLine
from adversarium.report.site.results import StoredExperiment
from adversarium.report.tables import WORDS, expected_errors, summary
from adversarium.runs.ledger import NOT_RUN, Entry

_NUMBERS = 3  # of an erratum; the page of the claim has all of them


def index_page(entries: Sequence[Entry], findings: Sequence[Finding]) -> str:
    """The first page: findings, counts by paper, and one line per claim."""
    seed_dependent, wrong = expected_errors(entries)
    return render(
        "index.html",
        title="Ledger",
        up="",
        findings=findings,
        words=list(WORDS),
        papers=[
            (key, title, list(zip(WORDS, counts, strict=True)))
            for key, title, *counts in summary(entries)
        ],
        seed_dependent=seed_dependent,
        wrong=wrong,
        idle=sum(e.verdict == NOT_RUN for e in entries),
        filters=(
            ("paper", "all papers", dict.fromkeys(_key(e.paper) for e in entries)),
            ("word", "all verdicts", dict.fromkeys(e.verdict for e in entries)),
            ("kind", "all kinds", dict.fromkeys(e.kind for e in entries)),
        ),
        entries=[(e, _key(e.paper)) for e in entries],
    )


def search_data(entries: Sequence[Entry]) -> str:
    """The fields that the first page searches, filters and sorts by, as JSON: one record per
    claim."""
    records = [
        {
            "id": e.id,
            "paper": _key(e.paper),
            "word": e.verdict,
            "kind": e.kind,
            "source": e.source,
            "statement": plain_text(e.statement),
            "more": " ".join((e.reason, plain_text(e.note), *(m.name for m in e.measured))),
        }
        for e in entries
    ]
    return json.dumps(records, ensure_ascii=False, separators=(",", ":"))


def _key(tag: str) -> str:
    """The key of a paper, or the tag itself if no paper has it."""
    return papers()[tag].key if tag in papers() else tag


def errata_page(entries: Sequence[Entry], ours: Collection[str]) -> str:
    """Published statements that fail, by paper, and statements that we added and that fail; `ours`
    are the ids of the latter."""
    known = {e.id: e for e in entries}
    failed = [e for e in entries if e.verdict in ("fails", "mixed") and not e.alias_of]
    published = [e for e in failed if e.id not in ours and e.paper in papers()]
    by_paper = [
        (paper, [_erratum(e, known) for e in published if e.paper == paper.tag])
        for paper in papers().values()
    ]
    failing = sum(e.verdict == "fails" for e in published)
    return render(
        "errata.html",
        title="Errata",
        up="",
        papers=[(paper, errata) for paper, errata in by_paper if errata],
        failing=failing,
        mixed=len(published) - failing,
        ours=[_erratum(e, known) for e in failed if e not in published],
    )


def _erratum(entry: Entry, known: Mapping[str, Entry]) -> dict[str, object]:
    """An entry, the first numbers of its failing parts (of all parts if none fails), and the
    corrected statement."""
    failing = [m for part in entry.parts if part.outcome == Outcome.FAILS for m in part.measured]
    return {
        "entry": entry,
        "measured": (failing or entry.measured)[:_NUMBERS],
        "corrected": known.get(entry.corrected or ""),
    }


def notation_page() -> str:
    """The paragraphs and tables of notation.md, and the readings of every paper."""
    text = (files("adversarium.report.site") / "notation.md").read_text(encoding="utf-8")
    blocks = [block.strip() for block in text.split("\n\n") if block.strip()]
    return render(
        "notation.html",
        title="Notation",
        up="",
        blocks=[_table(b) if b.startswith("|") else b for b in blocks if not b.startswith("# ")],
        papers=[(paper, readings(paper.tag)) for paper in papers().values() if readings(paper.tag)],
    )


def _table(text: str) -> list[list[str]]:
    """The cells of a Markdown table, the header first."""
    head, _, *rows = text.splitlines()
    return [[cell.strip(" |") for cell in line.strip("|").split(" |")] for line in (head, *rows)]


def provenance_page(
    homes: Sequence[StoredExperiment],
    runs: Mapping[str, Sequence[RunLine]],
    failures: Sequence[Mapping[str, object]],
) -> str:
    """The origin of the rows of every experiment, and the runs that failed."""
    return render(
        "provenance.html",
        title="Provenance",
        up="",
        experiments=[
            (home, runs[home.name], Counter(run.engine for run in runs[home.name]))
            for home in homes
        ],
        failures=failures,
    )
