"""An experiment's plan: every task has a different label."""

import pytest

from adversarium.measure.errors import risk
from adversarium.plans.experiment import Experiment, distinct, merged
from tests.plans.tables import patches


def planned(*tasks):
    return Experiment("x", "", lambda: tasks, {"quick": {"seeds": 3}, "none": {"seeds": 0}}, {})


def test_two_runs_that_differ_need_two_places():
    with pytest.raises(ValueError, match="have the same label"):
        planned(patches(), patches(eta=0.1)).tasks("quick")
    assert len(distinct([patches(), patches(probes=(risk,))], "x")) == 1
    with pytest.raises(ValueError, match="must yield Run or Trial"):
        planned(3).tasks("quick")


def test_a_preset_asks_for_at_least_one_seed():
    assert planned().seeds("quick") == 3 and planned().knobs("quick") == {}
    with pytest.raises(ValueError, match="seeds >= 1"):
        planned().seeds("none")


def test_of_runs_that_a_change_brought_together_the_longest_is_kept():
    (kept,) = merged([patches(steps=20), patches(steps=60), patches(steps=40)])
    assert kept.steps == 60
    apart = merged([patches(family="E"), patches(family="E", eta=0.1)])
    assert [task.eta for task in apart] == [0.05, 0.1] and len({t.label for t in apart}) == 2
