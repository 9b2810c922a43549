"""Test the commands as a user calls them: JSON, bad input, interruption. Only what needs a new
process starts one: that nothing heavy is imported, that a file torch.py does not hide torch, and
what a signal does."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.papers import toy
from tests.program import ENV, OWN, one_sentence, process
from tests.report.few import few

TOY = ("--set", "steps=12", "--set", "n=10", "--set", "d=10", "--set", "P=4", "--set", "m=4")


@pytest.fixture
def drawn(monkeypatch):
    """Judge and draw only these experiments in a report (all of them take minutes)."""
    kept: list[str] = []
    few(monkeypatch, kept)
    return kept


def counted(path: Path, query: str) -> list[tuple]:
    """Return what a second connection reads from a store; nothing if there is no store yet."""
    if not path.exists():
        return []
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()
    except sqlite3.Error:
        return []


def seeds(path: Path) -> int:
    """Return the number of finished pairs of run and seed."""
    return len(counted(path, "SELECT run, seed FROM spent"))


def recorded(path: Path) -> dict[str, int]:
    """Return the names of all quantities in a store, and how many runs have each."""
    query = "SELECT name, COUNT(DISTINCT run) FROM arrays GROUP BY name"
    return dict(counted(path, query))


@pytest.mark.parametrize(
    "words",
    (
        ["--help"],
        ["list"],
        ["list", "claims"],
        ["list", "attacks"],
        ["list", "probes"],
        ["list", "networks"],
        ["list", "checks"],
        ["list", "figures"],
        ["list", "claims", "--paper", "boat", "--verdict", "holds"],
        ["show", "cgro.thm4.1"],
    ),
    ids=" ".join,
)
def test_help_list_and_show_do_not_import_torch(words, tmp_path):
    code = (
        "import sys\nfrom adversarium.cli import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "assert 'torch' not in sys.modules\n"
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


def test_list_has_every_claim_and_says_what_was_not_run(call):
    lines = call("list", "claims").stdout.splitlines()
    assert len(lines) > 320
    waiting = [line for line in lines if "not run" in line]
    assert any(" cgrm.tab1 " in line for line in waiting)
    assert not any(" rnrf.fig3.transition " in line for line in waiting)
    assert len(call("list", "papers").stdout.splitlines()) == 6


def test_list_has_the_parts_with_a_sentence_each_and_probes_with_their_symbols(call):
    for room, name in (("datasets", "Digits"), ("networks", "CubicCNN"), ("attacks", "PGD")):
        known = {e["id"]: e["text"] for e in json.loads(call("list", room, "--json").stdout)[room]}
        assert name in known and all(known.values()), known
    probes = {
        e["id"]: e["text"] for e in json.loads(call("list", "probes", "--json").stdout)["probes"]
    }
    assert all(probes.values()) and {"risk", "Error", "FirstTime", "robust_features"} <= set(probes)
    assert probes["true_feature"].startswith("α³ U ") and "§4.1 of CGRO" in probes["true_feature"]
    assert "\\" not in "".join(probes.values())


@pytest.fixture(scope="module")
def changed(tmp_path_factory) -> tuple[Path, str]:
    """Return the directory in which the program ran a changed Figure 3, and what it printed."""
    folder = tmp_path_factory.mktemp("changed")
    return folder, process("run", "rnrf.fig3", *TOY, "--seeds", "2", "--json", cwd=folder).stdout


def test_run_prints_one_json_object(changed, call, monkeypatch):
    folder, out = changed
    whole = json.loads(out)
    assert set(whole) == {"runs", "verdicts", "figures"} and len(whole["runs"]) == 2
    run = whole["runs"][1]
    assert {"id", "config", "seeds", "engine", "refused", "final", "seconds"} <= set(run)
    assert {"label", "family", "at"} <= set(run)
    assert run["engine"] == "full" and "gram" in run["refused"]
    assert all(len(v) == 2 for v in run["final"].values())
    monkeypatch.chdir(folder)
    words = ("run", "rnrf.fig3", *TOY, "--json", "--seeds")
    again = json.loads(call(*words, "2").stdout)
    assert again["runs"][1]["final"] == run["final"]
    three = json.loads(call(*words, "3").stdout)
    assert [v[:2] for v in three["runs"][0]["final"].values()] == list(
        whole["runs"][0]["final"].values()
    )


def test_a_changed_run_is_marked_and_never_enters_the_ledger(changed, call, tmp_path):
    store = str(changed[0] / "adversarium.sqlite")
    out = call("run", "rnrf.fig3", *TOY, "--seeds", "2", "--store", store).stdout
    assert "excluded from the ledger" in out
    (own,) = (tmp_path / "figures" / "rnrf.fig3").iterdir()
    assert own.name.startswith("changed ") and (own / "features.csv").exists()
    shown = json.loads(call("show", "rnrf.fig3.transition", "--store", store, "--json").stdout)
    committed = shown["verdict"]
    assert committed is None or committed["preset"] in ("quick", "paper")


def test_a_dry_run_names_engines_and_refusals_and_runs_nothing(call, tmp_path):
    out = call("run", "boat.published", "--dry-run").stdout
    assert "engine gram" in out and "5 of 5 seeds" in out
    assert "MiB" in out and "time unknown" in out and "measured cost: quick" in out
    out = call("run", "boat.published", "--dry-run", "--set", "attack.start=uniform").stdout
    assert "engine gram does not apply: gram needs PGD with normalised=True" in out
    assert not (tmp_path / "adversarium.sqlite").exists()


LACKING = "rnrf.tab1.robust_gap"  # its images are not on the machine


def test_verify_has_the_shape_of_the_contract(call, tmp_path, drawn, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # without the user's downloads
    boat, one = "boat.published", "boat.thm3.1.train_error.published"
    whole = json.loads(call("verify", boat, LACKING, "cgro.hypC.1", "--json", status=1).stdout)
    assert set(whole) == {"claims", "machine", "seconds"}
    assert set(whole["machine"]) == {"cpu", "cores", "device", "torch", "python"}
    keys = {
        "id", "paper", "source", "statement", "kind", "verdict", "measured", "expected", "reason",
        "seeds", "preset", "engine", "seconds", "corrected", "command", "note",
        "parts", "regime", "spans", "sharpness", "reading", "for_all", "alias_of", "chance",
        "evidence", "waived", "finding", "numbers", "asked",
    }  # fmt: skip
    by_id = {c["id"]: c for c in whole["claims"]}
    assert set(by_id) >= {one, LACKING, "cgro.hypC.1"}
    for claim in by_id.values():
        assert set(claim) == keys
    judged = by_id[one]
    assert judged["verdict"] == "fails" and judged["seeds"] == 20
    for m in judged["measured"][:2]:
        assert set(m) == {"name", "mean", "low", "high", "values"} and len(m["values"]) == 20
    assert set(judged["expected"]) == {"text", "low", "high"}
    for part in judged["parts"]:
        assert set(part) == {"name", "verdict", "measured", "reason", "sharpness", "low", "high"}
    for gate in judged["regime"]:
        assert set(gate) == {"text", "factor", "printed", "low", "high", "holds", "run"}
    assert judged["parts"] and judged["regime"] and judged["sharpness"]
    assert all(low <= high for low, high in judged["spans"].values()) and judged["spans"]["d"]
    assert by_id[LACKING]["verdict"] == "not run"
    # the other commands on the same store
    assert "✕ fails" in call("show", one).stdout
    assert "ratios: numbers > 0, (0.25, 0.5," in call("show", "cgro.phases").stdout
    for kind, start in (("csv", "run,seed,t,probe,at,value"), ("tex", "% needs"), ("npz", "PK")):
        call("export", boat, "--to", kind, "--preset", "paper")
        assert (tmp_path / f"{boat}.{kind}").read_bytes().startswith(start.encode())
    call("verify", boat, "--write", "ledger.json")
    call("verify", LACKING, "--write", "ledger.json", status=1)
    kept = json.loads((tmp_path / "ledger.json").read_text())["claims"]
    assert one in [c["id"] for c in kept if c["verdict"] == "fails"]
    assert LACKING in [c["id"] for c in kept]
    drawn.append(boat)
    call("report", "--out", "site")
    assert one in (tmp_path / "site" / "statements.html").read_text()
    (tmp_path / "other.json").write_text("[1, 2]")
    call("verify", LACKING, "--write", "other.json", status=2)
    assert (tmp_path / "other.json").read_text() == "[1, 2]"


def test_a_claim_records_only_what_its_check_needs(call, tmp_path, monkeypatch):
    toy.write(tmp_path / "toy")
    monkeypatch.setenv("ADVERSARIUM_PAPERS", str(tmp_path / "toy"))
    call("run", "toy.thm1", "--store", "whole")
    assert recorded(tmp_path / "whole") == {"risk": 2, "train_error": 2, "test_error": 2}
    call("verify", "toy.error", "--store", "verified")
    assert recorded(tmp_path / "verified") == {"train_error": 1}
    call("run", "toy.error", "--set", "d=5", "--store", "ran")
    assert recorded(tmp_path / "ran") == {"train_error": 1}
    words = ("sweep", "toy.thm1", "--claim", "toy.error", "--over", "d=4,5", "--store", "swept")
    call(*words)
    assert recorded(tmp_path / "swept") == {"train_error": 2}  # the same run of two cells
    call("verify", "toy.loss", "--store", "verified")  # what is there already is kept
    assert recorded(tmp_path / "verified") == {"train_error": 1, "risk": 1}
    call("verify", "toy", "--store", "verified")
    assert recorded(tmp_path / "verified") == recorded(tmp_path / "whole")


def test_of_a_figures_claim_one_training_is_run_and_its_curves_are_recorded(call, tmp_path):
    out = call("run", "rnrf.fig3.transition", *TOY, "--seeds", "2", "--json").stdout
    (run,) = json.loads(out)["runs"]
    assert run["label"] == "adversarial"
    assert set(run["final"]) == {"robust_features", "nonrobust_features"}
    assert recorded(tmp_path / "adversarium.sqlite") == dict.fromkeys(run["final"], 1)


def test_other_processes_give_the_same_json_as_this_one(call, tmp_path):
    toy.write(tmp_path / "toy")
    words = ("run", "./toy", "--set", "d=5", "--seeds", "3", "--json", "--store")
    here = json.loads(call(*words, "here.sqlite").stdout)["runs"]
    said = process(*words, "there.sqlite", "--on", "processes:2", cwd=tmp_path)
    there = json.loads(said.stdout)["runs"]
    for run in (*here, *there):
        run.pop("seconds")
    assert here == there and len(here) == 2


def test_a_sweep_is_a_grid_of_verdicts_with_a_picture(call, tmp_path):
    words = ("sweep", "boat.published", "--seeds", "5", "--set", "steps=2")
    out = call(*words, "--over", "m=8,16", "--over", "data.beta=0:0.2:0.1", "--json").stdout
    whole = json.loads(out)
    assert len(whole["cells"]) == 6
    assert {c["verdict"] for c in whole["cells"]} <= {"holds", "fails", "undecided"}
    assert (tmp_path / "sweep" / "boat.published-m-data_beta.svg").exists()
    out = call(*words, "--over", "m=8,16").stdout
    assert out.count("m=") == 2
    call(*words, "--over", "m=8,16")  # the same sweep has the same files,
    call(*words, "--over", "m=8")  # another one its own
    made = {p.name.removeprefix("boat.published-m") for p in tmp_path.glob("sweep/*.csv")}
    assert made == {"-data_beta.csv", ".csv", "-2.csv"}


BAD = [
    (["run"], "name at least one experiment"),
    (["run", "rnrf.fig33"], "Nearest: "),
    (["verify", "cgro.thm41"], "cgro.thm4.1"),
    (["show", "nonsense"], "no paper, experiment or claim"),
    (["run", "rnrf.fig3", "--set", "data.alfa=3"], "no field 'alfa'"),
    (["run", "rnrf.fig3", "--set", "nosuch=3"], "no knob or field"),
    (["run", "rnrf.fig3", "--set", "d=abc"], "needs int"),
    (["run", "rnrf.fig3", "--set", "d=3"], "d >= 2k"),
    (["run", "rnrf.fig3", "--set", "attack.radius=-1"], "radius >= 0"),
    (["run", "rnrf.fig3", "--set", "attack=pgd(p=3, radius=1)"], "p = 1, 2 or inf"),
    (["run", "rnrf.fig3", "--against"], "--against needs --set"),
    (["run", "rnrf.fig3", "--seeds", "none"], "--seeds needs"),
    (["run", "rnrf.fig3", "--preset", "fast"], "preset"),
    (["run", "rnrf.fig3", "--nosuch"], "nosuch"),
    (["run", "rnrf.fig3", "--device", "cuda"], "cuda"),
    (["run", "rnrf.fig3", "--data", "nowhere"], "--data needs a directory"),
    (["run", "rnrf.fig3", "--store", "nowhere/s.sqlite"], "does not exist"),
    (["run", "rnrf.fig3", "--store", "."], "is a directory"),
    (["run", "rnrf.fig3", "--store", "letter.txt"], "not a store"),
    (["run", "rnrf.fig3", "--on", "elsewhere"], "--on needs here, processes, processes:N"),
    (["verify", "boat", "--on", "processes:0"], "--on needs here, processes, processes:N"),
    (["verify", "--store", "letter.txt"], "not a store"),
    (["report", "--out", "letter.txt"], "directory"),
    (["report", "rnrf"], "your files"),
    (["report", "--out", "page"], "was not written by adversarium"),
    (["export", "rnrf.fig3"], "run `adversarium run rnrf.fig3"),
    (["export", "rnrf.fig3"], "use --preset paper"),
    (["run", "cgro.setting", "--set", "foo=1"], "no knob or field of cgro.setting is named 'foo'"),
    (["run", "cgro.setting", "--set", "data.alpha=3"], "has no training runs"),
    (["run", "cgro.thm4.1", "--set", "sets=Z"], "sets are some of E, C"),
    (["run", "cgro.flatness", "--set", "dimensions=4"], "dimensions among 1, 2, 3"),
    (["run", "cgrm.modified", "--set", "mu=0.0"], "0 < mu < 1"),
    (["verify", "cgro.variations"], "has no claims"),
    (["sweep", "cgro.phases", "--over", "gap=log:0.05:0.2"], "log:a:b:n"),
    (["export", "rnrf.fig3", "--to", "xls"], "xls"),
    (["sweep", "rnrf.fig3"], "over"),
    (["sweep", "rnrf.fig3", "--over", "d=1:2"], "--over"),
    (["sweep", "rnrf.fig3", "--over", "nosuch=1,2"], "no knob or field"),
    (["sweep", "rnrf.fig3", "--over", "d=10,20", "--claim", "cgro.thm4.1"], "has no claim"),
    (["list", "engines"], "engines"),
    (["scheduler", "--port", "99999999"], "--port needs a number"),
    (["show", "./missing.py"], "is not a file"),
    (["verify", "./misspelt.py"], "needs 'rsik', which the plan does not record; it records ri"),
    (["run", "./missing.py"], "is not a file"),
    (["run", "./raises.py"], "raises.py, line 2 raised ZeroDivisionError"),
    (["verify", "./syntax.py"], "SyntaxError"),
    (["run", "./empty.py"], "does not define plan, quick, checks"),
    (["run", "./badplan.py"], "line 6 raised"),
    (["verify", "./stolen.py"], "the catalogue already has a claim"),
    (["run", "./exits.py"], "raised SystemExit"),
    (["verify", "./page"], "contains no paper"),
    (["new", "paper", "page"], "already exists"),
    (["new", "paper", "My-Paper"], "lowercase letters"),
    (["nosuchcommand"], "nosuchcommand"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(w) for w, _ in BAD])
def test_bad_input_gets_one_sentence_and_status_two(words, said, call, tmp_path):
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
    (tmp_path / "misspelt.py").write_text(OWN.replace('last("train_error")', 'last("rsik")'))
    (tmp_path / "exits.py").write_text("import sys\nsys.exit()\n")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    one_sentence(call(*words, status=2), said)
    after = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    assert {k: after[k] for k in before} == before


def test_a_file_called_torch_is_not_torch(tmp_path):
    (tmp_path / "torch.py").write_text("x = 1\n")
    said = process("run", "./torch.py", cwd=tmp_path, status=2)
    one_sentence(said, "does not define plan, quick, checks")


def test_an_own_file_goes_wherever_an_id_goes(call, tmp_path, drawn):
    (tmp_path / "own.py").write_text(OWN)
    assert "✓ holds  own.thm" in call("run", "./own.py").stdout
    assert "own.thm  no verdict yet" in call("show", "./own.py").stdout
    ledger = json.loads(call("verify", "./own.py", "--json").stdout)
    assert ledger["claims"][0]["verdict"] == "holds"
    call("sweep", "./own.py", "--over", "d=10,20")
    call("report", "./own.py")
    index = (tmp_path / "report" / "index.html").read_text()
    assert "claims/own.thm.html" in index and 'id="own"' in index
    assert "changed</span>" in (tmp_path / "report" / "changed.html").read_text()


def test_attack_meets_every_network_with_every_attack(call, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    words = ("attack", "./own.py", "--radii", "0,0.2,1", "--points", "30")
    (made,) = json.loads(call(*words, "--json").stdout)["attacks"]
    assert made["p"] == 2 and made["radii"] == [0, 0.2, 1]
    strong = made["errors"]["all strong attacks"]
    assert all(len(row) == 3 for row in made["members"].values()) and "APGD" in made["members"]
    assert len(made["flat"]) == 3 and all(0 <= share <= 1 for share in made["flat"])
    assert strong == sorted(strong)
    for row in made["errors"].values():
        assert all(a <= b for a, b in zip(row, strong, strict=True))
    assert all(broken <= open_ for broken, open_ in zip(strong, made["proven"], strict=True))
    assert made["changed"] == {} and made["flat"][0] == 0
    assert made["floor"] == [] or made["floor"] == sorted(made["floor"])
    out = call(*words, "--set", "steps=5").stdout
    home = tmp_path / "attack" / "own"
    assert "GTA" in out and "changed: steps = 5" in out and not list(home.glob("run*.svg"))
    (picture,) = (home / "changed steps=5").glob("run, seed 0, 30 points, radii *.svg")
    assert picture.with_suffix(".csv").exists()
    call(*words, "--set", "steps=5", "--seed", "1")  # another seed, another file
    assert len(list(picture.parent.glob("*.csv"))) == 2
    call("attack", "./own.py", "--radii", "1", "--out", "own.py", status=2)
    call("attack", "./own.py", "--radii", "1,x", status=2)
    call("attack", "rnrf.setting", status=2)


def test_the_template_is_a_whole_theorem(call, tmp_path):
    call("new", "mine.py")
    out = call("run", "./mine.py").stdout
    assert "✓ holds  mine.thm1" in out
    assert (tmp_path / "figures" / "mine" / "alignment.svg").exists()
    call("sweep", "./mine.py", "--over", "mu=1,2", "--set", "steps=50")
    call("new", "mine.py", status=2)
    call("new", "my-file.txt", status=2)


def test_the_template_of_a_paper_is_a_whole_paper(call, tmp_path, monkeypatch, drawn):
    call("new", "paper", "mine")
    ledger = json.loads(call("verify", "./mine", "--json").stdout)
    assert [(e["id"], e["verdict"]) for e in ledger["claims"]] == [("mine.thm1.error", "holds")]
    low, high = ledger["claims"][0]["spans"]["mu"]
    assert 0 < low < high
    drawn.append("mine.thm1")
    call("report", "./mine")
    assert 'id="MINE"' in (tmp_path / "report" / "index.html").read_text()
    assert (tmp_path / "report" / "figures" / "mine.thm1" / "direction.svg").exists()
    with toy.forgotten():
        monkeypatch.setenv("ADVERSARIUM_PAPERS", str(tmp_path / "mine"))
        assert "mine.thm1 " in call("list").stdout
        assert "MINE" in call("list", "papers").stdout
    call("new", "paper", "mine", status=2)


THEOREM = "experiments/thm1.py"
KIND, HOME = 'kind = "exponent"', 'experiment = "toy.thm1"'
UNFIT = {  # what is changed in which file, and what is said
    "no key": (
        "paper.toml",
        'key = "TOY"',
        "",
        "paper.toml does not describe a paper: it does not set key",
    ),
    "a number as key": ("paper.toml", 'key = "TOY"', "key = 3", "key needs str, got 3"),
    "unknown field": ("paper.toml", "[letters]", "colour = 1\n[letters]", "fields: colour"),
    "half a paper": (
        "paper.toml",
        "[letters]",
        "[letters",
        "paper.toml does not describe a paper: ",
    ),
    "half a catalogue": ("claims.toml", 'later"]', "later", "claims.toml cannot be read"),
    "another's claim": ("claims.toml", "toy.later", "boat.later", "must begin with 'toy.'"),
    "unknown word": (
        "claims.toml",
        KIND,
        KIND + "\ncolour = 1",
        "toy.later: it sets unknown fields: colour",
    ),
    "lost kind": ("claims.toml", KIND, "", "claims.toml: toy.later: it does not set kind"),
    "lost title": ("claims.toml", "title", "name", "claims.toml: toy.thm1: it does not set title"),
    "lost file": ("claims.toml", "toy.thm1", "toy.thm9", "thm9.py does not exist"),
    "lost experiment": ("claims.toml", HOME, HOME.replace("1", "7"), "experiment toy.thm7 is not"),
    "lost check": (THEOREM, '"toy.loss":', '"toy.lost":', "thm1.py has no check for toy.loss"),
    "no rule": (THEOREM, "return Level(", "return str(", "raised TypeError"),
    "raises": (
        THEOREM,
        "from ..theory.promised import LOSS",
        "1 / 0",
        "thm1.py, line 13 raised Zero",
    ),
    "plan raises": (
        THEOREM,
        "    for family",
        "    1 / 0\n    for family",
        "line 19 raised Zero",
    ),
}


@pytest.mark.parametrize("fault", UNFIT)
def test_a_bad_paper_gets_one_sentence_and_status_two(fault, call, tmp_path):
    file, right, wrong, said = UNFIT[fault]
    path = toy.write(tmp_path / "toy") / file
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong))
    one_sentence(call("verify", "./toy", status=2), said)


def test_a_probe_that_raises_fails_its_run_with_status_one_and_loses_nothing(call, tmp_path):
    broken = OWN.replace("probes=(risk, train_error))", "probes=(risk, train_error, oops))")
    broken = broken.replace(
        "quick =", "def oops(state, scene):\n    raise KeyError('lost')\n\n\nquick ="
    )
    (tmp_path / "own.py").write_text(broken)
    said = call("run", "./own.py", status=1)
    assert "KeyError" in said.stderr and "Traceback" not in said.stderr


def heard() -> None:
    """Restore SIGINT, which children of a background shell ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def running(pid: int) -> float:
    """Return the CPU seconds of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ended() -> float:
    """Return the CPU seconds of all children that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_an_interrupted_run_stops_within_two_seconds_and_keeps_what_is_finished(number, tmp_path):
    long = OWN.replace(
        "yield Run(", "for eta in (0.05, 0.01):\n        yield Run(at={'eta': eta}, "
    )
    long = long.replace("steps=steps, eta=0.05", "steps=200 if eta == 0.05 else 10**7, eta=eta")
    long = long.replace('last("train_error")', 'last("train_error", where(eta=0.05))')
    (tmp_path / "own.py").write_text(long.replace("Run, last", "Run, last, where"))
    command = [sys.executable, "-P", "-m", "adversarium.cli", "run", "./own.py"]
    before = ended()
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=ENV, preexec_fn=heard
    ) as child:
        for _ in range(900):
            time.sleep(0.1)
            if seeds(tmp_path / "adversarium.sqlite") == 5:
                break
        time.sleep(0.5)
        used = running(child.pid)
        child.send_signal(number)
        try:
            said = child.communicate(timeout=30)[1]
        finally:
            child.kill()
    assert ended() - before - used < 2  # seconds of its own: a busy machine takes longer
    assert child.returncode == 130
    assert "all finished runs are stored. Continue with: adversarium run ./own.py" in said
    assert "Traceback" not in said
    assert seeds(tmp_path / "adversarium.sqlite") == 5


