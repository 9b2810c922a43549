"""Plans of a call: changed runs with their published counterparts, and changes without effect."""

import json

from adversarium.runs.planning import folder_of
from tests.program import SHORT


def test_the_folder_of_a_changed_run_names_its_number():
    assert folder_of({"eta": 1e20}) == "changed eta=1e+20"


def test_a_value_that_is_the_published_one_changes_nothing(call):
    out = call("run", "rnrf.fig3", "--set", "d=100", "--dry-run").stdout
    assert "d = 100 has no effect: these are the published runs" in out and "changed:" not in out


def test_a_knob_that_changes_no_run_is_reported(call, tmp_path):
    text = SHORT.replace("def plan(steps", "def plan(steps, ghost=3")
    assert "ghost" in text
    (tmp_path / "ghost.py").write_text(text)
    out = call("run", "./ghost.py", "--set", "ghost=4", "--dry-run").stdout
    assert "ghost = 4 has no effect: these are the published runs" in out


def test_a_time_after_the_last_step_is_reported(call, own):
    text = SHORT.replace("probes=(risk,", "probes=(At(risk, (0, 5000)),")
    own.write_text(text.replace("import risk", "import At, risk"))
    out = call("run", "./own.py", "--dry-run").stdout
    assert "t = 5000 is after the last step (5) and is not recorded" in out


def test_a_knob_of_probes_alone_is_reported_as_a_change(call):
    made = call("run", "boat.fig3", "--set", "points=20", "--dry-run", "--json")
    runs = json.loads(made.stdout)["runs"]
    assert runs and all(run["changed"] for run in runs)
