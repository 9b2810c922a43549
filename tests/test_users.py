"""What users met: a test a defect, each through the program or the names that a user calls."""

import csv
import inspect
import io
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import adversarium as av
from adversarium.cli import importing, main
from adversarium.commands.program import COMMANDS, program
from adversarium.commands.progress import Progress
from adversarium.plans.catalogue import experiments, load, nearest
from adversarium.plans.shares import clipped, shares
from adversarium.plans.words import word
from adversarium.report import terminal
from adversarium.report.shown import known_knobs, shown
from adversarium.runs import jobs as jobs_module
from adversarium.runs.changes import planned
from adversarium.runs.compute import compute
from adversarium.runs.jobs import Unit, resolve, units
from adversarium.runs.knobs import reaching
from adversarium.runs.planning import folder_of
from adversarium.runs.store import Store, StoreFull
from adversarium.runs.turning import turned
from tests.program import ENV, OWN, one_sentence
from tests.runs.small import execute, small

SHORT = OWN.replace("steps=200", "steps=5")
TOY = ("--set", "steps=12", "--set", "n=10", "--set", "d=10", "--set", "P=4", "--set", "m=4")


@pytest.fixture
def own(tmp_path) -> Path:
    """A user's file with a short run."""
    path = tmp_path / "own.py"
    path.write_text(SHORT)
    return path


# 1: a knob turns everything or is refused; the resolved configuration is shown


def test_a_knob_that_does_not_reach_every_run_is_refused_with_those_runs(call):
    said = call("run", "cgro.thm4.1", "--set", "lam=0.9", "--set", "m=4", status=2)
    one_sentence(said, "m does not reach theorem, set = E (m = 8 there): --set network.m=4 changes")
    assert "--set sets='()' leaves them out" in said.stderr and "--partly" in said.stderr
    out = call("run", "cgro.thm4.1", "--set", "m=4", "--partly", "--dry-run").stdout
    assert "m does not reach theorem, set = E (m = 8 there)" in out.splitlines()
    with pytest.raises(ValueError, match="does not reach"):
        av.experiment("cgro.thm4.1", m=4)


def test_a_field_reaches_every_run_and_a_knob_of_several_values_leaves_none_out():
    theorem = load("cgro.thm4.1")
    for changes in ({"network.m": 4}, {"scaling": 100}, {"m": 4, "sets": ()}, {"lam": 0.9}):
        tasks = planned(theorem, "quick", changes)
        assert not reaching(theorem, "quick", changes, tasks)
    conv = load("conv.eq16")
    with pytest.raises(ValueError, match="m does not reach any W"):  # a trial has its own
        reaching(conv, "quick", {"network.m": 4}, planned(conv, "quick", {"network.m": 4}))


def test_a_value_that_follows_from_a_knob_is_reached_by_it():
    phases = load("rnrf.phases")
    turned = {"steps": 250, "sizes": (), "classes": ()}  # the early runs stop at 300, so at 250
    assert not reaching(phases, "quick", turned, planned(phases, "quick", turned))
    turned["steps"] = 4000  # and stay at 300
    with pytest.raises(ValueError, match=r"steps does not reach standard, early \(steps = 300"):
        reaching(phases, "quick", turned, planned(phases, "quick", turned))


def test_a_dry_run_shows_the_whole_configuration_and_what_was_changed_from_what(call):
    out = call("run", "rnrf.fig3", *TOY, "--dry-run").stdout
    assert "network: SmoothedCNN(m=4, " in out and "data: TwoFeaturePatches(k=2, d=10, " in out
    assert "network.m 10 → 4" in out and "steps 1000 → 12" in out
    runs = json.loads(call("run", "rnrf.fig3", *TOY, "--dry-run", "--json").stdout)["runs"]
    assert runs[0]["config"]["network"]["m"] == 4 and runs[0]["changed"]["network.m"] == [10, 4]


def test_a_run_tells_its_configuration_and_its_changes(call, own):
    out = call("run", "./own.py", "--set", "d=10", "--seeds", "2").stdout
    assert "changed: data.d 20 → 10" in out and "CubicCNN(m=6, sigma0=0.3)" in out
    words = ("run", "./own.py", "--seeds", "2", "--json")
    (changed,) = json.loads(call(*words, "--set", "d=10").stdout)["runs"]
    (plain,) = json.loads(call(*words).stdout)["runs"]
    assert changed["changed"] == {"data.d": [20, 10]} and plain["changed"] == {}
    assert plain["config"]["data"]["d"] == 20


