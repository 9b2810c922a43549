"""Make all pages and figures of the site from the list of experiments and the stored results."""

from collections.abc import Callable, Sequence
from importlib.resources import files

from adversarium.plans.catalogue import selected_claims
from adversarium.plans.papers import claims, experiments, papers
from adversarium.report.figures.style import file_name
from adversarium.report.site.changed import changed_page
from adversarium.report.site.claim import claim_page
from adversarium.report.site.drawing import FigureFiles
from adversarium.report.site.experiment import experiment_page, run_lines
from adversarium.report.site.overviews import (
    errata_page,
    experiments_page,
    index_page,
    notation_page,
    paper_page,
    search_data,
    statements_page,
)
from adversarium.report.site.results import StoredExperiment, stored_experiment
from adversarium.report.sources import is_added
from adversarium.report.tables import json_text
from adversarium.runs.audit import stored_entries
from adversarium.runs.ledger import Entry, Ledger
from adversarium.runs.machine import machine
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store

ASSETS = ("style.css", "site.js", "statements.js")


def pages_and_figures(
    store: Store, added: Sequence[str], code: str, progress: Callable[[str, int, int], None]
) -> tuple[dict[str, str], list[FigureFiles]]:
    """Return the text files of the site by path, and the files of its figures.

    `added` are user files in addition to the catalogue; `code` is the digest of the code that
    draws; `progress` receives the phase, the steps done and the number of steps.
    """
    chosen = [*selected_claims(()), *(selected_claims(added) if added else ())]
    entries = stored_entries(store, chosen, progress)
    homes = []
    for i, id in enumerate(ids := (*added, *experiments())):
        progress("rows", i, len(ids))
        if (home := stored_experiment(id, store)) is not None:
            homes.append(home)
    texts = {
        name: (files("adversarium.report.site") / name).read_text(encoding="utf-8")
        for name in ASSETS
    }
    texts |= _claim_pages(entries, {c.id: c.experiment for c in chosen}, homes)
    runs = {home.name: run_lines(home, Reader(store, home.experiment.id)) for home in homes}
    by_id = {entry.id: entry for entry in entries}
    for home in homes:
        stem = f"experiments/{home.name}"
        page, table = experiment_page(home, by_id, runs[home.name])
        texts |= {f"{stem}.html": page, f"{stem}.runs.csv": table}
    ours = {id for id, claim in claims().items() if is_added(claim)}
    changed, changed_figures = changed_page(store)
    ledger = Ledger(entries, machine(), sum(e.seconds for e in entries))
    texts |= {f"papers/{p.tag}.html": paper_page(p, by_id) for p in papers().values()}
    texts |= {
        "claims.js": f"const CLAIMS = {search_data(entries)};\n",
        "ledger.json": json_text(ledger.plain()) + "\n",
        "index.html": index_page(entries, papers()),
        "statements.html": statements_page(entries),
        "errata.html": errata_page(entries, ours),
        "changed.html": changed,
        "notation.html": notation_page(),
        "experiments.html": experiments_page(homes, runs, store.failures()),
    }
    figures = [figure for home in homes for figure in home.files(code)]
    return texts, [*changed_figures, *figures]


def _claim_pages(
    entries: Sequence[Entry], experiment_of: dict[str, str], homes: Sequence[StoredExperiment]
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
