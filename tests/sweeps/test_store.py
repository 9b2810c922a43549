"""The store: seeds filled in, all or nothing, foreign and broken files untouched."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.experiments.spec import Run, key
from adversarium.networks import CubicCNN
from adversarium.probes import risk, train_error
from adversarium.sweeps.run import execute, key_of, padded
from adversarium.sweeps.store import Block, Store, StoreError, write_rows


def small(steps=20, **changes):
    parts = dict(
        data=PatchData(d=20, P=3, alpha=2.0, sigma=0.2),
        network=CubicCNN(m=4, sigma0=0.2),
        attack=GTA(gamma=0.9),
        n=6,
        steps=steps,
        eta=0.05,
        probes=(risk, train_error),
    )
    return Run(**{**parts, **changes})


def test_asking_for_more_seeds_runs_only_the_missing_ones(tmp_path):
    store, run = Store(tmp_path / "s.sqlite"), small()
    execute(run, "x", (0, 1, 2), store)
    before = store.read(key_of(run), (0, 1, 2))
    stamp = store.provenance(key_of(run), (0, 1, 2))["time"]
    execute(run, "x", range(12), store)
    assert store.seeds(key_of(run)) == set(range(12))
    after = store.read(key_of(run), (0, 1, 2))
    assert store.provenance(key_of(run), (0, 1, 2))["time"] == stamp
    for probe in before.values:
        assert np.array_equal(before.values[probe][1], after.values[probe][1])
    assert store.read(key_of(run), range(13)) is None


def test_rows_do_not_depend_on_how_many_seeds_were_asked_for(tmp_path):
    one, many = Store(tmp_path / "a.sqlite"), Store(tmp_path / "b.sqlite")
    run = small()
    execute(run, "x", (7,), one)
    execute(run, "x", range(11), many)
    a, b = one.read(key_of(run), (7,)), many.read(key_of(run), (7,))
    for probe in a.values:
        assert np.array_equal(a.values[probe][1], b.values[probe][1])
    assert padded((1, 2, 3), 2) == [(1, 2), (3, 3)]


def test_a_key_depends_on_what_is_run_and_on_nothing_else():
    assert key_of(small()) == key_of(small(label="another label"))
    assert key_of(small()) != key_of(small(eta=0.06))
    assert key_of(small()) != key_of(small(attack=GTA(gamma=0.8)))
    assert key_of(small()) != key_of(small(engine="full"))
    assert key(small(), "full", 1) != key(small(), "full", 2)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello, I am a letter, not a store" * 10, "not a store"),
        (b"SQLite format 3\0", "not a store"),
        (b"\x00" * 4096, "not a store"),
    ],
)
def test_a_foreign_file_gets_a_sentence_and_stays_untouched(tmp_path, content, said):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=said):
        Store(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["other.db"]


def test_another_programs_database_stays_untouched(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    content = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == content


def test_a_truncated_store_gets_a_sentence_and_stays_untouched(tmp_path):
    path = tmp_path / "s.sqlite"
    store = Store(path)
    execute(small(steps=300), "x", range(10), store)
    store.close()
    content = path.read_bytes()
    assert len(content) > 8192
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(StoreError, match="cut short"):
        Store(path)
    assert path.read_bytes() == content[: len(content) // 2]
    scrambled = content[:4096] + b"\xff" * (len(content) - 4096)
    path.write_bytes(scrambled)
    with pytest.raises(StoreError, match=r"cannot be read|malformed"):
        Store(path).seeds(key_of(small(steps=300)))


def test_impossible_places_get_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="is a directory"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="does not exist"):
        Store(tmp_path / "no" / "where.sqlite")


def test_reading_a_store_that_is_not_there_makes_no_file(tmp_path):
    assert Store(tmp_path / "s.sqlite", readonly=True).verdicts() == {}
    assert not (tmp_path / "s.sqlite").exists()


KILLED = """
import sys, os, time
from tests.sweeps.test_store import small
from adversarium.sweeps.run import execute
from adversarium.sweeps.store import Store
store = Store(sys.argv[1])
for i in range(1000):
    execute(small(steps=40, eta=0.05 + i * 1e-6), "x", range(10), store)
    print(i, flush=True)
