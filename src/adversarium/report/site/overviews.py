"""Make the pages that are not about one claim: ledger, errata, notation and provenance."""

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

_NUMBERS = 3  # largest number of quantities of an erratum; the page of the claim has all of them


def index_page(entries: Sequence[Entry], findings: Sequence[Finding]) -> str:
    """Return the first page: findings, counts by paper, and one line per claim."""
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
    """Return the fields by which the first page searches, filters and sorts, as JSON: one record
    per claim."""
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
    """Return the key of the paper with this tag, or the tag itself if there is none."""
    return papers()[tag].key if tag in papers() else tag


def errata_page(entries: Sequence[Entry], ours: Collection[str]) -> str:
    """Return the page of published statements that fail, by paper, and of failing statements that
    we added; `ours` are the ids of all added statements."""
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
    """Return an entry, the first quantities of its failing parts (of all parts if none fails), and
    the corrected statement."""
    failing = [m for part in entry.parts if part.outcome == Outcome.FAILS for m in part.measured]
    return {
        "entry": entry,
        "measured": (failing or entry.measured)[:_NUMBERS],
        "corrected": known.get(entry.corrected or ""),
    }


def notation_page() -> str:
    """Return the page with the text of notation.md and the readings of every paper."""
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
    """Return the cells of a Markdown table, the header first."""
    head, _, *rows = text.splitlines()
    return [[cell.strip(" |") for cell in line.strip("|").split(" |")] for line in (head, *rows)]


def provenance_page(
    homes: Sequence[StoredExperiment],
    runs: Mapping[str, Sequence[RunLine]],
    failures: Sequence[Mapping[str, object]],
) -> str:
    """Return the page of the origin of every experiment's rows, and of the failed runs."""
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
