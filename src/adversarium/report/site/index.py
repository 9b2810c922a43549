"""The first page: what was found, then the ledger as one list that can be searched."""

import json
from collections.abc import Sequence

from adversarium.plans.catalogue import papers
from adversarium.report.figures.style import file_name
from adversarium.report.findings import Finding
from adversarium.report.site.parts import (
    cell,
    claim_link,
    code,
    escape,
    page,
    shortened,
    table,
    word,
)
from adversarium.report.tables import WORDS, chances, summary
from adversarium.report.typeset import typeset
from adversarium.runs.ledger import NOT_RUN, Entry

_COLUMNS = (("id", "claim"), ("word", "verdict"), ("statement", "statement"), ("paper", "paper"))


def index_page(entries: Sequence[Entry], told: Sequence[Finding]) -> str:
    """Findings, counts by paper, and a line a claim."""
    body = [*_found(told), "<h2>All verdicts</h2>", _counts(entries), _chances(entries)]
    idle = sum(e.verdict == NOT_RUN for e in entries)
    if idle:
        body.append(f"<p>{idle} claims have an experiment but no rows in this store.</p>")
    return page("Ledger", "\n".join([*body, _controls(entries), _list(entries)]), script=True)


def search_data(entries: Sequence[Entry]) -> str:
    """What the page searches, filters and sorts by, as JSON: a record a claim, in order."""
    records = [
        {
            "id": e.id,
            "paper": _key(e.paper),
            "word": e.verdict,
            "kind": e.kind,
            "source": e.source,
            "statement": e.statement,
            "more": " ".join((e.reason, e.note, *(m.name for m in e.measured))),
        }
        for e in entries
    ]
    return json.dumps(records, ensure_ascii=False, separators=(",", ":"))


def _found(told: Sequence[Finding]) -> list[str]:
    """A sentence, a small picture and a command each."""
    items = "".join(
        f"<li><p>{typeset(finding.sentence)} {claim_link(finding.claim)}</p>"
        f'<img src="findings/{escape(finding.file)}" alt="{escape(finding.label)}"/>'
        f"{code(finding.command)}</li>"
        for finding in told
    )
    return [f'<h2>Found so far</h2><ol class="found">{items}</ol>'] if told else []


def _key(tag: str) -> str:
    """A paper's key, or the tag of what is not one of the papers."""
    return papers()[tag].key if tag in papers() else tag


def _counts(entries: Sequence[Entry]) -> str:
    lines = []
    for key, title, *counts in summary(entries):
        numbers = [
            cell(
                f'<a href="#ledger" data-paper="{escape(key)}" data-word="{name}">{count}</a>', "n"
            )
            if count != "0"
            else cell("0", "n soft")
            for name, count in zip(WORDS, counts, strict=True)
        ]
        name = f'<a id="{escape(key)}" href="#ledger" data-paper="{escape(key)}">{escape(key)}</a>'
        lines.append([cell(name), cell(escape(title), "title"), *numbers])
    return table(("paper", "title", *WORDS), lines, "counts")


def _chances(entries: Sequence[Entry]) -> str:
    chancy, wrong = chances(entries)
    return (
        f"<p>{chancy} verdicts rest on chance; at 99 % a claim, and failures seen on two sets of "
        f"seeds, at most {wrong:.2g} wrong ones are to be expected.</p>"
    )


def _controls(entries: Sequence[Entry]) -> str:
    """Search and filters; they appear where scripts run."""
    given = {
        "paper": dict.fromkeys(_key(e.paper) for e in entries),
        "word": dict.fromkeys(e.verdict for e in entries),
        "kind": dict.fromkeys(e.kind for e in entries),
    }
    names = {"paper": "all papers", "word": "all verdicts", "kind": "all kinds"}
    choices = "".join(
        f'<select id="{name}" aria-label="{name}"><option value="">{names[name]}</option>'
        + "".join(f'<option value="{escape(v)}">{escape(v)}</option>' for v in values)
        + "</select>"
        for name, values in given.items()
    )
    return (
        '<form id="ledger" class="controls" hidden="hidden"><input id="search" type="search" '
        f'placeholder="search statements, ids, numbers" aria-label="search"/>{choices}'
        '<output id="count"></output></form>'
    )


def _list(entries: Sequence[Entry]) -> str:
    head = "".join(f'<th data-by="{by}" scope="col">{name}</th>' for by, name in _COLUMNS)
    rows = "".join(
        f'<tr id="{escape(file_name(e.id))}">{cell(claim_link(e.id))}{cell(word(e.verdict))}'
        f"{cell(shortened(e.statement))}{cell(escape(_key(e.paper)))}</tr>\n"
        for e in entries
    )
    return (
        f'<table class="ledger"><thead><tr>{head}</tr></thead><tbody id="claims">{rows}</tbody>'
        "</table>"
    )
