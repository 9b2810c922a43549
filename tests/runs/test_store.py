"""The store adds missing seeds, writes all or nothing, and does not change foreign or damaged
files."""

import importlib.util
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import adversarium.runs.results as results
from adversarium.attacks import PGD
from adversarium.measure.errors import ErrorByRadius, risk, robust_train_error, train_error
from adversarium.runs.compute import compute
from adversarium.runs.jobs import resolve, units
from adversarium.runs.store import FORMAT, Store, StoreError
from tests.runs.small import execute, probe_id, rows, same, small

ROOT = Path(__file__).parents[2]
KEY = resolve(small()).key


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "s.sqlite")
    yield opened
    opened.close()


def test_asking_for_more_seeds_runs_only_the_missing_ones(store):
    execute(store, (0, 1, 2), small())
    before = rows(store, small(), (0, 1, 2))
    stamp = store.provenance(KEY, (0, 1, 2))["time"]
    (unit,) = execute(store, range(12), small())
    assert unit.seeds[0][:9] == tuple(range(3, 12))
    assert store.seeds(KEY) == set(range(12))
    assert store.provenance(KEY, (0, 1, 2))["time"] == stamp
    assert same(rows(store, small(), (0, 1, 2)), before)
    assert rows(store, small(), range(13)) is None
    assert execute(store, range(12), small()) == []


def test_rows_do_not_depend_on_how_many_seeds_were_asked_for(store, tmp_path):
    other = Store(tmp_path / "b.sqlite")
    execute(store, (7,), small())
    execute(other, range(11), small())
    assert same(rows(store, small(), (7,)), rows(other, small(), (7,)))


def test_seeds_come_back_in_the_order_that_is_asked(store):
    execute(store, (0, 1, 2), small())
    forth, back = rows(store, small(), (0, 2)), rows(store, small(), (2, 0))
    assert back.seeds == (2, 0)
    assert np.array_equal(back["risk"].values, forth["risk"].values[::-1])


def test_arrays_keep_their_times_and_their_axes(store):
    radii = ErrorByRadius(
        attacks=(PGD(p=2, radius=1.0, steps=2),), radii=(0.1, 0.4), n=10, name="broken"
    )
    run = small(probes=(risk,), final=(radii,), record=(0, 5))
    execute(store, (0, 1), run)
    kept = rows(store, run, (0, 1))
    assert kept["risk"].t.tolist() == [0, 5, 20] and kept["risk"].axes == {}
    assert kept["broken"].axes == {"radius": (0.1, 0.4)}
    assert kept["broken"].values.shape == (2, 1, 2) and kept["broken"].t.tolist() == [20]


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


@pytest.mark.parametrize("journal", (False, True))
def test_another_programs_database_stays_untouched(tmp_path, journal):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    if journal:
        (tmp_path / "other.sqlite-journal").write_bytes(b"")
    content = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == content


def test_a_store_of_a_newer_laboratory_stays_untouched(tmp_path):
    path = tmp_path / "s.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.close()
    content = path.read_bytes()
    for readonly in (True, False):
        with pytest.raises(StoreError, match="newer adversarium"):
            Store(path, readonly)
    assert path.read_bytes() == content


def test_a_truncated_store_gets_a_sentence_and_stays_untouched(tmp_path):
    path, long = tmp_path / "s.sqlite", small(steps=300, record=1)
    store = Store(path)
    execute(store, range(4), long)
    store.close()
    content = path.read_bytes()
    assert len(content) > 8192
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(StoreError, match="is truncated"):
        Store(path)
    assert path.read_bytes() == content[: len(content) // 2]
    scrambled = content[:4096] + b"\xff" * (len(content) - 4096)
    path.write_bytes(scrambled)
    with pytest.raises(StoreError, match=r"cannot be read|malformed"):
        Store(path).seeds(resolve(long).key)


def test_impossible_places_get_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="is a directory"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="does not exist"):
        Store(tmp_path / "no" / "where.sqlite")


def test_reading_a_store_that_is_not_there_makes_no_file(tmp_path):
    assert Store(tmp_path / "s.sqlite", readonly=True).verdicts() == {}
    assert not (tmp_path / "s.sqlite").exists()


KILLED = """
import sys
from adversarium.runs.store import Store
from tests.runs.small import execute, probe_id, small
store = Store(sys.argv[1])
for i in range(1000):
    execute(store, range(10), small(steps=40, eta=0.05 + i * 1e-6))
    print(i, flush=True)
"""