def test_the_bare_command_needs_only_the_core_packages(tmp_path):
    code = (
        "import sys\n"
        "for name in ('cyclopts', 'rich', 'matplotlib', 'jaxtyping', 'beartype', 'distributed'):\n"
        "    sys.modules[name] = None\n"
        "from adversarium.runs.__main__ import main\n"
        "raise SystemExit(main(['boat.published', '--seeds', '1', '--store', 's.sqlite']))\n"
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
    assert seeds(tmp_path / "s.sqlite") == 1
    wrong = [sys.executable, "-m", "adversarium.runs", "nonsense"]
    done = subprocess.run(wrong, cwd=tmp_path, capture_output=True, text=True, env=ENV, check=False)
    assert done.returncode == 2 and "no paper" in done.stdout + done.stderr


def test_a_stop_in_a_callback_is_no_traceback(tmp_path):
    """Python prints and ignores what a finaliser raises; a stop must still end the program."""
    code = (
        "import signal, sys\n"
        "from adversarium import cli\n"
        "import adversarium.commands.program as program\n"
        "class Held:\n"
        "    def __del__(self): signal.raise_signal(signal.SIGTERM)\n"
        "def called(words):\n"
        "    held = Held(); del held\n"
        "    print('went on'); return 0\n"
        "program.called = called\n"
        "cli.main(['report'])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True)
    assert ended.returncode == 130, ended
    assert b"Traceback" not in ended.stderr and b"stopped; all finished runs" in ended.stderr
    assert b"went on" not in ended.stdout
