"""Every knob of every experiment has a type and a description."""

import inspect

import pytest

from adversarium.plans.knobs import knob
from adversarium.plans.loading import load
from adversarium.plans.papers import experiments
from adversarium.report import plan_source


@pytest.mark.parametrize("id", experiments())
def test_every_knob_has_a_type_and_a_description(id):
    knobs = plan_source.knobs(experiments()[id].file)
    assert list(knobs) == list(inspect.signature(load(id).plan).parameters)
    for name, found in knobs.items():
        assert knob(name, id).says, f"{id}: no knobs.toml describes {name}"
        assert found["takes"], f"{id}: {name} has no type"