def test_kill_nine_loses_at_most_the_run_in_flight(tmp_path):
    path = tmp_path / "s.sqlite"
    for _ in range(2):
        command = [sys.executable, "-c", KILLED, str(path)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
            first = child.stdout.readline()
            time.sleep(0.3)
            child.send_signal(signal.SIGKILL)
            told = [first, *child.stdout.read().splitlines()]
        finished = [int(line) for line in told if line.strip()]
        assert finished
        store = Store(path)
        for i in finished:
            run = small(steps=40, eta=0.05 + i * 1e-6)
            assert store.seeds(resolve(run).key) == set(range(10))
            assert rows(store, run, range(10)) is not None
        assert store._db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        for part, whole in (("arrays", "done"), ("done", "arrays")):
            halves = store._db.execute(
                f"SELECT COUNT(*) FROM {part} WHERE (run, seed, probe) NOT IN "
                f"(SELECT run, seed, probe FROM {whole})"
            ).fetchone()[0]
            assert halves == 0
        store.close()


def test_two_processes_share_a_store(tmp_path):
    a, b = Store(tmp_path / "s.sqlite"), Store(tmp_path / "s.sqlite")
    execute(a, (0, 1), small())
    execute(b, (0, 1), small(eta=0.07))
    other = resolve(small(eta=0.07)).key
    assert a.seeds(other) == {0, 1} == b.seeds(KEY)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Pretend that row files in a folder are shipped with the code; return this folder."""
    (tmp_path / "results").mkdir()
    paper = SimpleNamespace(folder=tmp_path)
    monkeypatch.setattr(results, "paper_of", lambda experiment: paper)
    results.shipped.cache_clear()
    yield tmp_path / "results"
    results.shipped.cache_clear()


def test_row_files_keep_everything(store, shipped):
    radii = ErrorByRadius(
        attacks=(PGD(p=2, radius=1.0, steps=2),), radii=(0.1, 0.4), n=10, name="broken"
    )
    run = small(final=(radii,))
    execute(store, (0, 1, 2), run)
    results.write_rows(shipped / "an.experiment.npz", store.dump())
    (block,) = results.shipped("an.experiment")
    assert block.key == resolve(run).key and block.seeds == (0, 1, 2)
    kept = store.arrays(block.key, (0, 1, 2))
    recorded = store.recorded(block.key)
    assert set(kept) == set(block.kept)
    for probe, by_name in kept.items():
        assert block.kept[probe].times == recorded[0, probe]
        for name, series in by_name.items():
            told = block.kept[probe].series[name]
            assert told.t.tolist() == series.t.tolist() and told.axes == series.axes
            assert np.allclose(
                told.values, series.values, rtol=1e-6 if len(told.t) > 1 else 1e-8, atol=0
            )
    assert results.shipped("no.such") == ()


def test_what_is_shipped_is_not_run_again_and_the_store_goes_first(store, tmp_path, shipped):
    execute(store, (0, 1, 2), small(), experiment="elsewhere")
    results.write_rows(shipped / "some.experiment.npz", store.dump())
    other = Store(tmp_path / "own.sqlite")
    (unit,) = execute(other, range(5), small())
    assert set(unit.seeds[0]) == {3, 4}
    whole = rows(other, small(), range(5))
    for name in whole.series:
        assert whole[name].values[:3] == pytest.approx(rows(store, small(), range(3))[name].values)
        assert np.isfinite(whole[name].values).all()
    execute(other, range(5), small(probes=(risk, train_error, robust_train_error)))
    assert other.seeds(KEY) == set(range(5))
    assert set(rows(other, small(final=(robust_train_error,)), range(5)).series) >= {"risk"}


def test_reading_changes_no_byte(tmp_path):
    path = tmp_path / "s.sqlite"
    store = Store(path)
    execute(store, (0,), small())
    store.close()
    content = path.read_bytes()
    view = Store(path, readonly=True)
    assert view.seeds(KEY) == {0} and rows(view, small(), (0,)) is not None
    with pytest.raises(StoreError):
        view.keep_verdicts({"x": {"id": "x"}})
    view.close()
    assert path.read_bytes() == content


def test_a_run_that_diverges_is_a_failure_with_its_reason_not_a_number(store):
    job = resolve(small(steps=60, eta=1e200, engine="full"))
    (unit,) = units([(job, (0,))], "cpu")
    outcome = compute(unit)
    assert outcome.blocks == () and "the run diverged" in outcome.failures[job.key]
    store.fail(job.key, "x", job.task.label, (0,), outcome.failures[job.key])
    assert "the run diverged" in store.why(job.key) and store.why(KEY) == ""
    assert store.failures()[0]["seeds"] == [0] and store.seeds(job.key) == set()


def mine(tmp_path, body):
    """A function of a user's file."""
    path = tmp_path / "mine.py"
    path.write_text(f"def mine(*given):\n    {body}\n")
    spec = importlib.util.spec_from_file_location("mine", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.mine


def test_edited_code_of_a_user_is_another_run(store, tmp_path):
    first = mine(tmp_path, "return given[0].risk()")
    execute(store, (0,), small(probes=(first,)))
    first_id, first_key = probe_id(first), resolve(small(attack=first)).key
    second = mine(tmp_path, "return 2 * given[0].risk()")
    assert probe_id(second) != first_id and resolve(small(attack=second)).key != first_key
    execute(store, (0,), small(probes=(second,)))
    assert set(store.arrays(KEY, (0,))) == {first_id, probe_id(second)}
    last = rows(store, small(probes=(second,)), (0,)).last("mine")
    assert last == pytest.approx(2 * store.arrays(KEY, (0,))[first_id]["mine"].last())


def test_a_dump_has_one_block_for_the_seeds_that_have_the_same(store, tmp_path):
    execute(store, (0, 1), small(probes=(risk,)))
    execute(store, (1, 2), small(probes=(risk, train_error)))
    blocks = {block.seeds: block for block in store.dump()}
    assert set(blocks) == {(0,), (1, 2)}
    assert len(blocks[(0,)].kept) == 1 and len(blocks[(1, 2)].kept) == 2
    other = Store(tmp_path / "copy.sqlite")
    for block in blocks.values():
        other.write(block)
    for task, seeds in ((small(probes=(risk,)), (0, 1, 2)), (small(), (1, 2))):
        assert same(rows(store, task, seeds), rows(other, task, seeds))
