"""A store of format 1 opened today: every number kept, under today's keys, names and axes.

format1.db was written by the last revision that wrote format 1 (c177568): toy sizes of every plan
of that time, and a user's own file (own.py).
"""

import json
import math
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import adversarium.runs.conversion as conversion
import adversarium.runs.reader
import adversarium.runs.store as module
from adversarium.plans import Run
from adversarium.plans.catalogue import load
from adversarium.runs.changes import planned
from adversarium.runs.compute import compute
from adversarium.runs.jobs import resolve, units
from adversarium.runs.reader import Reader
from adversarium.runs.store import FORMAT, Store

OLD = Path(__file__).with_name("format1.db")
OWN = str(Path(__file__).with_name("own.py"))
DYNAMICS = (
    *("data", "network", "attack", "n", "steps", "eta", "risk", "optimiser", "dtype"),
    *("function", "parameters", "version"),
)
GONE = {"scales", "step_size", "C_eff", "N'", "d"}  # known without running: no longer stored

# plans that are today what they were; the others are compared by their numbers alone
TOY = (
    ("cgro.dynamics", dict(steps=12, swept=(), gaps=(0.6, 0.1), many=())),
    ("conv.eq16", {"m": (16,), "rules": ("exact", "random"), "steps": 4}),
    ("cgro.phases", dict(ratios=(0.25, 1.0), gap=(0.2,), longest=20)),
)


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """Today's store of a copy of the old file."""
    path = tmp_path_factory.mktemp("converted") / "s.sqlite"
    shutil.copy(OLD, path)
    return Store(path)


@pytest.fixture(autouse=True)
def nothing_shipped(monkeypatch):
    """Rows come from the store alone."""
    monkeypatch.setattr(adversarium.runs.reader, "shipped", lambda experiment: ())


def old_runs():
    """What the old file holds, read by sqlite alone, one entry for all runs of one dynamics: how
    many they are and, by seed, (name, component, t) → number."""
    db = sqlite3.connect(f"file:{OLD}?mode=ro", uri=True)
    runs = {}
    for id, config in db.execute("SELECT id, config FROM runs ORDER BY id").fetchall():
        told = json.loads(config)
        dynamics = json.dumps({k: told[k] for k in DYNAMICS if k in told}, sort_keys=True)
        count, seeds = runs.get(dynamics, (0, {}))
        runs[dynamics] = count + 1, seeds
        for (seed,) in db.execute("SELECT seed FROM done WHERE run = ?", (id,)).fetchall():
            numbers = seeds.setdefault(seed, {})
            query = "SELECT probe, t, value FROM rows WHERE run = ? AND seed = ?"
            for probe, t, value in db.execute(query, (id, seed)):
                name, _, rest = probe.partition("[")
                place = name, int(rest[:-1]) if rest else None, t
                assert numbers.get(place, value) == value
                numbers[place] = value
    db.close()
    return list(runs.values())


def number(value):
    """A number that equals itself."""
    return None if value is None or math.isnan(value) else float(value).hex()


def same_numbers(name, series, old):
    """The numbers of a series stand where they stood: at their times, in their order."""
    for t, row in zip(series.t, series.values[0].reshape(len(series.t), -1), strict=True):
        for i, value in enumerate(row):
            place = name, i if series.axes else None, int(t)
            assert number(value) == number(old[place]), place


def test_every_number_is_kept_exactly_and_none_is_invented(converted):
    old = old_runs()
    keys = [key for (key,) in converted._db.execute("SELECT key FROM runs ORDER BY id")]
    assert len(keys) == len(old) > 100
    compared = 0
    for key, (count, by_seed) in zip(keys, old, strict=True):
        assert converted.seeds(key) == set(by_seed)
        for seed, numbers in by_seed.items():
            kept = {p: v for p, v in numbers.items() if p[0] not in GONE}
            series = [
                (name, one)
                for by_name in converted.arrays(key, (seed,)).values()
                for name, one in by_name.items()
            ]
            before = Counter((t, number(v)) for (_, _, t), v in kept.items())
            after = Counter(
                (int(t), number(v))
                for _, one in series
                for t, row in zip(one.t, one.values[0], strict=True)
                for v in np.ravel(row)
            )
            assert set(after) == set(before)
            assert after == before or count > 1  # two that recorded one name of different points
            named = {name for name, _, _ in kept}
            for name, one in series:
                if name in named:  # what kept its name kept its numbers, in their order
                    same_numbers(name, one, kept)
            compared += len(kept)
    assert compared > 2500


def jobs(id, knobs):
    tasks = planned(load(id), "quick", knobs)
    # the trials of conv.eq16 had one width, and now have those of its runs
    kept = [t for t in tasks if id != "conv.eq16" or isinstance(t, Run)]
    return [resolve(task) for task in kept]


@pytest.mark.parametrize(("id", "knobs"), TOY)
def test_a_converted_run_is_found_by_todays_key_and_nothing_is_run_again(converted, id, knobs):
    reader = Reader(converted, id)
    for job in jobs(id, knobs):
        assert reader.lacking(job, (0,)) == [], job.task.label
        assert reader.rows(job, (0,)).seeds == (0,)