# 3: an unset variable is no catalogue


@pytest.mark.parametrize("command", ("run", "verify", "show", "export", "attack"))
def test_an_empty_id_is_refused(command, call):
    one_sentence(call(command, "", status=2), "name an experiment")


# 4: threads that fit the tensors


def test_small_tensors_get_one_thread_and_large_ones_what_torch_has(monkeypatch):
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


# 5, 6: what is shown of a claim


def entry(**more):
    """A verdict as a store keeps it."""
    low = {"name": "a", "mean": 0.0, "low": 0.0, "high": 0.001, "values": []}
    high = {"name": "b", "mean": 0.48, "low": 0.47, "high": 0.49, "values": []}
    part = {"verdict": "holds", "reason": "", "sharpness": {"from the edge": 0.02}}
    return {
        "id": "boat.thm3.1.train_error", "verdict": "holds", "preset": "quick", "seeds": 5,
        "engine": "full", "measured": [low, high], "expected": {"low": 0.0, "high": 0.01},
        "reason": "", "parts": [
            {**part, "name": "a", "measured": [low], **more},
            {**part, "name": "b", "measured": [high]},
        ],
    }  # fmt: skip


def test_every_quantity_of_a_claim_is_shown_with_its_own_range(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.keep_verdicts({"boat.thm3.1.train_error": entry(low=0.0, high=0.01)})
    text = shown("boat.thm3.1.train_error", tmp_path / "s.sqlite", False)
    assert "holds: a: 0 [0, 0.001] (wanted: 0 to 0.01)" in text
    assert "holds: b: 0.48 [0.47, 0.49] (from the edge 0.02)" in text
    assert "  wanted: 0 to 0.01\n" not in text


def test_a_claim_that_another_experiment_judges_says_so(call):
    out = call("show", "cgro.thmF.1").stdout
    assert "judged by cgro.flatness, by the same check as cgro.thmE.1" in out
    assert "not yet implemented" not in out


# 8, 9, 10: what a run leaves


def test_the_verdict_of_an_own_file_has_its_number_with_its_interval(call, tmp_path):
    text = OWN.replace('level(last("train_error"), 0, 0.0)', 'level(last("risk"), 0, 0.5)')
    (tmp_path / "own.py").write_text(text)
    line = next(x for x in call("run", "./own.py").stdout.splitlines() if "own.thm:" in x)
    assert re.search(r"own.thm: \w+; risk.*: [\d.e-]+ \[[\d.e-]+, [\d.e-]+\]", line), line


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


def test_changed_runs_can_be_exported(call, own, tmp_path):
    words = ("./own.py", "--seeds", "2", "--set", "d=10")
    said = call("export", *words, status=2)
    one_sentence(said, "adversarium run ./own.py --preset quick --set 'd=10' --seeds 2` first")
    call("run", *words)
    call("export", *words)
    lines = (tmp_path / "own changed d=10.csv").read_text().splitlines()
    assert lines[0] == "run,seed,t,probe,at,value" and len(lines) > 10
    call("export", *words, "--to", "svg")
    assert (tmp_path / "export" / "own" / "changed d=10" / "risk.svg").exists()
    one_sentence(call("export", *words, "--to", "tex", status=2), "no changed runs")


# 12: what a sweep costs


def test_a_sweep_tells_what_it_would_cost_before_it_runs(call, own, tmp_path):
    words = ("sweep", "./own.py", "--seeds", "2", "--over", "d=10,12,14")
    out = call(*words, "--dry-run").stdout
    assert "3 cells, 3 runs, 6 of 6 seeds to run, time unknown" in out
    assert not (tmp_path / "adversarium.sqlite").exists()
    call("run", "./own.py", "--seeds", "2", "--set", "d=10")
    told = json.loads(call(*words, "--dry-run", "--json").stdout)
    assert told["missing"] == 4 and told["seconds"] > 0
    call(*words)
    assert json.loads(call(*words, "--dry-run", "--json").stdout)["seconds"] == 0


def test_an_estimate_says_that_measurements_follow_the_steps(monkeypatch, capsys):
    clock = iter((0.0, 100.0, 100.0))
    monkeypatch.setattr("adversarium.commands.progress.time.monotonic", lambda: next(clock))
    with Progress() as progress:
        progress("a run", 0, 100)
        progress("a run", 50, 100)
    assert "about 100 s of steps left, then the last measurements" in capsys.readouterr().err


# 13: Ctrl-C from the first moment


def test_a_stop_during_the_first_imports_is_one_line_and_status_130(tmp_path):
    fake = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(5)\n"
    (tmp_path / "cyclopts.py").write_text(fake)
    paths = os.pathsep.join((str(tmp_path), str(Path(av.__file__).parents[1])))
    code = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from adversarium.cli import main\nmain(['run', 'boat'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**ENV, "PYTHONPATH": paths}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert (
        done.stderr.strip()
        == "stopped; every finished run is kept. Go on with: adversarium run boat"
    )


# 14, 15: own files


def broken(path: Path, body: str) -> None:
    """An own file with a probe `oops` that does something else."""
    text = SHORT.replace("probes=(risk, train_error))", "probes=(risk, train_error, oops))")
    path.write_text(text.replace("quick =", f"def oops(state, scene):\n    {body}\n\n\nquick ="))


OOPS = {
    "raise SystemExit(0)": "own.py, line 9, probe oops: SystemExit: 0",
    "return [1.0][3]": "own.py, line 9, probe oops: IndexError: list index out of range",
    "return 3.0": "probe oops: TypeError: oops is a float, and a tensor is needed",
    "return state.W[:1]": "probe oops: ValueError: oops has the shape ",
}


@pytest.mark.parametrize("body", OOPS)
def test_a_probe_at_fault_is_named_with_its_file_and_line(body, call, tmp_path):
    broken(tmp_path / "own.py", body)
    said = call("run", "./own.py", "--seeds", "2", status=1)
    assert f"adversarium: own.py: {OOPS[body]}" in said.stderr.splitlines()[-1]
    assert "Traceback" not in said.stderr


UNFIT = {
    "an empty plan": ("    yield Run(", "    return\n    yield Run(", "yields nothing"),
    "an unknown probe": ('y=("risk",)', 'y=("rsik",)', "the figure 'risk' shows 'rsik', which"),
    "a figure outside": ('name="risk"', 'name="../../EVIL"', "its name a file's without a folder"),
}


@pytest.mark.parametrize("fault", UNFIT)
def test_an_own_file_that_could_show_nothing_is_refused(fault, call, tmp_path):
    right, wrong, said = UNFIT[fault]
    assert right in SHORT
    (tmp_path / "own.py").write_text(SHORT.replace(right, wrong))
    one_sentence(call("run", "./own.py", status=2), said)
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != "") == ["own.py"]


# 16, 18: limits


LIMITS = {
    "boat.published --set m=-3": "m (number of hidden units) needs a finite number even and",
    "boat.published --set m=0": "even and >= 2, got 0",
    "boat.published --set m=3": "even and >= 2, got 3",
    "rnrf.fig3 --set eta=1e400": "eta (learning rate η) needs a finite number > 0, got inf.",
    "rnrf.fig3 --set attack.radius=1e400": "radius needs a finite number, got inf.",
    "rnrf.fig3 --set steps=-1": "steps (number of training steps) needs a finite number >= 0",
    "rnrf.fig3 --set m=3 --set m=4": "--set names m twice",
    "rnrf.fig3 --set eps=1 --set ε=2": "eps and ε are one thing here",
    "rnrf.fig3 --seeds 3,99999999999999999999999": "--seeds takes seeds up to 9223372036854775807",
}


@pytest.mark.parametrize("words", LIMITS)
def test_a_value_outside_its_limits_is_refused_with_them(words, call):
    one_sentence(call("run", *words.split(), "--dry-run", status=2), LIMITS[words])


def test_a_range_without_a_step_is_refused(call):
    said = call("sweep", "boat.published", "--over", "data.beta=0:0.3:0", status=2)
    one_sentence(said, "needs a step other than 0 that leads from 0 to 0.3, got 0")


def test_a_seed_that_no_store_can_keep_is_refused_in_python():
    with pytest.raises(ValueError, match=r"< 2\^63"):
        av.run(small(), seeds=[3, 2**63])


# 17: a full disk


def test_a_full_disk_says_what_is_kept_and_loses_nothing(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    execute(store, (0,), small())
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    block = next(store.dump())
    large = tuple(range(1, 400))
    for kept in block.kept.values():
        for name, series in kept.series.items():
            values = np.repeat(series.values, len(large), axis=0)
            kept.series[name] = type(series)(series.t, values, series.axes)
    with pytest.raises(StoreFull, match=r"is full.*; 1 run is kept\. Free some space") as fault:
        store.write(type(block)(**{**vars(block), "seeds": large}))
    assert fault.value.status == 1
    assert store.seeds(block.key) == {0}


# 19 to 24


def test_a_file_name_that_python_cannot_import_gets_another_proposed(call):
    one_sentence(call("new", "my-theorem-2.py", status=2), "such as my_theorem_2.py, got my-theo")


def test_an_own_file_is_shown_with_its_knobs_wherever_its_plan_comes_from(call, own, tmp_path):
    out = call("show", "./own.py").stdout
    assert "d: whole number >= 1, 20; dimension of the data" in out and "reaches every run" in out
    (tmp_path / "three.py").write_text(SHORT.replace("def plan(", "def _made(") + "plan = _made\n")
    assert "own.thm: no verdict yet" in call("show", "./three.py").stdout
    told = json.loads(call("show", "./three.py", "--json").stdout)
    assert told["knobs"]["d"]["all"] and told["claims"][0]["id"] == "own.thm"


def test_what_a_file_prints_does_not_spoil_the_json(call, tmp_path):
    text = SHORT.replace("quick =", "print('hello')\nquick =")
    text = text.replace("    data = PatchData", "    print('planning')\n    data = PatchData")
    (tmp_path / "own.py").write_text(text)
    said = call("run", "./own.py", "--seeds", "2", "--json")
    assert set(json.loads(said.stdout)) == {"runs", "verdicts", "figures"}
    assert "hello" in said.stderr and "planning" in said.stderr
    assert json.loads(call("verify", "./own.py", "--seeds", "2", "--json").stdout)["claims"]


def test_a_formula_does_not_reach_a_spreadsheet(call, tmp_path):
    (tmp_path / "own.py").write_text(SHORT.replace("yield Run(", "yield Run(family='=cmd|x', "))
    call("run", "./own.py", "--seeds", "2")
    call("export", "./own.py", "--seeds", "2")
    with (tmp_path / "own.csv").open() as file:
        assert {row["run"] for row in csv.DictReader(file)} == {"'=cmd|x"}


def printed(words: list[str], monkeypatch) -> tuple[int, bytes]:
    """Status and bytes of a call whose standard output knows ASCII alone."""
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))
    with pytest.raises(SystemExit) as stop:
        main(words)
    sys.stdout.flush()
    return int(stop.value.code or 0), buffer.getvalue()


