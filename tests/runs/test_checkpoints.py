"""A run with checkpoints continues where it stopped, with identical rows."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import adversarium as av
from adversarium.attacks import PGD
from adversarium.measure import FirstTime, Total, Worst, risk, train_error
from adversarium.plans.run import Run
from adversarium.runs.jobs import resolve, units
from adversarium.runs.training_stream import TrainingStream
from adversarium.training.checkpoints import leaves
from tests.training.cases import parts

ENGINES = ("signal_noise", "gram", "law", "linear", "full", "sgd")


def run_of(engine: str, **changed) -> Run:
    """A small run of an engine with folds, probes and checkpoints."""
    data, network, attack, rule = parts(engine)
    return Run(
        **{
            "data": data,
            "network": network,
            "attack": attack,
            "n": rule.n,
            "steps": rule.steps,
            "eta": rule.eta,
            "risk": rule.risk,
            "optimiser": rule.optimiser,
            "engine": engine,
            "probes": (risk, train_error),
            "folds": (Worst(risk), Total(risk), FirstTime(train_error, 2.0)),
            "record": 3,
            "checkpoint": 5,
            **changed,
        }
    )


def unit_of(run: Run, folder: Path | str):
    (unit,) = units([(resolve(run), (3, 8))], "cpu", str(folder))
    return unit


def series(training: TrainingStream) -> dict[str, np.ndarray]:
    (kept,) = training.kept()
    return {n: s.values for one in kept[3].values() for n, s in one.series.items()}


RANDOM = PGD(p=2, radius=0.5, steps=2, start="uniform")  # measuring W⁽ᵗ⁾ draws its start


@pytest.mark.parametrize(
    ("engine", "changed"), [*((engine, {}) for engine in ENGINES), ("full", {"attack": RANDOM})]
)
def test_a_stopped_run_of_every_engine_goes_on_with_identical_rows(engine, changed, tmp_path):
    run = run_of(engine, **changed)
    whole = TrainingStream(unit_of(run, ""))
    times = [t for t, _ in whole]
    assert times == list(range(run.steps + 1))
    stopped = TrainingStream(unit_of(run, tmp_path))
    for t, _ in stopped:
        if t == 8:
            break
    resumed = TrainingStream(unit_of(run, tmp_path))
    assert next(t for t, _ in resumed) == 5
    assert [t for t, _ in resumed] == list(range(5, run.steps + 1))
    expected, found = series(whole), series(resumed)
    assert set(expected) == set(found)
    for name, values in expected.items():
        assert np.array_equal(values, found[name], equal_nan=True), name


def test_the_stream_yields_the_numbers_recorded_at_each_time():
    run = run_of("full", checkpoint=None, folds=())
    training = TrainingStream(unit_of(run, ""))
    seen = {t: rows[resolve(run).key]["risk"].values for t, rows in training if rows}
    assert tuple(seen) == run.times
    stored = series(training)["risk"]
    assert np.array_equal(torch.stack(list(seen.values()), 1).numpy()[:2], stored)


def test_a_checkpoint_of_other_probes_or_a_torn_file_is_not_used(tmp_path):
    for t, _ in TrainingStream(unit_of(run_of("full"), tmp_path)):
        if t == 10:
            break
    other = TrainingStream(unit_of(run_of("full", probes=(risk,)), tmp_path))
    assert next(t for t, _ in other) == 0
    last = max(tmp_path.rglob("*.npz"))
    last.write_bytes(last.read_bytes()[:100])
    assert next(t for t, _ in TrainingStream(unit_of(run_of("full"), tmp_path))) == 5


def test_a_state_comes_from_the_nearest_checkpoint(tmp_path, monkeypatch):
    run = run_of("full", steps=12, folds=())
    result = av.run(run, seeds=(3, 8), store=tmp_path / "s.sqlite")
    steps = []
    engine = resolve(run).engine
    step = type(engine).step
    monkeypatch.setattr(type(engine), "step", lambda self, s: steps.append(s.t) or step(self, s))
    state = result.state(seed=8, t=11)
    assert steps == [10]
    plain = av.run(run_of("full", steps=12, folds=(), checkpoint=None), seeds=(8,))
    assert torch.allclose(state.W, plain.state(seed=8, t=11).W, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("damage", [b"", b"no checkpoint"])
def test_a_damaged_checkpoint_is_passed_over(damage, tmp_path):
    run = run_of("full", steps=12, folds=())
    result = av.run(run, seeds=(3, 8), store=tmp_path / "s.sqlite")
    expected = result.state(seed=8, t=11).W
    for path in tmp_path.rglob("*.npz"):
        path.write_bytes(damage)
    assert torch.allclose(result.state(seed=8, t=11).W, expected, rtol=1e-12, atol=1e-15)
    assert next(t for t, _ in TrainingStream(unit_of(run, tmp_path / "s.sqlite.checkpoints"))) == 0


def test_a_fold_that_remembers_what_no_file_can_hold_is_named(tmp_path):
    run = run_of("full", folds=(Strange(),), probes=())
    (unit,) = units([(resolve(run), (3,))], "cpu", str(tmp_path))
    with pytest.raises(ValueError, match="cannot be saved in a checkpoint"):
        list(TrainingStream(unit))


class Strange:
    """A fold that remembers an open file."""

    measures = ()

    def see(self, memory, state, scene):
        return sys.stdout

    def rows(self, memory):
        return {}


def test_leaves_of_a_state_have_its_random_streams():
    run = run_of("sgd")
    job = resolve(run)
    state = job.engine.init((job.problem((0, 1), "cpu"),))
    kinds = [type(leaf) for leaf in leaves(state)]
    assert kinds.count(torch.Generator) == 4  # attack and order of two seeds


PROGRAM = """
import sys, time
import adversarium as av
from adversarium.attacks import PGD
from tests.runs.test_checkpoints import run_of
from adversarium.training.engines.sgd import Stochastic

step = Stochastic.step
def slow(self, walk):
    time.sleep(0.2)
    return step(self, walk)
if sys.argv[2] == "slow":
    Stochastic.step = slow
result = av.run(run_of("sgd", checkpoint=2), seeds=(3, 8), store=sys.argv[1])
for name in result:
    print(name, result[name].tolist())
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_from_its_last_checkpoint(tmp_path):
    here = Path(__file__).parents[2]
    call = [sys.executable, "-c", PROGRAM]
    slow = subprocess.Popen([*call, str(tmp_path / "killed.sqlite"), "slow"], cwd=here)
    for _ in range(600):
        if list(tmp_path.rglob("0000000004.npz")):
            break
        time.sleep(0.1)
    os.kill(slow.pid, signal.SIGKILL)
    slow.wait()
    said = [
        subprocess.run([*call, str(tmp_path / name), "fast"], cwd=here, capture_output=True)
        for name in ("killed.sqlite", "whole.sqlite")
    ]
    assert said[0].returncode == 0, said[0].stderr.decode()
    assert said[0].stdout == said[1].stdout and b"risk" in said[0].stdout
