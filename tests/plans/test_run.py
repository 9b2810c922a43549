"""Runs and trials: their coordinates, record times, and what determines their numbers."""

import math
from dataclasses import dataclass, replace

import pytest
from torch import nn

from adversarium.attacks import Ball
from adversarium.data import Clusters
from adversarium.measure.errors import Error, risk, train_error
from adversarium.measure.folds import At, Worst
from adversarium.networks import CubicCNN
from adversarium.papers.cgro.theory.open_constants import fresh_shares
from adversarium.plans import Read, Trial
from adversarium.plans.run import changed, log_times, narrowed
from tests.plans.tables import patches


def test_a_label_is_the_family_and_the_coordinates():
    assert patches().label == ""
    assert patches(family="E").label == "E"
    placed = patches(
        family="E", at={"d": Read("data.d"), "1 − γ": Read("attack.gap"), "kind": "l2"}
    )
    assert placed.label == "E, d = 20, 1 − γ = 0.1, kind = l2"
    assert Trial(function=len, family="gates", at={"b": 2}).label == "gates, b = 2"


def test_a_coordinate_that_is_read_from_the_run_changes_with_it():
    at = {
        "d": Read("data.d"),
        "N": Read("n"),
        "1 − γ": Read("attack.gap"),
        "set": "E",
    }
    placed = patches(at=at)
    assert placed.coordinates == {"d": 20, "N": 6, "1 − γ": pytest.approx(0.1), "set": "E"}
    moved = changed(changed(changed(placed, "data.d", 40), "n", 7), "attack.gamma", 0.5)
    assert moved.coordinates == {"d": 40, "N": 7, "1 − γ": 0.5, "set": "E"}
    assert moved.label == "d = 40, N = 7, 1 − γ = 0.5, set = E"
    assert replace(placed, attack=None).coordinates["1 − γ"] is None
    trial = Trial(function=len, parameters={"N": 3}, at={"N": Read("N")})
    assert trial.coordinates == {"N": 3}
    with pytest.raises(ValueError, match=r"read from data\.nothing"):
        _ = patches(at={"x": Read("data.nothing")}).coordinates


def test_record_times_end_with_the_last_step():
    assert patches(record=8).times == (0, 8, 16, 20)
    assert patches(record=(3, 99, 0)).times == (0, 3, 20)
    assert patches().times == log_times(20) and log_times(20)[0] == 0
    assert log_times(1) == (0, 1) and log_times(0) == (0,)


def test_a_recording_is_a_probe_with_its_times():
    run = patches(
        probes=(risk, At(train_error, (0, 5, 50))),
        final=(Error(n=5),),
        folds=(Worst(risk),),
        record=(10,),
    )
    assert [recording.times for recording in run.recordings] == [(10, 20), (0, 5), (20,), None]
    assert run.recordings[1].probe is train_error
    assert run.recordings[3].names == {"worst(risk)", "step of worst(risk)"}


def test_a_narrowed_run_records_what_is_asked_and_nothing_else():
    run = patches(probes=(risk, At(train_error, (0,))), final=(fresh_shares,), folds=(Worst(risk),))
    few = narrowed(run, frozenset({"worst(risk)", "positive_noise"}))
    assert (few.probes, few.final, few.folds) == ((), (fresh_shares,), (Worst(risk),))
    assert few.dynamics == run.dynamics
    trial = Trial(function=len)
    assert narrowed(trial, frozenset()) is trial


def test_a_run_has_one_of_two_precisions():
    with pytest.raises(ValueError, match="float64 or float32"):
        patches(dtype="float16")


def lonely(state):
    return state.risk()


@dataclass(frozen=True)
class Unheld:
    """An attack with a radius but no ball."""

    radius: float = 0.1

    def __call__(self, loss, batch, t, rng):
        return batch.x + 50.0


@dataclass(frozen=True)
class Held(Unheld):
    """An attack with a ball."""

    @property
    def ball(self):
        return Ball(2, self.radius)


def named_risk(state, scene):
    return state.risk() * 0


named_risk.__name__ = "risk"

UNFIT = {
    "no data": (dict(data=Clusters), "data needs a part"),
    "no network": (dict(network=None), "network needs a part"),
    "a bare module": (dict(network=nn.Linear(3, 1)), "wrap it"),
    "a word for an attack": (dict(attack="pgd"), "attack needs a part"),
    "an attack without a ball": (dict(attack=Unheld()), "has a radius but no ball"),
    "a word for a probe": (dict(probes=["risk"]), "a probe must be a function"),
    "a class for a probe": (dict(probes=[Error]), r"must be an object Error\(…\), got the class"),
    "a probe of one argument": (dict(probes=[lonely]), "got lonely"),
    "two probes of one name": (dict(probes=[risk, named_risk]), "two probes record risk"),
    "a width of 2.5": (
        dict(network=CubicCNN(m=2.5, sigma0=0.3)),
        r"CubicCNN\.m needs a whole number, got 2\.5",
    ),
    "no points": (dict(n=0), "^n needs"),
    "less than no steps": (dict(steps=-1), "^steps needs"),
    "no learning rate": (dict(eta=math.nan), "^eta needs"),
    "an infinite learning rate": (dict(eta=math.inf), "^eta needs"),
}


@pytest.mark.parametrize("fault", UNFIT)
def test_a_run_whose_parts_do_not_fit_is_refused_when_it_is_made(fault):
    changes, said = UNFIT[fault]
    with pytest.raises(ValueError, match=said):
        patches(**changes)


def test_an_attack_with_a_ball_fits():
    assert patches(attack=Held()).attack.ball == Ball(2, 0.1)


@pytest.mark.parametrize("record", [-5, 0, (1.5,), (-1,), "all", True])
def test_record_times_are_a_stride_or_whole_numbers(record):
    with pytest.raises(ValueError, match="record needs a stride"):
        patches(record=record)
