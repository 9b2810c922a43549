"""This process, other processes and a cluster compute the same rows."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import adversarium as av
from adversarium.plans.loading import load
from adversarium.runs.audit import needed, planned_jobs
from adversarium.runs.changes import planned
from adversarium.runs.jobs import Job, Unit, resolve, units
from adversarium.runs.where import HERE, Processes, place
from adversarium.runs.where.cluster import Cluster
from adversarium.runs.where.packing import compute_packed, packed

# without the certified optima, whose solver's last digit is its library's (threads, processor)
CHANGES = {"m": (16,), "rules": ("exact", "random", "fgsm"), "steps": 6, "along": ()}


def waiting():
    """Return a small plan of runs and trials as units."""
    experiment = load("conv.eq16")
    jobs = [resolve(task) for task in planned(experiment, "quick", CHANGES)]
    return units([(job, tuple(range(4))) for job in jobs], "cpu")


def digests(outcome):
    """Return the digest of every array of a result, by key, seeds, probe and name."""
    assert not outcome.failures, outcome.failures
    made = {}
    for block in outcome.blocks:
        for probe, kept in block.kept.items():
            for name, series in kept.series.items():
                text = hashlib.sha256(np.ascontiguousarray(series.values).tobytes())
                text.update(np.ascontiguousarray(series.t).tobytes())
                made[block.key, block.seeds, probe, name] = text.hexdigest()
    return made


def computed(where, after_first=None):
    """Return the digests of all units at a place; call `after_first` when one is done."""
    made = {}
    for i, (_, outcome) in enumerate(where.computed(waiting(), "conv.eq16", lambda *told: None)):
        made |= digests(outcome)
        if i == 0 and after_first is not None:
            after_first()
    return made


@pytest.fixture(scope="module")
def here():
    return computed(HERE)


def test_processes_make_the_same_rows(here):
    assert len(here) > 20
    assert computed(Processes(2)) == here


def test_processes_are_kept_from_one_experiment_to_the_next_and_ended_when_one_is_left(here):
    where = Processes(2)
    assert computed(where) == here
    kept = set(where._pool()._processes)
    assert computed(where) == here and set(where._pool()._processes) == kept
    running = where.computed(waiting(), "conv.eq16", lambda *told: None)
    next(running)
    running.close()
    assert not where._held
    assert computed(where) == here


class Servers:
    """A scheduler and two workers, started by the program's commands."""

    def __init__(self):
        self.scheduler, self.address = self._started("scheduler", "--port", "0")
        self.workers = [self._started("worker", self.address)[0] for _ in range(2)]

    def _started(self, *words):
        command = [sys.executable, "-m", "adversarium.cli", *words]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        line = process.stdout.readline()
        assert line.startswith(f"{words[0]} at tcp://127.0.0.1:"), line
        return process, line.split()[-1]

    def stop(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture
def servers():
    started = Servers()
    yield started
    started.stop()


def test_a_cluster_makes_the_same_rows_though_a_worker_is_killed(here, servers):
    killed = servers.workers[0]
    where = Cluster(servers.address)
    assert computed(where, lambda: killed.send_signal(signal.SIGKILL)) == here
    assert killed.wait(timeout=30) == -signal.SIGKILL


def test_a_scheduler_without_workers_or_none_at_all_is_told_in_a_sentence(monkeypatch):
    import adversarium.runs.where.cluster as module

    monkeypatch.setattr(module, "PATIENCE", 1)
    began = time.monotonic()
    with pytest.raises(ValueError, match="no scheduler answers"):
        computed(Cluster("tcp://127.0.0.1:9"))
    assert time.monotonic() - began < 20


def test_a_packed_unit_gives_the_same_rows(here):
    made = {}
    for unit in waiting():
        made |= digests(compute_packed(packed(unit, "conv.eq16")))
    assert made == here


TWICE = '''"""One run in two places, which record different things."""
from adversarium.data import Clusters
from adversarium.networks import TwoLayer
from adversarium.plans import Level, Run, last
from adversarium.measure import risk, train_error

quick = dict(seeds=2)


def plan():
    parts = dict(data=Clusters(d=6, mu=2.0), network=TwoLayer(m=4), n=6, steps=2, eta=0.1)
    yield Run(**parts, family="one", probes=(risk,))
    yield Run(**parts, family="two", probes=(train_error,))


checks = {"twice.thm": Level(last("risk", "one"), 0)}
'''


def test_one_run_in_two_places_is_recorded_for_both(tmp_path):
    file = tmp_path / "twice.py"
    file.write_text(TWICE)
    experiment = load(str(file))
    jobs = planned_jobs(experiment, "quick")
    assert len({job.key for job in jobs}) == 1
    for job in jobs:
        (unit,) = units([(job, (0, 1))], "cpu")
        (block,) = compute_packed(packed(unit, str(file))).blocks
        assert set(block.kept) == set(job.asked)


def doubled(rng, size):
    return {"drawn": 2 * size}


def test_a_run_made_in_python_travels_too():
    trial = av.Trial(function=doubled, parameters={"size": 2.0})
    (unit,) = units([(resolve(trial), (0,))], "cpu")
    (block,) = compute_packed(packed(unit, "x")).blocks
    assert block.kept[""].series["drawn"].values.item() == 4.0


def test_what_cannot_be_pickled_is_reported_in_one_sentence():
    trial = av.Trial(function=doubled, parameters={"size": sys.stdout})
    unit = Unit((Job(trial, None, "key", {}),), ((0,),))
    with pytest.raises(ValueError, match="cannot be sent to another process"):
        packed(unit, "x")


def test_the_words_of_a_place():
    assert place("here") is HERE and place("processes:3") == Processes(3)
    assert place("processes").count >= 1 and place("tcp://127.0.0.1:1").address.endswith(":1")
    for bad in ("there", "processes:0", "processes:x", "tcp:/x", ""):
        with pytest.raises(ValueError, match="--on needs"):
            place(bad)


def test_only_what_is_needed_travels():
    experiment = load("conv.eq16")
    check = experiment.checks["conv.eq16"]
    kept = needed(planned(experiment, "quick", CHANGES), check.needs)
    asked = {name for task in kept if hasattr(task, "recordings")
             for r in task.recordings for name in r.names}  # fmt: skip
    assert asked and all("eq16_excess" in name for name in asked)


OWN = """import os
import adversarium as av

quick = dict(seeds=3)
checks = {"own.alive": av.plans.Level(av.plans.last("drawn", "calm"), 0, 10)}


def calm(rng, size):
    return {"drawn": size}


def deadly(rng, size):
    os.kill(os.getpid(), 9)


def plan():
    yield av.Trial(function=calm, parameters={"size": 2.0}, family="calm")
    yield av.Trial(function=deadly, parameters={"size": 1.0}, family="deadly")
"""


def own_units(path):
    jobs = [resolve(task) for task in planned(load(path), "quick", {})]
    return units([(job, (0, 1)) for job in jobs], "cpu")


def test_a_unit_that_kills_its_process_fails_alone(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    made = Processes(2).computed(own_units(str(tmp_path / "own.py")), "own", lambda *told: None)
    by_family = {}
    for unit, outcome in made:
        by_family.setdefault(unit.jobs[0].task.family, []).append(outcome)
    assert [len(o.blocks) for o in by_family["calm"]] == [1, 1]
    assert all("process died" in why for o in by_family["deadly"] for why in o.failures.values())
    assert [len(o.failures) for o in by_family["deadly"]] == [1, 1]


def test_the_code_of_a_user_file_travels_with_its_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper.py").write_text("MORE = 1\n")
    (tmp_path / "own.py").write_text(
        f"from helper import MORE\n{OWN}".replace('"drawn": size', '"drawn": size + MORE')
    )
    data = packed(own_units("./own.py")[0], "own")
    alone = "import pickle, sys\nfrom adversarium.runs.where.packing import compute_packed\n"
    alone += "made = compute_packed(open(sys.argv[1], 'rb').read())\n"
    alone += "print(made.blocks[0].kept[''].series['drawn'].values.item())\n"
    (tmp_path / "unit").write_bytes(data)
    (tmp_path / "own.py").unlink(), (tmp_path / "helper.py").unlink()
    said = subprocess.run(
        [sys.executable, "-c", alone, tmp_path / "unit"],
        cwd="/",
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert float(said.stdout) == 3.0


ORPHANS = """
import os, signal, sys, threading, time
from adversarium.runs.where.processes import _deaf
import multiprocessing

def worker(told):
    _deaf()
    told.put(os.getpid())
    time.sleep(600)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    context.Process(target=worker, args=(told,)).start()
    print(told.get(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_ends_with_whoever_started_it(tmp_path):
    (tmp_path / "orphans.py").write_text(ORPHANS)
    said = subprocess.run(
        [sys.executable, "orphans.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=False
    )
    worker = int(said.stdout.split()[0])
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        with suppress(OSError, IndexError):
            if Path(f"/proc/{worker}/stat").read_text().split()[2] == "Z":
                return  # it has ended, and nobody has asked
        time.sleep(0.2)
    raise AssertionError("it goes on")
