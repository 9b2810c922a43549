"""Paths that cannot be a store, and a store that cannot grow: nothing is lost."""

import numpy as np
import pytest

from adversarium.runs.store import Store, StoreError, StoreFull
from tests.runs.small import execute, small


def test_a_full_disk_says_what_is_kept_and_loses_nothing(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    execute(store, (0,), small())
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    block = next(store.dump())
    large = tuple(range(1, 400))
    for kept in block.kept.values():
        for name, series in kept.series.items():
            values = np.repeat(series.values, len(large), axis=0)
            kept.series[name] = type(series)(series.t, values, series.axes)
    with pytest.raises(StoreFull, match=r"is full.*; 1 run is stored\. Free some space") as fault:
        store.write(type(block)(**{**vars(block), "seeds": large}))
    assert fault.value.status == 1
    assert store.seeds(block.key) == {0}


def test_a_device_is_not_a_store():
    with pytest.raises(StoreError, match="is not a regular file"):
        Store("/dev/null")