"""


def test_kill_nine_loses_at_most_the_run_in_flight(tmp_path):
    path = tmp_path / "s.sqlite"
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for _ in range(3):
        command = [sys.executable, "-c", KILLED, str(path)]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as child:
            first = child.stdout.readline()
            time.sleep(0.3)
            child.send_signal(signal.SIGKILL)
            told = [first, *child.stdout.read().splitlines()]
        finished = [int(line) for line in told if line.strip()]
        store = Store(path)
        for i in finished:
            assert store.seeds(key_of(small(steps=40, eta=0.05 + i * 1e-6))) == set(range(10))
        assert store._db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        halves = store._db.execute(
            "SELECT COUNT(*) FROM rows WHERE (run, seed) NOT IN (SELECT run, seed FROM done)"
        ).fetchone()[0]
        assert halves == 0
        store.close()


def test_two_processes_share_a_store(tmp_path):
    a, b = Store(tmp_path / "s.sqlite"), Store(tmp_path / "s.sqlite")
    execute(small(), "x", (0, 1), a)
    execute(small(eta=0.07), "x", (0, 1), b)
    assert a.seeds(key_of(small(eta=0.07))) == {0, 1} == b.seeds(key_of(small()))


def test_row_files_keep_everything(tmp_path, monkeypatch):
    import adversarium.sweeps.store as module

    store = Store(tmp_path / "s.sqlite")
    execute(small(), "some.experiment", (0, 1, 2), store)
    (tmp_path / "results").mkdir()
    write_rows(tmp_path / "results" / "some.experiment.jsonl.gz", store.dump())
    monkeypatch.setattr(module, "files", lambda package: tmp_path)
    (block,) = module.shipped("some.experiment")
    assert isinstance(block, Block) and block.key == key_of(small()) and block.seeds == (0, 1, 2)
    kept = store.read(key_of(small()), (0, 1, 2))
    for probe in kept.values:
        assert np.allclose(block.rows[probe][1], kept.values[probe][1], rtol=1e-8, atol=0)
    assert module.shipped("no.such") == []


def test_a_foreign_database_with_a_journal_is_refused_too(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    (tmp_path / "other.sqlite-journal").write_bytes(b"")
    content = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == content


def test_reading_changes_no_byte(tmp_path):
    path = tmp_path / "s.sqlite"
    store = Store(path)
    execute(small(), "x", (0,), store)
    store.close()
    content = path.read_bytes()
    view = Store(path, readonly=True)
    assert view.seeds(key_of(small())) == {0}
    with pytest.raises(StoreError):
        view.keep_verdicts([{"id": "x"}])
    view.close()
    assert path.read_bytes() == content


def test_a_run_that_diverges_is_a_failure_with_its_reason_not_a_number(tmp_path):
    with pytest.raises(ArithmeticError, match="the run diverged"):
        execute(small(steps=60, eta=1e200, engine="full"), "x", (0,), Store(tmp_path / "s.sqlite"))


def test_edited_code_of_a_user_is_another_run_and_lambdas_are_refused(tmp_path, monkeypatch):
    import importlib.util

    keys = []
    for body in ("return state.risk()", "return 2 * state.risk()"):
        path = tmp_path / "probe_of_mine.py"
        path.write_text(f"def mine(state, scene):\n    {body}\n")
        spec = importlib.util.spec_from_file_location("probe_of_mine", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        keys.append(key_of(small(probes=(module.mine,))))
    assert keys[0] != keys[1]
    with pytest.raises(ValueError, match="lambda"):
        key_of(small(probes=(lambda state, scene: state.risk(),)))
