"""All pages of the site and the figures they show, from the catalogue and the store."""

from collections.abc import Callable, Sequence
from importlib.resources import files

from adversarium.plans.catalogue import claims, experiments, selected_claims
from adversarium.report.figures.style import file_name
from adversarium.report.findings import Finding, drawn, findings
from adversarium.report.site.changed import changed_page
from adversarium.report.site.claim import claim_page
from adversarium.report.site.errata import errata_page
from adversarium.report.site.experiment import experiment_page, run_lines
from adversarium.report.site.folder import Drawn, digest
from adversarium.report.site.index import index_page, search_data
from adversarium.report.site.notation import notation_page
from adversarium.report.site.provenance import provenance_page
from adversarium.report.site.stored import Stored, stored
from adversarium.report.tables import json_text
from adversarium.runs.audit import stored_entries
from adversarium.runs.ledger import Entry, Ledger
from adversarium.runs.machine import machine
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store

ASSETS = ("style.css", "ledger.js")


def built(
    store: Store, added: Sequence[str], made_by: str, seen: Callable[[str, int, int], None]
) -> tuple[dict[str, str], list[Drawn]]:
    """The texts of the site by path, and what is drawn beside them; `seen` is told how far it
    is."""
    chosen = [*selected_claims(()), *(selected_claims(added) if added else ())]
    entries = stored_entries(store, chosen, seen)
    homes = []
    for i, id in enumerate(ids := (*added, *experiments())):
        seen("rows", i, len(ids))
        if (made := stored(id, store)) is not None:
            homes.append(made)
    told = findings(entries)
    texts = {name: _asset(name) for name in ASSETS}
    texts |= _claim_pages(entries, {c.id: c.experiment for c in chosen}, homes)
    runs = {home.name: run_lines(home, Reader(store, home.experiment.id)) for home in homes}
    by_id = {entry.id: entry for entry in entries}
    for home in homes:
        stem = f"experiments/{home.name}"
        texts[f"{stem}.html"], texts[f"{stem}.runs.csv"] = experiment_page(
            home, by_id, runs[home.name]
        )
    ours = {id for id, claim in claims().items() if claim.ours or claim.source.startswith("ours")}
    changed, swept = changed_page(store)
    ledger = Ledger(entries, machine(), sum(e.seconds for e in entries))
    texts |= {
        "claims.js": f"const CLAIMS = {search_data(entries)};\n",
        "ledger.json": json_text(ledger.plain()) + "\n",
        "index.html": index_page(entries, told),
        "errata.html": errata_page(entries, ours),
        "changed.html": changed,
        "notation.html": notation_page(),
        "provenance.html": provenance_page(homes, runs, store.failures()),
    }
    pictures = [_pictured(finding) for finding in told]
    figures = [one for home in homes for one in home.drawn(made_by)]
    return texts, [*pictures, *swept, *figures]


def _asset(name: str) -> str:
    return (files("adversarium.report.site") / name).read_text(encoding="utf-8")


def _claim_pages(
    entries: Sequence[Entry], experiment_of: dict[str, str], homes: Sequence[Stored]
) -> dict[str, str]:
    known = {entry.id: entry for entry in entries}
    judging = {id: home for home in homes for id in home.experiment.checks}
    return {
        f"claims/{file_name(e.id)}.html": claim_page(
            e,
            judging.get(e.alias_of or e.id),
            experiment_of.get(e.alias_of, "") or experiment_of.get(e.id, ""),
            known,
        )
        for e in entries
    }


def _pictured(finding: Finding) -> Drawn:
    stem = f"findings/{finding.file.removesuffix('.svg')}"
    numbers = digest(repr(finding).encode())
    return Drawn(
        (f"{stem}.svg", f"{stem}.csv"), numbers, lambda home: drawn(finding, home / "findings")
    )
