"""A built wheel is whole: in a fresh environment it judges a claim in an empty folder."""

import json
import os
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
    """What a process prints; it must succeed."""
    done = subprocess.run(
        words, cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built offline by the backend that is installed here."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    called(sys.executable, "-m", "pip", *build, cwd=folder)
    (made,) = folder.glob("adversarium-*.whl")
    return made


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory) -> Path:
    """The programs of an environment with the wheel and, beside it, the dependencies that are
    installed here (but no editable install: a second-hand folder's own .pth files are not read)."""
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
    for part in ("papers/conv/claims.toml", "ledger.json", "commands/templates/theorem.txt"):
        assert f"adversarium/{part}" in package
    assert any(name.startswith("adversarium/results/") for name in package)
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
    ledger = json.loads((SOURCE / "adversarium" / "ledger.json").read_text(encoding="utf-8"))
    committed = {entry["id"]: entry["verdict"] for entry in ledger["claims"]}
    shown = json.loads(called(program, "show", "cgro.thm4.1", "--json", cwd=tmp_path))
    assert shown["verdict"]["verdict"] == committed["cgro.thm4.1"]
    called(program, "new", "paper", "mine", cwd=tmp_path)
    assert (tmp_path / "mine" / "claims.toml").is_file()
