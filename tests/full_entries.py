"""Entries with all their quantities, judged again from the rows that ship with the papers."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from adversarium.plans.loading import load
from adversarium.plans.papers import claims
from adversarium.runs.audit import stored_verdicts
from adversarium.runs.ledger import Entry, entry
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store


@cache
def _of_experiment(id: str, ids: frozenset[str]) -> dict[str, Entry]:
    with TemporaryDirectory() as folder:
        experiment, store = load(id), Store(Path(folder) / "empty.sqlite")
        made = stored_verdicts(experiment, ids, Reader(store, id), "paper")
        store.close()
    return {id: entry(claims()[id], *verdict, claims()) for id, verdict in made.items()}


def full_entries(ids: Iterable[str]) -> dict[str, Entry]:
    """Return the entries of those claims whose rows ship with the papers."""
    by_home: dict[str, set[str]] = {}
    for id in ids:
        claim = claims()[id]
        by_home.setdefault(claim.experiment, set()).add(id)
    made: dict[str, Entry] = {}
    for home, some in by_home.items():
        made |= _of_experiment(home, frozenset(some)) if home else {}
    return made