def test_a_terminal_without_greek_gets_the_rest(call, monkeypatch):
    status, out = printed(["list", "claims"], monkeypatch)
    assert status == 0 and len(out.splitlines()) > 320
    status, out = printed(["list", "claims", "--json"], monkeypatch)
    told = {e["id"]: e["text"] for e in json.loads(out)["claims"]}
    assert status == 0 and any("≤" in text for text in told.values())


def test_a_closed_standard_output_gets_a_sentence(call, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as stop:
        main(["list"])
    assert stop.value.code == 2 and "standard output is closed" in capsys.readouterr().err


# one name a thing


def test_every_knob_of_every_experiment_has_a_type_a_sentence_and_the_runs_it_reaches():
    for id in experiments():
        knobs = known_knobs(id)
        assert list(knobs) == list(inspect.signature(load(id).plan).parameters), id
        for name, found in knobs.items():
            assert word(name, id).says, f"{id}: {name} has no sentence in plans/words.toml"
            assert found["takes"], f"{id}: {name} has no type"
            assert found["reaches"], f"{id}: {name} reaches nothing"


@pytest.mark.parametrize("id", ("cgro.thm4.1", "rnrf.recursions", "conv.eq16"))
def test_the_file_of_knobs_is_what_turning_them_finds(id):
    assert known_knobs(id) == json.loads(json.dumps(turned(load(id)))), (
        "write it again: python -m adversarium.runs.turning"
    )


def test_show_tells_every_knob(call):
    out = " ".join(call("show", "rnrf.fig3").stdout.split())
    assert "eps (also ε, ϵ, epsilon, radius): number >= 0, 1.2; radius of the perturbations" in out
    assert "m: whole number >= 1, 10; width" in out


SYMBOLS = [
    ("cgro.thm4.1", "λ", "lam", 0.9),
    ("rnrf.fig3", "ε", "eps", 1.0),
    ("rnrf.fig3", "radius", "eps", 1.0),
    ("rnrf.fig3", "N", "n", 50),
    ("rnrf.fig3", "η", "eta", 0.2),
    ("cgrm.linear", "δ", "delta", 1.0),
    ("boat.published", "eps", "attack.radius", 1.0),
    ("boat.published", "δ", "attack.radius", 1.0),
    ("boat.published", "N", "n", 10),
]


@pytest.mark.parametrize(("id", "symbol", "ours", "value"), SYMBOLS)
def test_the_papers_symbols_are_understood(id, symbol, ours, value):
    by_symbol, by_name = (planned(load(id), "quick", {n: value}) for n in (symbol, ours))
    assert [t.dynamics for t in by_symbol] == [t.dynamics for t in by_name]
    assert [t.dynamics for t in by_name] != [t.dynamics for t in load(id).tasks("quick")]


def test_a_symbol_that_nothing_has_here_is_answered_with_our_word(call):
    said = call("run", "boat.published", "--set", "λ=0.5", status=2)
    one_sentence(said, "nothing is called 'λ' here; λ is lam (weight λ of the adversarial loss")


# what was missed most


def test_claims_are_listed_by_paper_and_by_verdict(call):
    every = call("list", "claims", "--paper", "boat").stdout.splitlines()
    assert every and all(line.startswith("boat.") for line in every)
    failing = call("list", "claims", "--paper", "CGRO", "--verdict", "fails").stdout.splitlines()
    known = {c["id"] for c in json.loads(LEDGER.read_text())["claims"] if c["verdict"] == "fails"}
    assert {line.split()[0] for line in failing} == {id for id in known if id.startswith("cgro.")}
    one_sentence(call("list", "claims", "--verdict", "hold", status=2), "Nearest: holds")
    one_sentence(call("list", "claims", "--paper", "nosuch", status=2), "no paper 'nosuch'")
    one_sentence(call("list", "probes", "--paper", "cgro", status=2), "--paper chooses")


LEDGER = Path(av.__file__).parent / "ledger.json"


def test_checks_and_figures_are_listed_with_a_sentence_each(call):
    for room, name in (("checks", "level"), ("figures", "Curves")):
        told = {e["id"]: e["text"] for e in json.loads(call("list", room, "--json").stdout)[room]}
        assert name in told and all(told.values()), told


def test_the_public_names_are_seen_in_python():
    assert set(av.__all__) <= set(dir(av))
    assert av.__version__ == tomllib.loads(PYPROJECT.read_text())["project"]["version"]


PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    assert {"cluster", "frames", "xarray", "notebook"} <= set(extras)


def test_rows_leave_as_frames_and_data_sets():
    result = av.run(small(), seeds=range(2))
    frame = pytest.importorskip("pandas") and result.to_frame()
    assert list(frame.columns) == ["probe", "seed", "t", "value"]
    last = frame[(frame.probe == "risk") & (frame.seed == 1)].sort_values("t").value.to_numpy()
    assert np.array_equal(last, result["risk"][1])
    whole = pytest.importorskip("xarray") and result.to_xarray()
    assert np.array_equal(whole["risk"].sel(seed=1).to_numpy(), result["risk"][1])


def test_rows_leave_as_parquet_and_netcdf(call, own, tmp_path):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    pytest.importorskip("pyarrow")
    call("run", "./own.py", "--seeds", "2")
    for kind in ("parquet", "netcdf"):
        call("export", "./own.py", "--seeds", "2", "--to", kind)
    frame = pandas.read_parquet(tmp_path / "own.parquet")
    assert {"run", "probe", "seed", "t", "value"} == set(frame.columns)
    with xarray.open_dataset(tmp_path / "own.nc", engine="scipy") as whole:
        (risk,) = (whole[name] for name in whole.data_vars if name.endswith("risk"))
        told = frame[(frame.probe == "risk")].value.to_numpy()
        assert np.array_equal(risk.to_numpy().ravel(), told)


@pytest.mark.parametrize(("kind", "module"), (("parquet", "pyarrow"), ("netcdf", "xarray")))
def test_a_missing_extra_is_named(kind, module, call, own, monkeypatch):
    call("run", "./own.py", "--seeds", "2")
    monkeypatch.setitem(sys.modules, module, None)
    said = call("export", "./own.py", "--seeds", "2", "--to", kind, status=2)
    one_sentence(said, f"this needs {module}; install adversarium with its extra: pip install")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_has_a_help_text(command):
    given = program()[command].assemble_argument_collection(parse_docstring=True)
    for argument in given:
        assert argument.parameter.help, f"{command} {argument.name} has no help"


def test_completion_knows_the_commands_and_help_says_how_to_get_it(call):
    made = program().generate_completion(shell="bash")
    assert all(name in made for name in COMMANDS)
    assert "--install-completion" in call("--help").stdout


def test_an_interval_of_a_share_stays_within_zero_and_one():
    data, network = av.data.Clusters(d=4, mu=1.0), av.networks.TwoLayer(m=4)

    def risk_change(state, scene):
        "Named like a risk, and no share."
        return state.risk() - 0.7

    probes = [av.probes.train_error, av.probes.Error(n=9, name="mine"), risk_change]
    run = av.Run(data=data, network=network, n=4, steps=1, eta=0.1, probes=probes)
    assert shares(run) == {"train_error", "mine"}  # by what a probe says, never by a name
    assert clipped(-0.18, 0.28) == (0.0, 0.28) and clipped(0.7, 1.2) == (0.7, 1.0)


# what a second newcomer met


def test_a_claim_without_a_check_is_told_and_so_is_an_unknown_kind(call, own):
    whole = own.read_text()
    own.write_text(whole + '\nclaims["own.lost"] = dict(statement="nobody checks this")\n')
    one_sentence(call("verify", f"./{own.name}", status=2), "has no check")
    own.write_text(whole + '\nfor entry in claims.values():\n    entry["kind"] = "hunch"\n')
    one_sentence(call("verify", f"./{own.name}", status=2), "got 'hunch'")


def test_what_is_swept_cannot_be_set(call):
    said = call("sweep", "conv.eq16", "--over", "m=16,32", "--set", "m=8", status=2)
    one_sentence(said, "m is swept (--over) and set (--set)")


def test_a_run_as_json_has_its_verdicts_and_figures(call, own):
    told = json.loads(call("run", f"./{own.name}", "--json").stdout)
    assert [v["verdict"] for v in told["verdicts"]] and all(v["measured"] for v in told["verdicts"])
    assert told["figures"] and all((own.parent / file).is_file() for file in told["figures"])


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(call, own):
    for command in (("run",), ("sweep", "--over", "n=4,5")):
        words = (command[0], f"./{own.name}", *command[1:], "--out", f"{own.name}/figures")
        one_sentence(call(*words, status=2), "is a file; name another")
    assert not (own.parent / "adversarium.sqlite").exists()


def test_a_dry_run_takes_no_memory_and_a_number_beyond_a_tensor_is_a_sentence(call):
    d = 10**11
    out = call("run", "boat.published", "--set", f"d={d}", "--dry-run").stdout
    assert f"d={d}" in out and "MiB" in out
    said = call("run", "boat.published", "--set", f"d={10**20}", status=2)
    one_sentence(said, "at most 9223372036854775807")


def test_a_dry_run_says_that_a_network_does_not_fit_the_data(call):
    words = ("run", "rnrf.theorems", "--set", "network=TwoLayer(m=10)", "--dry-run")
    assert "cannot run yet: TwoLayer needs to return 2 output(s)" in call(*words).stdout
    assert "cannot run" not in call("run", "rnrf.theorems", "--fresh", "--dry-run").stdout


@pytest.mark.parametrize("seeds", ("", "0", "-1", "1,1", "5:3"))
def test_seeds_that_are_none_are_told_what_seeds_are(call, seeds):
    one_sentence(call("run", "conv.eq16", "--seeds", seeds, status=2), "--seeds needs how many (10")


def test_an_export_is_written_over_an_export_and_nothing_else(call, own, tmp_path):
    call("run", f"./{own.name}", "--store", "mine.sqlite")
    for lost in ("mine.sqlite", own.name):
        before = (tmp_path / lost).read_bytes()
        words = ("export", f"./{own.name}", "--store", "mine.sqlite", "--out", lost)
        one_sentence(call(*words, status=2), "which is kept; name another")
        (tmp_path / f"{lost}.csv").symlink_to(tmp_path / lost)
        one_sentence(call(*words[:-1], f"{lost}.csv", status=2), "which is kept; name another")
        assert (tmp_path / lost).read_bytes()[:16] == before[:16]
    (tmp_path / "keep.txt").write_text("precious")
    one_sentence(call(*words[:-1], "keep.txt", status=2), "exists and was not written here")
    words = ("export", f"./{own.name}", "--store", "mine.sqlite", "--out", "rows.csv")
    assert call(*words).stdout == call(*words).stdout


def test_a_field_of_a_part_that_no_run_has_is_refused_with_the_way_to_it(call, own):
    said = call("run", f"./{own.name}", "--set", "optimiser.batch=5", status=2)
    one_sentence(said, "has a part optimiser, so optimiser.batch changes nothing")
    assert "--set 'optimiser=NAME(batch=…)'" in said.stderr


def test_a_range_that_is_none_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match="low <= high, got 1 and 0"):
        av.plans.level(av.plans.last("risk"), 1, 0)


