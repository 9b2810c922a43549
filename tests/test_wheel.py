"""A built wheel is complete: in a new environment it judges a claim in an empty folder."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
CLEAN = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}


def called(*words: str | Path, cwd: Path) -> str:
    """Return what a process prints; it must succeed."""
    done = subprocess.run(
        words, cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Return the wheel, built offline by the installed backend."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    called(sys.executable, "-m", "pip", *build, cwd=folder)
    (made,) = folder.glob("adversarium-*.whl")
    return made


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory) -> Path:
    """Return the programs of an environment with the wheel and the dependencies that are installed
    here, without editable installs (.pth files of a second folder are not read)."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    into = ("install", "--no-deps", "--no-index", wheel)
    called(sys.executable, "-m", "pip", "--python", python, *into, cwd=home)
    own = called(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home)
    here = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(own.strip()) / "dependencies.pth").write_text("\n".join(sorted(here)) + "\n")
    return home / "bin"


@pytest.mark.long
def test_a_wheel_holds_the_package_its_licence_and_nothing_else(wheel):
    held = {n for n in zipfile.ZipFile(wheel).namelist() if not n.endswith("/")}
    package = {name for name in held if name.startswith("adversarium/")}
    files = (p for p in (SOURCE / "adversarium").rglob("*") if p.is_file())
    meant = {p.relative_to(SOURCE).as_posix() for p in files if "__pycache__" not in p.parts}
    assert package == meant
    for part in ("papers/conv/claims.toml", "papers/ledger.json", "commands/templates/theorem.txt"):
        assert f"adversarium/{part}" in package
    assert "adversarium/papers/conv/results/conv.eq16.npz" in package
    assert all(".dist-info/" in name for name in held - package)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in held)


@pytest.mark.long
def test_a_wheel_judges_a_claim_in_an_empty_folder(fresh, tmp_path):
    where = called(
        fresh / "python", "-c", "import adversarium as a; print(a.__file__)", cwd=tmp_path
    )
    assert Path(where.strip()).is_relative_to(fresh.parent)
    told = json.loads(
        called(fresh / "adversarium", "verify", "conv.eq16", "--fresh", "--json", cwd=tmp_path)
    )
    (claim,) = told["claims"]
    assert (claim["id"], claim["verdict"]) == ("conv.eq16", "holds")
    assert (tmp_path / "adversarium.sqlite").is_file()


@pytest.mark.long
def test_a_wheel_brings_the_ledger_and_the_templates(fresh, tmp_path):
    program = fresh / "adversarium"
    ledger = json.loads(
        (SOURCE / "adversarium" / "papers" / "ledger.json").read_text(encoding="utf-8")
    )
    committed = {entry["id"]: entry["verdict"] for entry in ledger["claims"]}
    shown = json.loads(called(program, "show", "cgro.thm4.1", "--json", cwd=tmp_path))
    assert shown["verdict"]["verdict"] == committed["cgro.thm4.1"]
    called(program, "new", "paper", "mine", cwd=tmp_path)
    assert (tmp_path / "mine" / "claims.toml").is_file()


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "adversarium-conv"
version = "1.0"

[project.entry-points."adversarium.papers"]
conv = "adversarium_conv"

[tool.hatch.build.targets.wheel]
packages = ["adversarium_conv"]
"""

KEYS = """
import json
from adversarium.plans.loading import load
from adversarium.plans.papers import experiments
from adversarium.runs.audit import planned_jobs

homes = [id for id in experiments() if id.startswith("conv.")]
jobs = {id: [job for p in ("quick", "paper") for job in planned_jobs(load(id), p)] for id in homes}
print(json.dumps({id: [[job.key, sorted(job.asked)] for job in some] for id, some in jobs.items()}))
"""

ROWS = """
import hashlib, sys
from adversarium.runs.store import Store

for block in Store(sys.argv[1], readonly=True).dump():
    for probe, kept in sorted(block.kept.items()):
        for name, series in sorted(kept.series.items()):
            print(block.key, probe, name, hashlib.sha256(series.values.tobytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def split(tmp_path_factory) -> Path:
    """Return an environment with an adversarium without papers, and CONV as a separate package."""
    home = tmp_path_factory.mktemp("split")
    skip = shutil.ignore_patterns("__pycache__")
    core, conv = home / "core", home / "conv"
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        core.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, core / name)
    shutil.copytree(SOURCE, core / "src", ignore=skip)
    shutil.rmtree(core / "src" / "adversarium" / "papers")
    shutil.copytree(SOURCE / "adversarium/papers/conv", conv / "adversarium_conv", ignore=skip)
    (conv / "pyproject.toml").write_text(PROJECT)
    venv.create(home / "env", with_pip=False)
    python = home / "env" / "bin" / "python"
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", home / "wheels")
    for project in (core, conv):
        called(sys.executable, "-m", "pip", *build, project, cwd=home)
    into = ("install", "--no-deps", "--no-index", *sorted((home / "wheels").glob("*.whl")))
    called(sys.executable, "-m", "pip", "--python", python, *into, cwd=home)
    own = called(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home)
    here = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(own.strip()) / "dependencies.pth").write_text("\n".join(sorted(here)) + "\n")
    return home / "env" / "bin"


@pytest.mark.slow
def test_a_paper_of_ours_as_a_separate_wheel_gives_the_same_verdicts_and_rows(split, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir(), here.mkdir()
    assert called(split / "adversarium", "list", "papers", cwd=there).split()[0] == "CONV"
    keys = [called(python, "-c", KEYS, cwd=there) for python in (split / "python", sys.executable)]
    assert json.loads(keys[0]) == json.loads(keys[1])
    ours = [sys.executable, "-m", "adversarium.cli"]
    words = ("verify", "conv.kinks", "conv.definitions", "--json")
    shipped = [
        json.loads(called(*program, *words, cwd=cwd))["claims"]
        for program, cwd in (([split / "adversarium"], there), (ours, here))
    ]
    assert shipped[0] == shipped[1] and {"holds"} <= {e["verdict"] for e in shipped[0]}
    words = ("run", "conv.eq16", "--seeds", "2", "--fresh", "--set", "m=(4,)")
    rows = []
    for program, cwd in (([split / "adversarium"], there), (ours, here)):
        called(*program, *words, "--store", "fresh.sqlite", cwd=cwd)
        rows.append(called(sys.executable, "-c", ROWS, cwd / "fresh.sqlite", cwd=cwd))
    assert rows[0] == rows[1] and rows[0].count("\n") > 5


@pytest.mark.slow
def test_editing_an_installed_paper_loses_no_row_and_raising_a_version_does(split, tmp_path):
    place = "import adversarium_conv; print(adversarium_conv.__path__[0])"
    folder = Path(called(split / "python", "-c", place, cwd=tmp_path).strip())
    before = json.loads(called(split / "python", "-c", KEYS, cwd=tmp_path))
    theory = folder / "theory" / "kinks.py"
    theory.write_text(f"# a comment\n{theory.read_text()}")
    (folder / "notes.py").write_text("NOTE = 1\n")
    assert json.loads(called(split / "python", "-c", KEYS, cwd=tmp_path)) == before
    plan = folder / "experiments" / "eq16.py"
    text = plan.read_text()
    assert "WorstRegret(" in text
    probe = folder / "theory" / "regret.py"
    assert "class WorstRegret" in probe.read_text()
    raised = probe.read_text().replace("    radius: float", "    version = 7\n    radius: float", 1)
    probe.write_text(raised)
    after = json.loads(called(split / "python", "-c", KEYS, cwd=tmp_path))
    assert {id for id in before if after[id] != before[id]} == {"conv.eq16"}
