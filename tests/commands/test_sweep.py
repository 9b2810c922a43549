"""`adversarium sweep`: its estimated cost, its files, and errors before it trains."""

import json

from tests.program import SHORT, one_sentence


def test_a_sweep_reports_what_it_would_cost_before_it_runs(call, own, tmp_path):
    words = ("sweep", "./own.py", "--seeds", "2", "--over", "d=10,12,14")
    out = call(*words, "--dry-run").stdout
    assert "3 cells, 3 runs, 6 of 6 seeds to run, time unknown" in out
    assert not (tmp_path / "adversarium.sqlite").exists()
    call("run", "./own.py", "--seeds", "2", "--set", "d=10")
    cost = json.loads(call(*words, "--dry-run", "--json").stdout)
    assert cost["missing"] == 4 and cost["seconds"] > 0
    call(*words)
    assert json.loads(call(*words, "--dry-run", "--json").stdout)["seconds"] == 0


def test_a_range_without_a_step_is_refused(call):
    said = call("sweep", "boat.published", "--over", "data.beta=0:0.3:0", status=2)
    one_sentence(said, "needs a step other than 0 that leads from 0 to 0.3, got 0")


def test_what_is_swept_cannot_be_set(call):
    said = call("sweep", "conv.eq16", "--over", "m=16,32", "--set", "m=8", status=2)
    one_sentence(said, "m cannot be both swept (--over) and set (--set)")


def test_words_among_the_numbers_of_an_axis_are_refused_before_anything_trains(call):
    said = call("sweep", "boat.published", "--over", "m=16,a", status=2)
    one_sentence(said, "'a' is not a number, but")


def test_a_sweep_leaves_other_files_alone(call, own, tmp_path):
    mine = tmp_path / "sweep" / "own-d.csv"
    mine.parent.mkdir()
    mine.write_text("my own")
    call("sweep", "./own.py", "--over", "d=10,20")
    assert mine.read_text() == "my own" and (tmp_path / "sweep" / "own-d-2.csv").exists()


def test_a_sweep_of_changed_code_has_files_of_its_own(call, own, tmp_path):
    for text in (SHORT, SHORT.replace("steps=5", "steps=6"), SHORT):
        own.write_text(text)
        said = call("sweep", "./own.py", "--over", "d=10,20")
        assert "every cell judged by own.thm" in said.stdout
    names = {path.name for path in (tmp_path / "sweep").glob("*.csv")}
    assert names == {"own-d.csv", "own-d-2.csv"}


def test_a_sweep_judged_by_another_check_has_files_of_its_own(call, own, tmp_path):
    call("sweep", "./own.py", "--over", "d=10,20")
    first = (tmp_path / "sweep" / "own-d.csv").read_text()
    text = "from adversarium.plans import Level, last\n" + SHORT
    own.write_text(text + '\nchecks = {claim: Level(last("risk"), 0, 9) for claim in claims}\n')
    call("sweep", "./own.py", "--over", "d=10,20")
    assert (tmp_path / "sweep" / "own-d.csv").read_text() == first
    assert (tmp_path / "sweep" / "own-d-2.csv").read_text() != first


def test_a_sweep_with_a_cell_that_fails_still_writes_its_files(call, own, tmp_path):
    call("sweep", "./own.py", "--over", "d=0,10", status=1)
    assert "failed" in (tmp_path / "sweep" / "own-d.csv").read_text()