def test_an_interrupt_knows_whether_something_is_being_imported():
    frame = "import sys\nframe = sys._getframe()"
    places = {}
    for file in ("<frozen importlib._bootstrap>", "mine.py"):
        exec(compile(frame, file, "exec"), place := {})
        places[file] = importing(place["frame"])
    assert places == {"<frozen importlib._bootstrap>": True, "mine.py": False}


def test_an_empty_word_is_told_what_is_wanted(call):
    one_sentence(call("new", "paper", status=2), "new paper needs a folder")
    one_sentence(call("new", "", status=2), "new needs a name such as mine.py")
    one_sentence(call("list", "claims", "--verdict", "", status=2), "a verdict is one of holds")
    one_sentence(call("list", "claims", "--paper", "", status=2), "no paper ''")


def test_a_value_that_is_published_changes_nothing(call):
    out = call("run", "rnrf.fig3", "--set", "d=100", "--dry-run").stdout
    assert "d = 100 changes nothing: these are the published runs" in out and "changed:" not in out


OWN_FAULTS = {  # what is written wrongly: (in, out, what is told)
    "labels 0 and 1": ("y=y)", "y=(y + 1) / 2)", "labels are ±1 (k = 1), and the data have 0, 1"),
    "data": ("coins((n,), rng)", "coins((n,), rgn)", "own.py, line 45, NameError: name 'rgn'"),
    "a check": ('rows.last("test', 'rows.lost("test', "own.py, line 107, AttributeError: 'Rows'"),
}


