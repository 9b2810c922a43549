"""Implement `adversarium verify`: run what the claims still need, and print the ledger."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from adversarium.commands.options import (
    DEFAULT,
    Answer,
    DataDir,
    Device,
    File,
    Flag,
    Fresh,
    Json,
    On,
    Preset,
    Seeds,
    named,
    ready,
    status,
)


def verify(
    *ids: str,
    preset: Preset = "quick",
    seeds: Seeds = None,
    device: Device = "cpu",
    store: File = DEFAULT,
    data: DataDir = None,
    write: Annotated[Path | None, Parameter(help="file to write the ledger to")] = None,
    on: On = "here",
    fresh: Fresh = False,
    all_: Annotated[bool, Flag(name="--all", help="print one line per claim")] = False,
    long: Annotated[bool, Flag(help="print every number of every claim")] = False,
    json: Json = False,
) -> int | Answer:
    """Compute the missing results of the named claims (default: all). Print the counts of verdicts,
    what differs from the published ones, and the claims that fail.

    Parameters
    ----------
    ids
        claims, experiments, papers or your files (./FILE.py); default: all claims
    """
    ready(device, data)
    from adversarium.commands.progress import Progress
    from adversarium.plans.catalogue import selected_claims, verdict_key
    from adversarium.plans.papers import claims, experiments
    from adversarium.report.claim_text import claim_text
    from adversarium.report.tables import json_text
    from adversarium.report.verdict_lines import brief, claim_lines, numbers_of
    from adversarium.runs.audit import AuditOptions, audit
    from adversarium.runs.changes import parse_seeds
    from adversarium.runs.ledger import NOT_YET
    from adversarium.runs.ledger_file import committed, write_ledger
    from adversarium.runs.store import Store
    from adversarium.runs.where import place

    chosen = selected_claims(named(ids))
    single = frozenset(word for word in ids if word in claims() and word not in experiments())
    options = AuditOptions(preset, parse_seeds(seeds), device, place(on), fresh, single)
    opened = Store(store)
    with Progress(quiet=json) as progress:
        ledger, failures = audit(chosen, opened, options, progress)
    keys = {claim.id: verdict_key(claim) for claim in chosen}
    judged = [entry for entry in ledger.claims if entry.verdict != NOT_YET]
    opened.keep_verdicts({keys[entry.id]: entry.plain() for entry in judged})
    shipped = {entry.id: entry.verdict for entry in committed()}  # before it may be overwritten
    if write is not None:
        write_ledger(write, ledger)
    if json:
        return Answer(json_text(ledger.plain()), status(failures))
    if long:
        lines = [line for entry in ledger.claims for line in ("", *numbers_of(entry))][1:]
    elif all_:
        lines = claim_lines(ledger.claims, words=True)
    elif len(ledger.claims) == 1:
        lines = claim_text(chosen[0], ledger.claims[0], shipped)
    else:
        lines = brief(ledger, shipped, " ".join(ids))
    print("\n".join(lines))
    return status(failures)
