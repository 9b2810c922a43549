"""`adversarium run`: its output, its files, and errors before it runs."""

import json
import re

from adversarium.report import terminal
from tests.program import OWN, one_sentence


def test_a_run_prints_its_configuration_and_its_changes(call, own):
    out = call("run", "./own.py", "--set", "d=10", "--seeds", "2").stdout
    assert "changed: data.d 20 → 10" in out and "CubicCNN(m=6, sigma0=0.3)" in out
    words = ("run", "./own.py", "--seeds", "2", "--json")
    (changed,) = json.loads(call(*words, "--set", "d=10").stdout)["runs"]
    (plain,) = json.loads(call(*words).stdout)["runs"]
    assert changed["changed"] == {"data.d": [20, 10]} and plain["changed"] == {}
    assert plain["config"]["data"]["d"] == 20


def test_a_run_as_json_has_its_verdicts_and_figures(call, own):
    whole = json.loads(call("run", f"./{own.name}", "--json").stdout)
    verdicts = whole["verdicts"]
    assert [v["verdict"] for v in verdicts] and all(v["measured"] for v in verdicts)
    assert whole["figures"] and all((own.parent / file).is_file() for file in whole["figures"])


def test_the_verdict_of_a_users_file_has_its_number_with_an_interval(call, own):
    own.write_text(OWN.replace('Level(last("train_error"), 0, 0.0)', 'Level(last("risk"), 0, 0.5)'))
    said = call("run", "./own.py").stdout
    assert re.search(r"✓ holds  own.thm\n +risk.*: [\d.e-]+ \[[\d.e-]+, [\d.e-]+\]", said), said


def test_figures_of_changed_runs_have_folders_of_their_own_and_marked_titles(
    call, own, tmp_path, monkeypatch
):
    titles = []
    draw = terminal.draw
    monkeypatch.setattr(terminal, "draw", lambda f, *a: titles.append(f.title) or draw(f, *a))
    folder = tmp_path / "figures" / "own"
    call("run", "./own.py", "--seeds", "2")
    published = (folder / "risk.csv").read_bytes()
    for d in (10, 12):
        call("run", "./own.py", "--seeds", "2", "--set", f"d={d}")
    made = {p.relative_to(folder).as_posix() for p in folder.rglob("*.csv")}
    assert made == {"risk.csv", "changed d=10/risk.csv", "changed d=12/risk.csv"}
    assert (folder / "risk.csv").read_bytes() == published
    assert titles == ["risk", "risk\nchanged: d = 10", "risk\nchanged: d = 12"]


def test_a_run_whose_weights_are_lost_is_not_a_counterexample(call, own):
    text = own.read_text().replace("probes=(risk, train_error)", "probes=(train_error,)")
    own.write_text(text.replace('y=("risk",)', 'y=("train_error",)'))
    said = call("run", f"./{own.name}", "--set", "eta=1e200", status=1)
    assert "the run diverged: its weights are not finite at t = " in said.stderr
    assert "? undecided  own.thm: a run failed" in said.stdout


def test_a_run_of_no_step_is_undecided(call):
    said = call("run", "boat.published", "--set", "steps=0", "--seeds", "2")
    assert "undecided" in said.stdout and "KeyError" not in said.stderr


def test_missing_data_are_reported_before_anything_runs(call, monkeypatch):
    monkeypatch.delenv("ADVERSARIUM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "none")
    asked = ("boat.fig6", "--preset", "paper", "--seeds", "77:78")
    assert "cannot run yet: MNIST is not on this machine" in call("run", *asked, "--dry-run").stdout
    one_sentence(call("run", *asked, status=2), "adversarium data fetch mnist")
    said = call("verify", "boat.fig6.to_zero", *asked[1:], status=1)
    assert said.stderr.count("adversarium data fetch mnist") == 1  # and not once per run


def test_more_points_than_images_are_refused_before_anything_runs(call):
    said = call("run", "boat.fig6", "--set", "n=100000", "--seeds", "2", status=2)
    one_sentence(said, "n <= 233, the number of train images of 0 and 1 in digits, got n=100000")
