"""Jobs: keys depend only on the dynamics, recordings can be added, units run side by side."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adversarium.attacks import GTA, PGD
from adversarium.data import PatchData
from adversarium.measure.errors import Error, risk, robust_train_error, train_error
from adversarium.measure.folds import At, FirstTime, Worst
from adversarium.networks import CubicCNN
from adversarium.papers.cgro.theory.features import true_feature
from adversarium.plans import Read, Trial
from adversarium.plans.loading import load
from adversarium.runs import jobs as jobs_module
from adversarium.runs.changes import planned
from adversarium.runs.compute import compute
from adversarium.runs.jobs import Unit, padded, resolve, run_key, units
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store
from adversarium.sockets import Along
from adversarium.training import SGD, Risk
from tests.runs.small import clusters, execute, probe_id, rows, same, small


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "s.sqlite")
    yield opened
    opened.close()


def key(task):
    return resolve(task).key


@pytest.mark.parametrize(
    "change",
    [
        dict(probes=(risk,)),
        dict(probes=()),
        dict(final=(train_error, Error(n=7))),
        dict(folds=(Worst(risk), FirstTime(true_feature, 0.1))),
        dict(record=3),
        dict(record=(0, 7)),
        dict(family="ladder"),
        dict(at={"d": Read("data.d"), "N": 6}),
    ],
)
def test_what_is_recorded_and_where_a_run_stands_are_not_in_its_key(change):
    assert key(small(**change)) == key(small())


@pytest.mark.parametrize(
    "change",
    [
        dict(eta=0.06),
        dict(n=7),
        dict(steps=21),
        dict(attack=GTA(gamma=0.8)),
        dict(attack=None),
        dict(data=PatchData(d=20, P=3, alpha=2.0, sigma=0.3)),
        dict(network=CubicCNN(m=5, sigma0=0.2)),
        dict(risk=Risk(lam=0.3)),
        dict(optimiser=SGD(batch=3)),
        dict(dtype="float32"),
        dict(engine="full"),
    ],
)
def test_what_is_run_is_in_its_key(change):
    assert key(small(**change)) != key(small())


def test_the_version_of_an_engine_is_in_the_key():
    dynamics = small().dynamics
    keys = {run_key(dynamics, "full", 1), run_key(dynamics, "full", 2), run_key(dynamics, "sgd", 1)}
    assert len(keys) == 3 and key(small(engine="full")) in keys


def draws(rng, scale, places=(1.0, 2.0)):
    """Return a number, and a quantity with an axis."""
    level = scale * (1 + rng.initial_seed() % 7)
    return {"level": level, "curve": Along("N", places, tuple(level * p for p in places))}


def test_a_trials_key_is_its_function_its_parameters_and_its_version():
    trial = Trial(function=draws, parameters={"scale": 2.0})
    assert key(trial) == key(replace(trial, family="x", at={"scale": Read("scale")}))
    assert key(trial) != key(replace(trial, parameters={"scale": 3.0}))
    assert key(trial) != key(replace(trial, version=2))
    assert key(trial) != key(replace(trial, function=padded))


def test_a_trial_runs_a_seed_at_a_time_and_keeps_its_axis(store):
    trial = Trial(function=draws, parameters={"scale": 2.0})
    made = execute(store, (0, 1, 2), trial)
    assert [unit.seeds for unit in made] == [((0,),), ((1,),), ((2,),)]
    kept = rows(store, trial, (0, 1, 2))
    assert kept["level"].values.shape == (3, 1)
    assert kept["curve"].axes == {"N": (1.0, 2.0)} and kept["curve"].values.shape == (3, 1, 2)
    assert np.array_equal(kept["curve"].values[:, :, 0], kept["level"].values)


def test_the_record_times_of_a_probe_are_not_in_its_digest():
    assert probe_id(risk) != probe_id(train_error)
    assert resolve(small(probes=(At(risk, (0, 5)),))).asked == {probe_id(risk): (0, 5)}
    assert probe_id(Error(n=7, symbol="$e$")) == probe_id(Error(n=7)) != probe_id(Error(n=8))


def table(store, name):
    """Return a table of the store as it is in the file."""
    return set(store._db.execute(f"SELECT * FROM {name}"))


def test_one_more_probe_later_trains_again_and_adds_that_probe_alone(store):
    first = small(probes=(risk, train_error), folds=(Worst(risk),))
    execute(store, (0, 1), first)
    before = {name: table(store, name) for name in ("arrays", "done")}
    stamp = store.provenance(key(first), (0, 1))
    more = replace(first, probes=(risk, train_error, robust_train_error))
    (unit,) = execute(store, (0, 1), more)
    assert unit.jobs[0].task.probes == (robust_train_error,) and unit.jobs[0].task.folds == ()
    added = {name: table(store, name) for name in before}
    for name, old in before.items():
        assert old < added[name]
        assert {row[2] for row in added[name] - old} == {probe_id(robust_train_error)}
    after = store.provenance(key(first), (0, 1))
    assert after["seconds"] > stamp["seconds"]
    assert {**after, "seconds": 0} == {**stamp, "seconds": 0}
    assert set(rows(store, more, (0, 1)).series) == {
        "risk",
        "train_error",
        "robust_train_error",
        "worst(risk)",
        "step of worst(risk)",
    }
    assert set(rows(store, small(probes=(risk,)), (0, 1)).series) == {"risk"}


def test_a_block_that_has_all_of_a_seed_brings_its_own_stamp(store):
    execute(store, (0,), small())
    stamp = store.provenance(key(small()), (0,))["time"]
    (unit,) = units([(resolve(small()), (0,))], "cpu")
    (block,) = compute(unit).blocks
    store.write(block)
    assert store.provenance(key(small()), (0,))["time"] > stamp


def test_other_record_times_are_merged_and_each_asker_sees_its_own(store):
    early, late = small(record=(0, 4), probes=(risk,)), small(record=(4, 9), probes=(risk,))
    execute(store, (0, 1), early)
    execute(store, (1,), late)
    assert store.recorded(key(early)) == {
        (0, probe_id(risk)): (0, 4, 20),
        (1, probe_id(risk)): (0, 4, 9, 20),
    }
    assert rows(store, early, (0, 1))["risk"].t.tolist() == [0, 4, 20]
    assert rows(store, late, (0, 1)) is None
    assert rows(store, late, (1,))["risk"].t.tolist() == [4, 9, 20]
    whole = rows(store, small(record=(0, 4, 9), probes=(risk,)), (1,))["risk"]
    assert np.isfinite(whole.values).all()
    assert np.array_equal(whole.values[:, [0, 1, 3]], rows(store, early, (1,))["risk"].values)
    assert execute(store, (0, 1), small(record=(0,), probes=(risk,))) == []


def test_what_some_seeds_lack_is_run_of_those_alone(store):
    execute(store, (0, 1), small(probes=(risk,)))
    execute(store, (0,), small(probes=(train_error,)))
    reader, job = Reader(store, "x"), resolve(small(probes=(risk, train_error)))
    lacking = {seeds: set(piece.asked) for piece, seeds in reader.lacking(job, (0, 1, 2))}
    assert lacking == {
        (1,): {probe_id(train_error)},
        (2,): {probe_id(risk), probe_id(train_error)},
    }
    assert set(reader.partial(job, (0, 1)).series) == {"risk"}
    assert reader.partial(job, (0, 3)) is None


def test_blocks_have_a_fixed_width_and_the_last_is_filled_up():
    assert padded((1, 2, 3), 2) == [(1, 2), (3, 3)]
    assert padded((), 5) == []
    job = resolve(small())
    width = job.engine.batching.block_size["cpu"]
    seeds = tuple(range(width + 2))
    first, last = units([(job, seeds)], "cpu")
    assert first.seeds == (seeds[:width],) and first.replicas == width == last.replicas
    assert last.seeds == ((width, *[width + 1] * (width - 1)),)
    (block,) = compute(last).blocks
    assert block.seeds == (width, width + 1)
    assert all(s.values.shape[0] == 2 for k in block.kept.values() for s in k.series.values())


GRAM = (
    clusters(),
    clusters(d=45, radius=0.1, eta=0.1),
    clusters(d=20, radius=0.7, eta=0.02, family="near"),
)


def computed(unit):
    outcome = compute(unit)
    assert not outcome.failures, outcome.failures
    return {block.key: block for block in outcome.blocks}


@pytest.mark.parametrize(
    "tasks",
    [
        GRAM,
        (
            small(),
            small(data=PatchData(d=33, P=3, alpha=1.5, sigma=0.1), eta=0.02, risk=Risk(lam=0.3)),
            small(attack=None),
        ),
        (
            small(engine="full"),
            small(engine="full", data=PatchData(d=20, P=3, alpha=1.0, sigma=0.4)),
        ),
    ],
    ids=("gram", "signal_noise", "full"),
)
def test_runs_of_one_shape_go_side_by_side_and_equal_single_runs(tasks):
    jobs = [resolve(task) for task in tasks]
    own = [(0, 1), (1,), (2, 0, 5)][: len(jobs)]
    (unit,) = units(list(zip(jobs, own, strict=True)), "cpu")
    assert unit.jobs == tuple(jobs) and unit.seeds == tuple(own)
    together = computed(unit)
    for job, seeds in zip(jobs, own, strict=True):
        (alone,) = computed(Unit((job,), (seeds,))).values()
        block = together[job.key]
        assert block.seeds == seeds and set(block.kept) == set(alone.kept)
        for probe, kept in block.kept.items():
            for name, series in kept.series.items():
                expected = alone.kept[probe].series[name].values
                assert series.values == pytest.approx(expected, abs=1e-12)


def test_runs_of_different_shape_go_apart():
    jobs = [resolve(task) for task in (clusters(), clusters(n=9), small(), small(steps=21))]
    made = units([(job, (0, 1)) for job in jobs], "cpu")
    assert [len(unit.jobs) for unit in made] == [1, 1, 1, 1]


def test_a_unit_holds_no_more_replicas_than_its_engine_likes():
    jobs = [resolve(clusters(d=d)) for d in (20, 30, 40)]
    wide = jobs[0].engine.batching.max_batched["cpu"]
    seeds = tuple(range(wide // 2 + 3))
    made = units([(job, seeds) for job in jobs], "cpu")
    assert all(unit.replicas <= wide for unit in made)
    ran = [
        (job.key, s) for u in made for job, own in zip(u.jobs, u.seeds, strict=True) for s in own
    ]
    assert sorted(ran) == sorted((job.key, s) for job in jobs for s in seeds)
    (many,) = units([(jobs[0], seeds[:5]), (jobs[1], seeds[:5])], "cpu")
    assert many.seeds == (seeds[:5], seeds[:5])


def test_a_run_that_diverges_fails_alone():
    good, bad = small(), small(eta=1e200)
    jobs = [resolve(good), resolve(bad)]
    (unit,) = units([(job, (0, 1)) for job in jobs], "cpu")
    outcome = compute(unit)
    assert set(outcome.failures) == {key(bad)} and "diverged" in outcome.failures[key(bad)]
    (block,) = outcome.blocks
    (alone,) = computed(Unit((jobs[0],), ((0, 1),))).values()
    for probe, kept in alone.kept.items():
        for name, series in kept.series.items():
            assert block.kept[probe].series[name].values == pytest.approx(series.values, abs=1e-12)


class Broken(PatchData):
    """A distribution whose `sample` raises."""

    def sample(self, n, rng):
        raise OSError("the disk is gone")


def test_a_run_that_cannot_start_fails_alone():
    fields = dict(d=20, P=3, alpha=2.0, sigma=0.2)
    tasks = small(engine="full"), small(engine="full", data=Broken(**fields))
    jobs = [resolve(task) for task in tasks]
    (unit,) = units([(job, (0, 1)) for job in jobs], "cpu")
    outcome = compute(unit)
    assert set(outcome.failures) == {jobs[1].key}
    assert outcome.failures[jobs[1].key].endswith(", OSError: the disk is gone")  # and where
    assert [block.key for block in outcome.blocks] == [jobs[0].key]


def test_a_probe_that_raises_fails_its_own_run_alone():
    def unlucky(state, scene):
        """Raise an error if the radius is small."""
        if scene.attack.radius < 0.2:
            raise ZeroDivisionError("nothing to divide by")
        return state.risk()

    tasks = [replace(task, probes=(unlucky, risk)) for task in GRAM]
    (unit,) = units([(resolve(task), (0,)) for task in tasks], "cpu")
    outcome = compute(unit)
    assert list(outcome.failures) == [key(tasks[1])] and len(outcome.blocks) == 2


def test_a_number_that_is_no_number_is_no_row_of_a_probe_but_may_be_one_of_a_fold(store):
    never = small(folds=(FirstTime(true_feature, 1e9),))
    execute(store, (0,), never)
    assert math.isnan(rows(store, never, (0,)).last("first_time(true_feature >= 1e+09)")[0])


def test_a_job_says_which_engines_refused_and_why():
    job = resolve(small())
    assert job.engine_name == "signal_noise" and "gram" in job.refused
    assert resolve(Trial(function=draws)).engine_name == "trial"
    with pytest.raises(ValueError, match="no engine can run"):
        resolve(small(engine="linear"))
    other = resolve(small(attack=PGD(p=2, radius=0.1)))
    assert other.engine_name == "full" and "signal_noise" in other.refused


def test_rows_of_two_ways_to_ask_are_the_same(store, tmp_path):
    whole, narrow = small(), small(probes=(risk,))
    execute(store, range(3), whole)
    other = Store(tmp_path / "b.sqlite")
    execute(other, range(3), narrow)
    assert same(rows(store, narrow, range(3)), rows(other, narrow, range(3)))


def _counted(rng, x, draws=False):
    _CALLS.append(x)
    return {"y": x + (float(torch.rand((), generator=rng)) if draws else 0.0)}


_CALLS: list[float] = []


def test_an_exact_trial_is_computed_once_for_all_seeds():
    _CALLS.clear()
    trial = Trial(function=_counted, parameters={"x": 2.0}, exact=True)
    (unit,) = units([(resolve(trial), (0, 1, 2))], "cpu")
    (block,) = compute(unit).blocks
    assert _CALLS == [2.0]
    assert block.seeds == (0, 1, 2)
    assert resolve(trial).key == resolve(replace(trial, exact=False)).key


def test_an_exact_trial_that_draws_is_refused():
    trial = Trial(function=_counted, parameters={"x": 2.0, "draws": True}, exact=True)
    (unit,) = units([(resolve(trial), (0, 1))], "cpu")
    (why,) = compute(unit).failures.values()
    assert "drew a random number" in why


def test_small_tensors_get_one_thread_and_large_ones_as_many_as_torch_has(monkeypatch):
    monkeypatch.setattr(jobs_module.torch, "get_num_threads", lambda: 3)
    few = resolve(small())
    large = resolve(planned(load("rnrf.fig3"), "quick", {})[1])
    assert [u.threads for u in units([(few, (0, 1))], "cpu")] == [1]
    assert [u.threads for u in units([(large, (0, 1))], "cpu")] == [3]


def test_rows_do_not_depend_on_the_number_of_threads():
    job = resolve(small())
    one, two = (compute(Unit((job,), ((0, 1),), threads=n)).blocks[0] for n in (1, 2))
    for probe, kept in one.kept.items():
        for name, series in kept.series.items():
            assert np.array_equal(series.values, two.kept[probe].series[name].values)
