"""A store with few rows and its site, made once for all tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adversarium.papers.boat.experiments.published import plan as published
from adversarium.plans.catalogue import selected_claims
from adversarium.report.site import write_site
from adversarium.runs import compute, reader
from adversarium.runs.audit import audit
from adversarium.runs.store import Store
from adversarium.runs.where import here
from tests.report.few import few

# drawn in the report of these tests: a training, trials, and one without rows
SHOWN = ("boat.published", "cgro.setting", "conv.eq16")


def trained(*arguments, **words):
    pytest.fail("the report trained something")


@contextmanager
def small() -> Iterator[None]:
    """Make the training small enough to take a moment, for the tests of this folder only."""
    size = dict(sizes=((6, 500, 8.0, 0.1),), steps=3, m=8, seeds=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "quick", size)
        patch.setattr(published, "paper", size)
        yield


@pytest.fixture(autouse=True)
def small_in_every_test() -> Iterator[None]:
    with small():
        yield


@pytest.fixture(scope="session")
def store(tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("store") / "s.sqlite")
    with small():
        chosen = selected_claims(("cgro.eq.grad", "cgro.eq.decomp", "boat.published"))
        _, failures = audit(chosen, store)
    assert failures == []
    return store


@pytest.fixture
def reading(monkeypatch):
    """Draw one experiment; fail if anything trains."""
    few(monkeypatch, SHOWN[:1])
    monkeypatch.setattr(compute, "TrainingStream", trained)
    monkeypatch.setattr(here, "compute", trained)


@pytest.fixture(scope="session")
def site(store, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "report"
    with pytest.MonkeyPatch.context() as patch, small():
        few(patch, SHOWN)
        known = reader.shipped
        patch.setattr(reader, "shipped", lambda id: () if id == SHOWN[-1] else known(id))
        write_site(store, folder)
    return folder
