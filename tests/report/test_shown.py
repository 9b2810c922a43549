"""A claim or an experiment as text: its ranges, its experiment, its parameters."""

import json

import pytest

from adversarium.plans.papers import claims, experiments, papers
from adversarium.report.shown import shown
from adversarium.runs.store import Store
from tests.program import SHORT


def entry(**more):
    """Return a verdict as JSON; `more` are fields of the first quantity of its first part."""
    low = {"name": "a", "mean": 0.0, "low": 0.0, "high": 0.001, "values": []}
    high = {"name": "b", "mean": 0.48, "low": 0.47, "high": 0.49, "values": []}
    part = {"verdict": "holds", "reason": "", "sharpness": {"from the edge": 0.02}}
    return {
        "id": "boat.thm3.1.train_error", "verdict": "holds", "preset": "quick", "seeds": 5,
        "engine": "full", "measured": [low, high], "paper": "boat", "source": "Thm 3.1",
        "statement": "", "kind": "level", "expected": {"text": "", "low": 0.0, "high": 0.01},
        "reason": "", "parts": [
            {**part, "name": "a", "measured": [{**low, **more}]},
            {**part, "name": "b", "measured": [high]},
        ],
    }  # fmt: skip


def test_every_quantity_of_a_claim_is_shown_with_its_own_range(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.keep_verdicts({"boat.thm3.1.train_error": entry(wanted=(0.0, 0.01))})
    text = shown("boat.thm3.1.train_error", tmp_path / "s.sqlite", False, whole=True)
    assert "holds: a (from the edge 0.02)\n      a: 0 [0, 0.001] (accepted: [0, 0.01])" in text
    assert "holds: b (from the edge 0.02)\n      b: 0.48 [0.47, 0.49]\n" in text


def test_a_claim_that_another_experiment_judges_says_so(call):
    out = call("show", "cgro.thmF.1", "--all").stdout
    assert "judged by cgro.flatness, with the same check as cgro.thmE.1" in out
    assert "not yet implemented" not in out


def test_every_knob_is_shown_with_its_symbols_its_type_its_limits_and_its_value(call):
    out = " ".join(call("show", "rnrf.fig3", "--all").stdout.split())
    assert "eps (also ε, ϵ, epsilon, radius): number >= 0, 1.2; radius of the perturbations" in out
    assert "m: whole number >= 1, 10; width" in out


def test_a_knob_that_the_quick_preset_leaves_empty_is_shown_with_what_it_takes(call):
    out = " ".join(call("show", "cgro.lemmas", "--all").stdout.split())
    assert "many: whole numbers >= 1, ();" in out


def test_a_users_file_is_shown_with_its_knobs_and_claims(call, own):
    out = call("show", "./own.py").stdout
    assert "d: whole number >= 1, 20; dimension of the data" in out
    assert "own.thm  no verdict yet" in out
    whole = json.loads(call("show", "./own.py", "--json").stdout)
    assert whole["knobs"]["d"] == {"takes": "whole number", "quick": 20}
    assert whole["claims"][0]["id"] == "own.thm"


def test_a_users_file_whose_plan_has_another_name_is_shown_too(call, own):
    own.write_text(SHORT.replace("def plan(", "def _made(") + "plan = _made\n")
    assert "own.thm  no verdict yet" in call("show", "./own.py").stdout


@pytest.mark.parametrize("what", ("claims", "experiments", "papers"))
def test_nothing_shown_without_all_has_more_than_forty_lines_of_a_screen(what, tmp_path):
    ids = {"claims": claims(), "experiments": experiments(), "papers": papers()}[what]
    for id in ids:
        lines = shown(id, tmp_path / "none.sqlite", False).splitlines()
        assert len(lines) <= 40, f"{id}: {len(lines)} lines"
        assert max(map(len, lines)) <= 100, id
