"""Stored rows of own code come back only while the code gives them: what no key tells shows in the
numbers that are made again first."""

import functools
import os
import random
import subprocess
import sys
from dataclasses import dataclass

import pytest
import torch

import adversarium as av
from adversarium.digest import configuration
from adversarium.runs import outdated
from adversarium.sockets import Measure
from tests.program import OWN, one_sentence

SHARED = {
    "an object": ("C = SimpleNamespace(s=1.0)", "C.s = s", "C.s"),
    "a dictionary": ('C = {"s": 1.0}', 'C["s"] = s', 'C["s"]'),
    "a class": ("class C:\n    s = 1.0", "C.s = s", "C.s"),
    "a function": ("def C():\n    return C.s", "C.s = s", "C()"),
    "a tensor": ("C = torch.zeros(1)", "C.fill_(s)", "float(C)"),
    "the environment": ('os.environ["S"] = "1"', 'os.environ["S"] = str(s)',
                        'float(os.environ["S"])'),
}  # fmt: skip


@pytest.mark.parametrize("what", SHARED)
def test_a_plan_that_changes_what_its_runs_share_is_refused(what, call, tmp_path):
    made, change, read = SHARED[what]
    (tmp_path / "own.py").write_text(f'''"""Runs that share something."""
import os
from types import SimpleNamespace

import torch

from adversarium.plans import Trial

quick, checks = dict(seeds=1), {{}}
{made}


def f(rng):
    return {{"v": {read}}}


def plan(values=(1.0, 2.0)):
    for s in values:
        {change}
        yield Trial(family="a", at={{"s": s}}, function=f)
''')
    one_sentence(call("run", "./own.py", status=2), "changes what the runs before hold")


def _trial(held):
    def trial(rng):
        return {"v": held()}

    return av.Trial(function=trial)


@dataclass
class Hidden:
    """Its number is where no key looks."""

    place: str

    def __call__(self):
        return float(os.environ[self.place + "_HIDDEN"])


def test_rows_are_made_again_where_the_code_gives_others_now(tmp_path, monkeypatch):
    store = tmp_path / "s.sqlite"
    for value in (1.0, 1.0, 2.0, 1.0):
        monkeypatch.setenv("NUMBER_HIDDEN", str(value))
        made = av.run(_trial(Hidden("NUMBER")), range(2), store)["v"]
        assert made[:, 0].tolist() == [value, value]


def by_place(state, scene):
    return state.risk() * 0 + float(os.environ["OF_" + "PROBE"])


@pytest.mark.parametrize("final", [False, True])
def test_the_rows_of_a_run_too(final, tmp_path, monkeypatch):
    data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)
    probes = dict(final=[by_place]) if final else dict(probes=[by_place])
    run = av.Run(data=data, network=network, n=6, steps=4, eta=0.05, **probes)
    for value in (1.0, 2.0):
        monkeypatch.setenv("OF_PROBE", str(value))
        assert (av.run(run, range(2), tmp_path / "s.sqlite")["by_place"] == value).all()


def test_rows_that_still_hold_are_not_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("OF_PROBE", "1")
    data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)
    run = av.Run(data=data, network=network, n=6, steps=4, eta=0.05, probes=[by_place])
    store = tmp_path / "s.sqlite"
    av.run(run, range(2), store)

    def never(*given):
        raise AssertionError("trained again")

    monkeypatch.setattr(av.api, "compute", never)
    assert av.run(run, range(2), store)["by_place"].shape[0] == 2


def test_a_later_probe_is_known_by_its_own_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("OF_PROBE", "1")
    data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)

    def made(*probes):
        run = av.Run(data=data, network=network, n=6, steps=4, eta=0.05, probes=probes)
        return av.run(run, range(2), tmp_path / "s.sqlite")

    made(av.probes.risk)
    made(av.probes.risk, by_place)
    monkeypatch.setenv("OF_PROBE", "2")
    assert (made(av.probes.risk, by_place)["by_place"] == 2).all()