def own_key(store, kind):
    """The key of the rows of own.py, which told less of own code then than one does today."""
    (key,) = {
        key
        for key, _, config in store.runs()
        if "@" in json.dumps(config) and ("function" in config) == (kind == "trial")
    }
    return key


@pytest.mark.parametrize("kind", ["run", "trial"])
def test_rows_of_own_code_are_kept_and_not_taken_for_those_of_today(converted, kind):
    (job,) = jobs(OWN, dict(kind=kind))
    assert converted.seeds(own_key(converted, kind)) == {0, 3}
    assert Reader(converted, OWN).lacking(job, (0, 3)) != []


@pytest.mark.parametrize(("id", "knobs"), TOY)
def test_a_converted_run_reads_as_one_of_today(converted, id, knobs):
    reader, close = Reader(converted, id), []
    for unit in units([(job, (0,)) for job in jobs(id, knobs)], "cpu"):
        outcome = compute(unit)
        assert not outcome.failures
        for job, block in zip(unit.jobs, outcome.blocks, strict=True):
            rows = reader.rows(job, (0,))
            told = {name: s for kept in block.kept.values() for name, s in kept.series.items()}
            assert set(rows.series) == set(told)
            for name, new in told.items():
                old = rows[name]
                assert old.t.tolist() == new.t.tolist() and old.axes == new.axes, name
                assert old.values.shape == new.values.shape
                if not name.startswith("step of "):  # where rounding was worst is chance
                    alike = np.isclose(old.values, new.values, 1e-3, 1e-6, equal_nan=True)
                    close.extend(alike.ravel())
    assert np.mean(close) > 0.97  # on another machine a point may fall on the other side


def test_where_rows_came_from_failures_and_verdicts_are_kept(converted):
    told = converted.provenance(own_key(converted, "run"), (0, 3))
    assert told["engine"] == "full" and "gram" in told["refused"] and told["seconds"] > 0
    assert {"cpu", "torch", "time", "dtype", "block"} <= set(told)
    assert converted.failures() == [
        {"experiment": "x", "seeds": [0, 1], "reason": "ArithmeticError: the run diverged"}
    ]
    assert converted.verdicts() == {"conv.eq17": {"id": "conv.eq17", "verdict": "holds"}}


def test_an_error_without_a_name_is_called_by_what_it_measures(converted):
    arrays = converted.arrays(own_key(converted, "run"), (0, 3))
    names = {name for by_name in arrays.values() for name in by_name}
    assert "test_error" in names and "Error" not in names


@pytest.fixture
def copy(tmp_path):
    path = tmp_path / "s.sqlite"
    shutil.copy(OLD, path)
    return path


def tables(path):
    """Everything that a file holds, read by sqlite alone, and its format."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    held = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    version = db.execute("PRAGMA user_version").fetchone()[0]
    db.close()
    return version, held


class Killed(BaseException):
    """What nobody catches."""


@pytest.mark.parametrize("after", (0, 1, 57))
def test_a_conversion_that_is_cut_short_leaves_format_1_whole(copy, monkeypatch, after):
    before = tables(copy)
    assert before[0] == 1
    add, count = Store._add, iter(range(1000))

    def cut(self, block):
        if next(count) == after:
            raise Killed
        add(self, block)

    monkeypatch.setattr(Store, "_add", cut)
    with pytest.raises(Killed):
        Store(copy)
    monkeypatch.undo()
    assert tables(copy) == before
    again = Store(copy)
    assert tables(copy)[0] == FORMAT and len(list(again._db.execute("SELECT * FROM runs"))) > 100


def test_reading_an_old_store_leaves_its_bytes_alone(copy):
    content = copy.read_bytes()
    view = Store(copy, readonly=True)
    assert view.seeds(own_key(view, "trial")) == {0, 3}
    view.close()
    assert copy.read_bytes() == content
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]


def test_a_second_opening_does_not_convert_again(copy, monkeypatch):
    Store(copy).close()
    content = tables(copy)

    def never(*given):
        raise AssertionError("converted again")

    monkeypatch.setattr(Store, "_convert", never)
    monkeypatch.setattr(module, "old_blocks", never)
    Store(copy).close()
    Store(copy, readonly=True).close()
    assert tables(copy) == content


def test_of_two_processes_that_open_an_old_store_one_converts(copy, monkeypatch):
    first, convert = [], Store._convert

    def raced(self):
        """Another process is faster, between the look at the format and the conversion."""
        monkeypatch.setattr(Store, "_convert", convert)
        first.append(Store(copy))
        convert(self)

    monkeypatch.setattr(Store, "_convert", raced)
    second = Store(copy)
    key = own_key(second, "trial")
    assert second.seeds(key) == first[0].seeds(key) == {0, 3}


def test_functions_are_named_as_today_wherever_they_stand():
    told = conversion.shortened(
        {"is": "At", "probe": "adversarium.probes.errors.risk", "label": "x", "times": [1, 2]}
    )
    assert told == {"is": "At", "probe": "errors.risk", "times": [1, 2]}
    moved = conversion.shortened(["adversarium.experiments.cgro.setting.sauer", "mine@0123"])
    assert moved == ["counting.sauer", "mine@0123"]
