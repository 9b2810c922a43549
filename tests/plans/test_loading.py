"""A user's file as an experiment: every error in it is reported in one sentence before it runs."""

import sys

import pytest

from adversarium.plans.loading import load
from tests.program import SHORT, one_sentence

RUN = {  # what `run` refuses: (right, wrong, what is said)
    "an empty plan": (
        "    yield Run(",
        "    return\n    yield Run(",
        "must yield a Run or a Trial",
    ),
    "a figure of an unknown probe": (
        'y=("risk",)',
        'y=("rsik",)',
        "the figure 'risk' shows 'rsik', which",
    ),
    "a figure in another folder": (
        'name="risk"',
        'name="../../EVIL"',
        "whose name is a valid file",
    ),
    "a preset without a knob": ("steps=5, ", "", "quick does not set steps, which plan(…) needs"),
    "a preset with another knob": ("steps=5", "steps=5, m=3", "quick sets m, which plan(…) does"),
    "a probe of one argument": (
        "quick =",
        "def risk(state):\n    return state.risk()\n\n\nquick =",
        "def risk(state, scene), got risk(state)",
    ),
}


@pytest.mark.parametrize("fault", RUN)
def test_a_plan_that_does_not_fit_is_refused_before_it_runs(fault, call, own, tmp_path):
    right, wrong, said = RUN[fault]
    assert right in SHORT
    own.write_text(SHORT.replace(right, wrong))
    one_sentence(call("run", "./own.py", status=2), said)
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != "") == ["own.py"]


VERIFY = {  # what `verify` refuses: (added lines, what is said)
    "two figures of one name": ("figures = figures * 2", "two figures are named"),
    "a single figure": ("figures = figures[0]", "figures must be a tuple"),
    "a list of claims": ("claims = []", "claims must be a dictionary"),
    "a claim without a check": ('claims["own.lost"] = dict(statement="x")', "has no check"),
    "an unknown kind": ('claims["own.thm"]["kind"] = "hunch"', "got 'hunch'"),
    "an unknown field": ('claims["own.thm"]["colour"] = 1', "must be a dictionary with some"),
}


@pytest.mark.parametrize("fault", VERIFY)
def test_claims_and_figures_that_do_not_fit_are_refused(fault, call, own):
    added, said = VERIFY[fault]
    own.write_text(f"{SHORT}\n{added}\n")
    one_sentence(call("verify", "./own.py", status=2), said)


def test_a_preset_that_a_file_does_not_have_is_refused(call, own):
    said = call("run", "./own.py", "--preset", "paper", status=2)
    one_sentence(said, "own.py has no preset paper, only quick")


def test_a_claim_that_two_files_state_is_refused(call, tmp_path):
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(SHORT)
    said = call("verify", "./one.py", "./two.py", status=2)
    one_sentence(said, "both state own.thm; give one of them another id")


def test_two_files_that_import_a_helper_of_the_same_name_each_get_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    sizes = {"one": 10, "two": 12}
    for folder, d in sizes.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helper_of_two.py").write_text(f"D = {d}\n")
        text = SHORT.replace("quick =", "from helper_of_two import D\n\nquick =")
        (tmp_path / folder / "own.py").write_text(text.replace("d=20", "d=D"))
    for folder, d in sizes.items():
        (run,) = load(str(tmp_path / folder / "own.py")).tasks("quick")
        assert run.data.d == d
    del sys.modules["helper_of_two"]