def test_a_long_trial_is_not_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(outdated, "LONGEST", -1.0)
    monkeypatch.setenv("NUMBER_HIDDEN", "1")
    store = tmp_path / "s.sqlite"
    av.run(_trial(Hidden("NUMBER")), range(1), store)
    monkeypatch.setenv("NUMBER_HIDDEN", "2")
    assert av.run(_trial(Hidden("NUMBER")), range(1), store)["v"][0, 0] == 1.0


READS = '''"""A number from a file that Python's open does not open."""

import sqlite3

from adversarium.plans import Trial, last, level

quick = dict(seeds=1)
claims = {"own.x": dict(statement="x", kind="level", source="me")}


def read(rng):
    db = sqlite3.connect("table" + ".db")
    return {"x": float(db.execute("SELECT x FROM t").fetchone()[0])}


def plan():
    yield Trial(function=read)


checks = {"own.x": level(last("x"), 0)}
'''


def test_a_file_that_another_language_reads_is_noticed(call, tmp_path):
    import sqlite3

    (tmp_path / "own.py").write_text(READS)
    for value in (1, 22):
        with sqlite3.connect(tmp_path / "table.db") as db:
            db.execute("DROP TABLE IF EXISTS t")
            db.execute(f"CREATE TABLE t AS SELECT {value} AS x")
        said = call("run", "./own.py").stdout
        line = next(line for line in said.splitlines() if line.split()[:1] == ["x"])
        assert line.split()[1] == str(value)
        call("export", "./own.py", "--to", "csv")
    with sqlite3.connect(tmp_path / "table.db") as db:
        db.execute("UPDATE t SET x = 3")
    one_sentence(call("export", "./own.py", "--to", "csv", status=2), "lacks rows")


ADDING = (
    OWN.replace("steps=200", "steps=2")
    .replace("d=20):", "d=20, shift=1.0):")
    .replace("probes=(risk, train_error)", "probes=(risk, train_error, shifted(shift))")
    + """

import torch


def shifted(by):
    by = torch.tensor(by).double()

    def moved(state, scene):
        return by.add(0 * state.risk())

    return moved
"""
)


def test_a_tensor_that_is_added_to_is_no_cache(call, tmp_path):
    (tmp_path / "own.py").write_text(ADDING)
    for shift in ("1.0", "100.0"):
        said = call("run", "./own.py", "--set", f"shift={shift}").stdout
        line = next(line for line in said.splitlines() if line.split()[:1] == ["moved"])
        assert line.split()[1] == f"{float(shift):g}"


def _wrapped(bias):
    from torch.nn.utils.parametrizations import weight_norm

    layer = torch.nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.fill_(1.0)
        layer.bias.fill_(bias)
    return weight_norm(layer)


@dataclass
class Scaled:
    function: object
    factor: float

    @property
    def measures(self):
        return (Measure("scaled"),)

    def __call__(self, state, scene):
        return self.factor * self.function(state, scene)


class Private:
    __slots__ = ("__b",)

    def __init__(self, b):
        self.__b = b


def called(x):
    return x


def with_attribute(value):
    def inner(x):
        return inner.scale * x

    inner.scale = value
    return inner


@pytest.mark.parametrize("made", [_wrapped, Private, with_attribute])
def test_what_cannot_be_pickled_is_told_by_what_it_holds(made):
    told = [configuration({"held": [made(v)]}) for v in (1.0, 1.0, 2.0)]
    assert told[0] == told[1] != told[2]


def test_a_probe_of_somebody_with_a_function_keeps_its_fields():
    assert configuration(Scaled(called, 1.0)) != configuration(Scaled(called, 2.0))


class Node:
    def __init__(self):
        self.me = self


def test_a_part_that_holds_itself_is_told():
    with pytest.raises(ValueError, match="Node holds itself"):
        _ = av.Trial(function=called, parameters={"node": Node()}).dynamics


@pytest.mark.parametrize("record", [-5, 0, (1.5,), (-1,), "all", True])
def test_record_times_are_whole_numbers(record):
    data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)
    with pytest.raises(ValueError, match="record is a stride"):
        av.Run(data=data, network=network, n=6, steps=4, eta=0.05, record=record)


