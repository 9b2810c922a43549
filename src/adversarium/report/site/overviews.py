"""Make the pages that are not about one claim: front, statements, papers, errata, notation."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files

from markupsafe import Markup

from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import Paper, claims, experiments, papers, readings
from adversarium.report.documents import render
from adversarium.report.front import front_findings
from adversarium.report.picture import claim_picture, deciding_panel
from adversarium.report.site.experiment import RunLine
from adversarium.report.site.results import StoredExperiment
from adversarium.report.sources import by_section, is_added, place, spelled
from adversarium.report.tables import MEANINGS, WORDS, expected_errors, summary
from adversarium.report.verdict_lines import said
from adversarium.runs.ledger import NOT_RUN, Entry

PICTURES = 6  # largest number of pictures on the page of a paper


def index_page(entries: Sequence[Entry], known_papers: Mapping[str, Paper]) -> str:
    """Return the first page: what this is, the counts by paper, and the findings to read first."""
    seed_dependent, wrong = expected_errors(entries)
    lines = {key: counts for key, _, *counts in summary(entries)}
    pairs = {key: list(zip(WORDS, map(int, counts), strict=True)) for key, counts in lines.items()}
    totals = [(word, sum(p[i][1] for p in pairs.values())) for i, word in enumerate(WORDS[:-1])]
    front = front_findings(entries)
    return render(
        "index.html",
        title="Theorems about adversarial training, put to the test",
        up="",
        entries=len(entries),
        judged=sum(count for _, count in totals),
        totals=totals,
        meanings=MEANINGS,
        own=[e for e in entries if e.paper not in known_papers],
        papers=[(paper, pairs[paper.key]) for paper in known_papers.values() if paper.key in pairs],
        seed_dependent=seed_dependent,
        wrong=wrong,
        idle=sum(e.verdict == NOT_RUN for e in entries),
        front=[(e, _place(e), _first_picture(e)) for e in front],
        example=front[0].id if front else "ID",
        changed=next(iter(experiments()), "ID"),
    )


def _place(entry: Entry) -> str:
    """Return the place of a statement with the key of its paper."""
    return f"{_source(entry)}, {_key(entry.paper)}"


def _source(entry: Entry) -> str:
    """Return the place of a statement in its paper."""
    return place(claims()[entry.id]) if entry.id in claims() else spelled(entry.source)


def _first_picture(entry: Entry) -> Markup:
    return Markup(deciding_panel(entry))


def statements_page(entries: Sequence[Entry]) -> str:
    """Return the page that lists, searches and filters all entries."""
    return render(
        "statements.html",
        title="Statements",
        up="",
        filters=(
            ("paper", "all papers", dict.fromkeys(_key(e.paper) for e in entries)),
            ("verdict", "all verdicts", dict.fromkeys(e.verdict for e in entries)),
            ("kind", "all kinds", dict.fromkeys(e.kind for e in entries)),
        ),
        entries=[(e, _place(e)) for e in entries],
    )


def paper_page(paper: Paper, known: Mapping[str, Entry]) -> str:
    """Return the page of a paper: what it says, what was found, and its statements in order."""
    listed = [claim for claim in claims().values() if claim.paper == paper.tag]
    entries = [known[claim.id] for claim in listed if claim.id in known]
    (counts,) = (c for key, _, *c in summary(entries) if key == paper.key)
    pairs = list(zip(WORDS, map(int, counts), strict=True))
    failing = [
        known[claim.id]
        for claim in listed
        if not is_added(claim)
        and not claim.alias_of
        and claim.id in known
        and known[claim.id].verdict in ("fails", "mixed")
    ]
    failing.sort(key=lambda e: e.verdict != "fails")
    drawn = [e for e in entries if e.id in {f.id for f in front_findings(entries)}]
    pictures = [(e, _source(e), _first_picture(e)) for e in drawn if claim_picture(e)]
    return render(
        "paper.html",
        title=paper.key,
        up="../",
        paper=paper,
        counts=pairs,
        total=sum(count for _, count in pairs),
        failing=[(e, spelled(e.source)) for e in failing],
        pictures=pictures[:PICTURES],
        sections=[
            (
                title,
                [(known[c.id], place(c), is_added(c)) for c in members if c.id in known],
            )
            for title, members in by_section(paper, listed).items()
        ],
        constants=readings(paper.tag),
    )


def search_data(entries: Sequence[Entry]) -> str:
    """Return the fields by which the first page searches, filters and sorts, as JSON: one record
    per claim."""
    records = [
        {
            "id": e.id,
            "paper": _key(e.paper),
            "verdict": e.verdict,
            "kind": e.kind,
            "source": spelled(e.source),
            "statement": plain_text(e.statement),
            "finding": said(e),
            "restates": e.alias_of,
            "more": plain_text(e.note),
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
        title="What fails",
        up="",
        papers=[(paper, errata) for paper, errata in by_paper if errata],
        failing=failing,
        mixed=len(published) - failing,
        ours_failing=sum(e.verdict == "fails" for e in failed) - failing,
        ours=[_erratum(e, known) for e in failed if e not in published],
    )


def _erratum(entry: Entry, known: Mapping[str, Entry]) -> tuple[Entry, str, Entry | None]:
    """Return an entry, its place in the paper, and the entry of the corrected statement."""
    return entry, _place(entry), known.get(entry.corrected or "")


def notation_page() -> str:
    """Return the page with the text of notation.md and the readings of every paper."""
    text = (files("adversarium.report.site") / "notation.md").read_text(encoding="utf-8")
    blocks = [block.strip() for block in text.split("\n\n") if block.strip()]
    return render(
        "notation.html",
        title="Notation and words",
        up="",
        blocks=[_table(b) if b.startswith("|") else b for b in blocks if not b.startswith("# ")],
        papers=[(paper, readings(paper.tag)) for paper in papers().values() if readings(paper.tag)],
        lettered=[paper for paper in papers().values() if paper.symbols],
    )


def _table(text: str) -> list[list[str]]:
    """Return the cells of a Markdown table, the header first."""
    head, _, *rows = text.splitlines()
    return [[cell.strip(" |") for cell in line.strip("|").split(" |")] for line in (head, *rows)]


def experiments_page(
    homes: Sequence[StoredExperiment],
    runs: Mapping[str, Sequence[RunLine]],
    failures: Sequence[Mapping[str, object]],
) -> str:
    """Return the list of experiments, the machines of their runs, and the failed runs."""
    return render(
        "experiments.html",
        title="Experiments",
        up="",
        experiments=[
            (home, runs[home.name], Counter(run.engine for run in runs[home.name]))
            for home in homes
        ],
        machines=Counter(run.machine for lines in runs.values() for run in lines).most_common(),
        failures=failures,
    )
