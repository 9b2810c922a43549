"""The commands as a user calls them: contract of the JSON, bad input, interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENV = {**os.environ, "COLUMNS": "200", "OMP_NUM_THREADS": "1"}
TOY = ("--set", "steps=12", "--set", "n=10", "--set", "d=10", "--set", "P=4", "--set", "m=4")


def call(*words: str, cwd: Path, status: int = 0) -> subprocess.CompletedProcess:
    command = [sys.executable, "-P", "-m", "adversarium.cli", *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=ENV, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


@pytest.mark.parametrize(
    "words",
    (["--help"], ["list"], ["list", "claims"], ["list", "attacks"], ["show", "cgro.thm4.1"]),
)
def test_help_list_and_show_do_not_import_torch_and_answer_at_once(words, tmp_path):
    code = (
        "import sys, time\nfrom adversarium.cli import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "assert 'torch' not in sys.modules\n"
        "assert time.process_time() < 0.5, time.process_time()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_list_has_every_claim_and_says_what_is_not_yet_implemented(tmp_path):
    lines = call("list", "claims", cwd=tmp_path).stdout.splitlines()
    assert len(lines) > 320
    waiting = [line for line in lines if "not yet implemented" in line]
    assert any(line.startswith("cgro.fig1 ") for line in waiting)
    assert not any(line.startswith("rnrf.fig3.transition ") for line in waiting)
    assert len(call("list", "papers", cwd=tmp_path).stdout.splitlines()) == 5
    assert "Digits" in call("list", "datasets", cwd=tmp_path).stdout


def test_run_prints_one_json_object(tmp_path):
    words = ("run", "rnrf.fig3", *TOY, "--seeds", "2", "--json")
    done = call(*words, cwd=tmp_path)
    whole = json.loads(done.stdout)
    assert set(whole) == {"runs"} and len(whole["runs"]) == 2
    run = whole["runs"][1]
    assert {"id", "config", "seeds", "engine", "refused", "final", "seconds"} <= set(run)
    assert run["engine"] == "full" and "gram" in run["refused"]
    assert all(len(v) == 2 for v in run["final"].values())
    again = json.loads(call(*words, cwd=tmp_path).stdout)
    assert again["runs"][1]["final"] == run["final"]
    three = json.loads(call(*words[:-2], "3", "--json", cwd=tmp_path).stdout)
    assert [v[:2] for v in three["runs"][0]["final"].values()] == list(
        whole["runs"][0]["final"].values()
    )


def test_a_changed_run_is_marked_and_never_enters_the_ledger(tmp_path):
    out = call("run", "rnrf.fig3", *TOY, "--seeds", "2", cwd=tmp_path).stdout
    assert "changed: not for the ledger" in out
    assert (tmp_path / "figures" / "rnrf.fig3" / "features.svg").exists()
    assert (tmp_path / "figures" / "rnrf.fig3" / "features.csv").exists()
    shown = json.loads(call("show", "rnrf.fig3.transition", "--json", cwd=tmp_path).stdout)
    committed = shown["verdict"]
    assert committed is None or committed["preset"] in ("quick", "paper")


def test_a_dry_run_names_engines_and_refusals_and_runs_nothing(tmp_path):
    out = call("run", "boat", "--dry-run", cwd=tmp_path).stdout
    assert "engine gram" in out and "10 of 10 seeds" in out
    assert "MiB" in out and "time unknown" in out and "measured: quick" in out
    out = call("run", "boat", "--dry-run", "--set", "attack.start=uniform", cwd=tmp_path).stdout
    assert "not gram: gram needs normalised steps from a zero start" in out
    assert not (tmp_path / "adversarium.sqlite").exists()


def test_verify_has_the_shape_of_the_contract(tmp_path):
    done = call("verify", "conv.eq16", "conv.eq17", "cgro.hypC.1", "--json", cwd=tmp_path)
    whole = json.loads(done.stdout)
    assert set(whole) == {"claims", "machine", "seconds"}
    assert set(whole["machine"]) == {"cpu", "cores", "device", "torch", "python"}
    keys = {
        "id", "paper", "source", "statement", "kind", "verdict", "measured", "expected", "reason",
        "seeds", "preset", "engine", "seconds", "corrected", "command", "note",
    }  # fmt: skip
    by_id = {c["id"]: c for c in whole["claims"]}
    assert set(by_id) == {"conv.eq16", "conv.eq17", "cgro.hypC.1"}
    for claim in by_id.values():
        assert set(claim) == keys
    judged = by_id["conv.eq16"]
    assert judged["verdict"] == "holds" and judged["seeds"] == 5
    for m in judged["measured"]:
        assert set(m) == {"name", "mean", "low", "high", "values"} and len(m["values"]) == 5
    assert set(judged["expected"]) == {"text", "low", "high"}
    assert by_id["conv.eq17"]["verdict"] == "not yet implemented"
    # the other commands on the same store
    assert "last verdict: holds" in call("show", "conv.eq16", cwd=tmp_path).stdout
    assert "ratios=(0.25, 0.35," in call("show", "cgro.phases", cwd=tmp_path).stdout
    for kind, start in (("csv", "run,seed,t,probe,value"), ("tex", "% needs"), ("npz", "PK")):
        call("export", "conv.eq16", "--to", kind, cwd=tmp_path)
        assert (tmp_path / f"conv.eq16.{kind}").read_bytes().startswith(start.encode())
    call("verify", "conv.eq16", "--write", "ledger.json", cwd=tmp_path)
    call("verify", "conv.eq17", "--write", "ledger.json", cwd=tmp_path)
    kept = json.loads((tmp_path / "ledger.json").read_text())["claims"]
    assert [c["id"] for c in kept] == ["conv.eq16", "conv.eq17"]
    call("report", "--out", "site", cwd=tmp_path)
    assert "conv.eq16" in (tmp_path / "site" / "index.html").read_text()
    (tmp_path / "other.json").write_text("[1, 2]")
    call("verify", "conv.eq17", "--write", "other.json", cwd=tmp_path, status=2)
    assert (tmp_path / "other.json").read_text() == "[1, 2]"


def test_a_sweep_is_a_grid_of_verdicts_with_a_picture(tmp_path):
    words = ("sweep", "boat.thm3.1.train_error", "--seeds", "5", "--set", "steps=2", "--set", "m=8")
    whole = json.loads(
        call(
            *words, "--over", "m=8,16", "--over", "data.beta=0:0.2:0.1", "--json", cwd=tmp_path
        ).stdout
    )
    assert len(whole["cells"]) == 6
    assert {c["verdict"] for c in whole["cells"]} <= {"holds", "fails", "undecided"}
    assert (tmp_path / "sweep" / "boat.thm3.1.train_error-m-data_beta.svg").exists()
    out = call(*words, "--over", "m=8,16", cwd=tmp_path).stdout
    assert out.count("m=") == 2
    call(*words, "--over", "m=8,16", cwd=tmp_path)  # the same sweep has the same files,
    call(*words, "--over", "m=8", cwd=tmp_path)  # another one its own
    made = {p.name.removeprefix("boat.thm3.1.train_error-m") for p in tmp_path.glob("sweep/*.csv")}
    assert made == {"-data_beta.csv", ".csv", "-2.csv"}


BAD = [
    (["run"], "name at least one experiment"),
    (["run", "rnrf.fig33"], "Nearest: "),
    (["verify", "cgro.thm41"], "cgro.thm4.1"),
    (["show", "nonsense"], "no paper, experiment or claim"),
    (["run", "cgro.fig1"], "not yet implemented"),
    (["run", "rnrf.fig3", "--set", "data.alfa=3"], "no field 'alfa'"),
    (["run", "rnrf.fig3", "--set", "nosuch=3"], "nothing is called"),
    (["run", "rnrf.fig3", "--set", "d=abc"], "needs int"),
    (["run", "rnrf.fig3", "--set", "d=3"], "d >= 2k"),
    (["run", "rnrf.fig3", "--set", "attack.radius=-1"], "radius >= 0"),
    (["run", "rnrf.fig3", "--set", "attack=pgd(p=3, radius=1)"], "p = 1, 2 or inf"),
    (["run", "rnrf.fig3", "--seeds", "none"], "--seeds needs"),
    (["run", "rnrf.fig3", "--preset", "fast"], "preset"),
    (["run", "rnrf.fig3", "--nosuch"], "nosuch"),
    (["run", "rnrf.fig3", "--device", "cuda"], "cuda"),
    (["run", "rnrf.fig3", "--data", "nowhere"], "--data needs a directory"),
    (["run", "rnrf.fig3", "--store", "nowhere/s.sqlite"], "does not exist"),
    (["run", "rnrf.fig3", "--store", "."], "is a directory"),
    (["run", "rnrf.fig3", "--store", "letter.txt"], "not a store"),
    (["verify", "--store", "letter.txt"], "not a store"),
    (["report", "--out", "letter.txt"], "directory"),
    (["report", "rnrf"], "own files"),
    (["report", "--out", "page"], "no report of ours"),
    (["export", "rnrf.fig3"], "run `adversarium run rnrf.fig3"),
    (["export", "rnrf.fig3"], "take --preset paper"),
    (["run", "cgro.setting", "--set", "foo=1"], "nothing is called 'foo'"),
    (["run", "cgro.setting", "--set", "data.alpha=3"], "trains nothing"),
    (["run", "cgro.thm4.1", "--set", "sets=Z"], "sets are some of E, C"),
    (["run", "cgro.flatness", "--set", "dimensions=4"], "dimensions of 1, 2, 3"),
    (["run", "cgrm.modified", "--set", "mu=0.0"], "0 < mu < 1"),
    (["verify", "cgro.variations"], "judges no claim"),
    (["sweep", "cgro.phases", "--over", "gap=log:0.05:0.2"], "log:a:b:n"),
    (["export", "rnrf.fig3", "--to", "xls"], "xls"),
    (["sweep", "rnrf.fig3"], "over"),
    (["sweep", "rnrf.fig3", "--over", "d=1:2"], "--over"),
    (["sweep", "rnrf.fig3", "--over", "nosuch=1,2"], "nothing is called"),
    (["sweep", "rnrf.fig3", "--over", "d=10,20", "--claim", "cgro.thm4.1"], "has no claim"),
    (["run", "./missing.py"], "is not a file"),
    (["run", "./raises.py"], "raises.py, line 2 raised ZeroDivisionError"),
    (["verify", "./syntax.py"], "SyntaxError"),
    (["run", "./empty.py"], "needs plan, quick, checks"),
    (["run", "./badplan.py"], "line 6 raised"),
    (["verify", "./stolen.py"], "is a claim of the catalogue"),
    (["run", "./exits.py"], "raised SystemExit"),
    (["run", "./torch.py"], "needs plan, quick, checks"),
    (["nosuchcommand"], "nosuchcommand"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(w) for w, _ in BAD])
def test_bad_input_gets_one_sentence_and_status_two(words, said, tmp_path):
    (tmp_path / "letter.txt").write_text("dear reader " * 20)
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.html").write_text("my own page")
    (tmp_path / "raises.py").write_text("x = 1\ny = 1 / 0\n")
    (tmp_path / "syntax.py").write_text("def plan(:\n")
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "badplan.py").write_text(
        "quick = {'seeds': 2}\nchecks = {}\n\n\n"
        "def plan():\n    raise RuntimeError('no luck')\n    yield\n"
    )
    (tmp_path / "stolen.py").write_text(OWN.replace("own.thm", "conv.eq16"))
    (tmp_path / "exits.py").write_text("import sys\nsys.exit()\n")
    (tmp_path / "torch.py").write_text("x = 1\n")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    done = call(*words, cwd=tmp_path, status=2)
    assert said in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) == 1
    after = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    assert {k: after[k] for k in before} == before


OWN = '''"""A small theorem: training error vanishes."""

from adversarium.data import PatchData
from adversarium.experiments.checks import last, level
from adversarium.experiments.spec import Curves, Run
from adversarium.networks import CubicCNN
from adversarium.probes import risk, train_error

quick = dict(steps=200, seeds=5)
claims = {"own.thm": dict(statement="Training error vanishes.", kind="level", source="me")}


def plan(steps, d=20):
    data = PatchData(d=d, P=3, alpha=2.0, sigma=0.2)
    yield Run(data=data, network=CubicCNN(m=6, sigma0=0.3), n=8, steps=steps, eta=0.05,
              probes=(risk, train_error))


checks = {"own.thm": level(last("train_error"), 0, 0.0)}
figures = (Curves(name="risk", y=("risk",), title="risk"),)
'''


def test_an_own_file_goes_wherever_an_id_goes(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    assert "own.thm: holds" in call("run", "./own.py", cwd=tmp_path).stdout
    ledger = json.loads(call("verify", "./own.py", "--json", cwd=tmp_path).stdout)
    assert ledger["claims"][0]["verdict"] == "holds"
    call("sweep", "./own.py", "--over", "d=10,20", cwd=tmp_path)
    call("report", "./own.py", cwd=tmp_path)
    assert "own.thm" in (tmp_path / "report" / "index.html").read_text()


def test_attack_meets_every_network_with_every_attack(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    words = ("attack", "./own.py", "--radii", "0,0.2,1", "--points", "30")
    (made,) = json.loads(call(*words, "--json", cwd=tmp_path).stdout)["attacks"]
    assert made["p"] == 2 and made["radii"] == [0, 0.2, 1]
    strong = made["errors"]["all strong attacks"]
    assert strong == sorted(strong)
    for row in made["errors"].values():
        assert all(a <= b for a, b in zip(row, strong, strict=True))
    assert all(broken <= open_ for broken, open_ in zip(strong, made["proven"], strict=True))
    out = call(*words, cwd=tmp_path).stdout
    assert "GTA" in out and (tmp_path / "attack" / "own" / "run.svg").exists()
    assert (tmp_path / "attack" / "own" / "run.csv").exists()
    call("attack", "./own.py", "--radii", "1,x", cwd=tmp_path, status=2)
    call("attack", "rnrf.setting", cwd=tmp_path, status=2)


def test_the_template_is_a_whole_theorem(tmp_path):
    call("new", "mine.py", cwd=tmp_path)
    out = call("run", "./mine.py", cwd=tmp_path).stdout
    assert "mine.thm1: holds" in out
    assert (tmp_path / "figures" / "mine" / "alignment.svg").exists()
    call("sweep", "./mine.py", "--over", "mu=1,2", "--set", "steps=50", cwd=tmp_path)
    call("new", "mine.py", cwd=tmp_path, status=2)
    call("new", "my-file.txt", cwd=tmp_path, status=2)


def test_a_probe_that_raises_fails_its_run_with_status_one_and_loses_nothing(tmp_path):
    broken = OWN.replace("probes=(risk, train_error))", "probes=(risk, train_error, oops))")
    broken = broken.replace(
        "quick =", "def oops(state, scene):\n    raise KeyError('lost')\n\n\nquick ="
    )
    (tmp_path / "own.py").write_text(broken)
    done = call("run", "./own.py", cwd=tmp_path, status=1)
    assert "KeyError" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_an_interrupted_run_stops_within_two_seconds_and_keeps_what_is_finished(number, tmp_path):
    long = OWN.replace(
        "yield Run(", "for eta in (0.05, 0.01):\n        yield Run(label=f'eta {eta}', "
    )
    long = long.replace("steps=steps, eta=0.05", "steps=200 if eta == 0.05 else 10**7, eta=eta")
    (tmp_path / "own.py").write_text(long)
    command = [sys.executable, "-P", "-m", "adversarium.cli", "run", "./own.py"]
    # a shell that runs this in the background has SIGINT ignored, and children inherit that
    heard = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=ENV, preexec_fn=heard
    ) as child:
        for _ in range(200):
            time.sleep(0.1)
            if _seeds(tmp_path / "adversarium.sqlite") == 5:
                break
        time.sleep(0.5)
        began = time.monotonic()
        child.send_signal(number)
        try:
            said = child.communicate(timeout=30)[1]
        finally:
            child.kill()
    assert time.monotonic() - began < 2
    assert child.returncode == 130
    assert "every finished run is kept. Go on with: adversarium run ./own.py" in said
    assert "Traceback" not in said
    assert _seeds(tmp_path / "adversarium.sqlite") == 5


def _seeds(path: Path) -> int:
    import sqlite3

    if not path.exists():
        return 0
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return db.execute("SELECT COUNT(*) FROM done").fetchone()[0]
        finally:
            db.close()
    except sqlite3.Error:
        return 0


def test_the_bare_command_needs_only_the_core_packages(tmp_path):
    code = (
        "import sys\n"
        "for name in ('cyclopts', 'rich', 'matplotlib', 'jaxtyping', 'beartype', 'pooch'):\n"
        "    sys.modules[name] = None\n"
        "from adversarium.sweeps.run import main\n"
        "raise SystemExit(main(['conv.eq16', '--seeds', '1', '--store', 's.sqlite']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=ENV,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert _seeds(tmp_path / "s.sqlite") == 9
    wrong = [sys.executable, "-m", "adversarium.sweeps.run", "nonsense"]
    done = subprocess.run(wrong, cwd=tmp_path, capture_output=True, text=True, env=ENV, check=False)
    assert done.returncode == 2 and "no paper" in done.stdout + done.stderr