@pytest.mark.parametrize("fault", OWN_FAULTS)
def test_a_fault_in_an_own_part_is_told_with_its_line(call, fault):
    right, wrong, told = OWN_FAULTS[fault]
    call("new", "own.py")
    template = Path("own.py").read_text().replace("steps=200", "steps=3")
    Path("own.py").write_text(template.replace(right, wrong))
    said = call("run", "./own.py", status=2 if fault == "a check" else 1).stderr
    assert told in said and "Traceback" not in said


def test_a_risk_that_no_run_names_is_the_cross_entropy(call, own):
    out = call("run", f"./{own.name}", "--set", "risk.lam=0.5", "--dry-run").stdout
    assert "risk: Risk(loss=cross_entropy, lam=0.5, log=False)" in out
    said = call("run", f"./{own.name}", "--set", "risk.nosuch=1", status=2)
    one_sentence(said, "Risk has no field 'nosuch'; it has loss, lam, log")


def test_a_dry_run_says_what_no_memory_holds(call, own):
    size = ("--set", "d=100000000", "--set", "n=100000")
    assert (
        "MiB of data and weights in a block: too much for"
        in call("run", f"./{own.name}", *size, "--dry-run").stdout
    )


def test_an_export_into_a_file_as_if_it_were_a_folder_is_refused(call, own):
    call("run", f"./{own.name}", "--out", "figures")
    for words in (("--out", f"{own.name}/x"), ("--to", "svg", "--out", own.name)):
        said = call("export", f"./{own.name}", *words, status=2)
        one_sentence(said, f"--out needs a folder, and {own.name} is a file")