EDITED = """
import sys
import adversarium as av
import hh

def f(rng):
    return {"v": getattr(hh, "value")()}

if sys.argv[1:]:
    av.run(av.Trial(function=f), range(1), "s.sqlite")
    open("hh.py", "w").write("def value():\\n    return 2.0\\n")
print(av.run(av.Trial(function=f), range(1), "s.sqlite")["v"][0, 0])
"""


def test_a_helper_that_was_edited_in_a_running_session(tmp_path):
    (tmp_path / "hh.py").write_text("def value():\n    return 1.0\n")
    (tmp_path / "session.py").write_text(EDITED)
    for words in (["edit"], []):
        said = subprocess.run(
            [sys.executable, "session.py", *words], cwd=tmp_path, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
    assert said.stdout.split()[-1] == "2.0"


def by_all(state, scene):
    return state.risk() * state.W.norm()


def by_largest(state, scene):
    return state.risk() / state.risk().max()


@pytest.mark.parametrize("probe", [by_all, by_largest])
def test_a_number_that_depends_on_the_seeds_beside_it_is_refused(probe):
    data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)
    run = av.Run(data=data, network=network, n=6, steps=4, eta=0.05, probes=[probe])
    with pytest.raises(RuntimeError, match="beside another one"):
        av.run(run, range(2))


@dataclass(frozen=True)
class Together:
    """An attack whose steps depend on the seeds beside it."""

    radius: float = 0.1

    @property
    def ball(self):
        return av.attacks.Ball(2, self.radius)

    def __call__(self, loss, batch, t, rng):
        return batch.x + self.radius * batch.x / batch.x.norm()


@dataclass(frozen=True)
class Late:
    """An attack that draws from Python's own stream, late."""

    radius: float = 0.1

    @property
    def ball(self):
        return av.attacks.Ball(2, self.radius)

    def __call__(self, loss, batch, t, rng):
        return batch.x + (1e-3 * random.random() if t > 5 else 0.0)


@pytest.mark.parametrize(
    ("attack", "said"),
    [(Together(), "training under its attack"), (Late(), "Python's common random numbers")],
)
def test_an_attack_is_the_same_for_every_seed_and_call(attack, said):
    data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)
    run = av.Run(data=data, network=network, attack=attack, n=6, steps=10, eta=0.05,
                 probes=[av.probes.risk])  # fmt: skip
    with pytest.raises(RuntimeError, match=said):
        av.run(run, range(2))


FROM_FILE = (
    OWN.replace("steps=200", "steps=2")
    .replace("d=20):", 'd=20, path="a.txt"):')
    .replace("probes=(risk, train_error)", "probes=(risk, train_error, read(path), Read(path))")
    + """

from dataclasses import dataclass


def read(path):
    def closed(state, scene):
        return state.risk() * 0 + float(open(path, encoding="ascii").read())

    return closed


@dataclass(frozen=True)
class Read:
    path: str

    def __call__(self, state, scene):
        return state.risk() * 0 + float(open(self.path, encoding="ascii").read())
"""
)


def test_a_file_that_a_knob_names_is_read(call, tmp_path):
    (tmp_path / "own.py").write_text(FROM_FILE)
    for name, value in (("a.txt", 2), ("b.txt", 3), ("b.txt", 4)):
        (tmp_path / name).write_text(str(value))
        said = call("run", "./own.py", "--set", f"path={name}").stdout
        told = {line.split()[0]: line.split()[1] for line in said.splitlines() if line.split()[1:]}
        assert told["closed"] == told["Read"] == str(value)


def half(state, scene, by):
    return state.risk() * by


def test_a_partial_probe_has_the_name_of_its_function():
    data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)
    probes = [functools.partial(half, by=0.5)]
    run = av.Run(data=data, network=network, n=6, steps=4, eta=0.05, probes=probes)
    assert av.run(run, range(2))["half"].shape[0] == 2


def test_a_knob_of_one_number_takes_no_list(call, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    one_sentence(call("run", "./own.py", "--set", "d=[10,20]", status=2), "needs one int")