def test_python_is_told_what_does_not_fit_before_anything_runs():
    given = dict(
        data=av.data.Clusters(d=3, mu=1.0), network=av.networks.TwoLayer(m=2), n=4, steps=1, eta=0.1
    )
    wrong = {
        "data": (av.data.Clusters, "data needs a part"),
        "network": (None, "network needs a part"),
        "attack": ("pgd", "attack needs a part"),
        "probes": (["risk"], "a probe is called with a state and a scene"),
    }
    for name, (value, told) in wrong.items():
        with pytest.raises(ValueError, match=told):
            av.Run(**{**given, name: value})
    with pytest.raises(ValueError, match="a device is cpu, cuda or cuda:N, got 'gpu'"):
        av.run(av.Run(**given), device="gpu")
    with pytest.raises(ValueError, match="two results or more, got 0"):
        av.slope({}, "d", "risk")


def test_a_stopped_call_with_fresh_begins_again(monkeypatch, capsys):
    monkeypatch.setattr("adversarium.commands.program.called", lambda words: _interrupted())
    for words, told in (
        (["run", "x"], "Go on with"),
        (["run", "x", "--fresh"], "Begin again with"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert told in capsys.readouterr().err


def _interrupted() -> int:
    raise KeyboardInterrupt


def test_a_close_name_is_offered_once():
    assert nearest("radiu", ["radius", "radius", "n"]) == " Nearest: radius."


def test_a_run_whose_weights_are_lost_is_no_counterexample(call, own):
    text = own.read_text().replace("probes=(risk, train_error)", "probes=(train_error,)")
    own.write_text(text.replace('y=("risk",)', 'y=("train_error",)'))
    said = call("run", f"./{own.name}", "--set", "eta=1e200", status=1)
    assert "the run diverged: its weights are not finite at t = " in said.stderr
    assert "own.thm: undecided, a run failed" in said.stdout


def test_the_folder_of_a_changed_run_names_its_number():
    assert folder_of({"eta": 1e20}) == "changed eta=1e+20"


def test_a_knob_that_quick_leaves_empty_tells_what_it_takes(call):
    out = " ".join(call("show", "cgro.lemmas").stdout.split())
    assert "many: whole numbers >= 1, ();" in out and "reaches many points" in out


# an own verdict belongs to its file; one value a thing; seeds are numbers; no knob is dead


def test_a_verdict_of_an_own_file_belongs_to_that_file_as_it_stands(call, own, tmp_path):
    call("verify", "./own.py")
    assert "own.thm" in call("show", "./own.py").stdout
    first = call("export", "./own.py", "--to", "tex", "--out", "a.tex")
    assert (tmp_path / "a.tex").exists() and not first.stderr
    (tmp_path / "other.py").write_text(own.read_text().replace("eta=", "eta=0.5 * "))
    said = call("export", "./other.py", "--to", "tex", "--out", "b.tex", status=2)
    assert "no verdict of ./other.py" in said.stderr
    own.write_text(own.read_text() + "\n# edited\n")
    said = call("export", "./own.py", "--to", "tex", "--out", "c.tex", status=2)
    assert "no verdict of ./own.py" in said.stderr


@pytest.mark.parametrize("words", [("m=32", "network.m=64"), ("m=32", "network=TwoLayer(m=8)")])
def test_a_knob_and_a_field_of_one_thing_are_refused_together(call, words):
    sets = [part for word in words for part in ("--set", word)]
    said = call("run", "boat.published", *sets, "--dry-run", status=2)
    one_sentence(said, "are one thing here; give it one value")


@pytest.mark.parametrize("seeds", [[True], [-1], []])
def test_a_seed_is_a_number_and_true_is_none(seeds):
    trial = av.Trial(function=av.trials.power, parameters=dict(x=2.0, power=1.0))
    with pytest.raises(ValueError, match="whole numbers"):
        av.run(trial, seeds=seeds)


def test_a_knob_that_reaches_no_run_is_refused(call, tmp_path):
    text = SHORT.replace("def plan(steps", "def plan(steps, ghost=3")
    assert "ghost" in text
    (tmp_path / "ghost.py").write_text(text)
    said = call("run", "./ghost.py", "--set", "ghost=4", "--dry-run", status=2)
    one_sentence(said, "ghost reaches no run of ghost")


def test_the_interval_that_is_judged_is_the_one_that_is_shown():
    from adversarium.plans.evidence import Evidence, Quantity
    from adversarium.plans.rules import Level

    error = Quantity("train_error", lambda rows: np.array([0.0, 0.5, 0.0, 0.3, 0.2]))
    judged = Level(error, 0, 0.9).judge(Evidence())
    assert judged.verdict == "undecided" and judged.measured[0].low < 0
    assert Level(error, high=0.9).judge(Evidence()).verdict == "holds"
