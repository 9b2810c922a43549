"""The documentation is true: its code runs as shown, and its reference has all public names."""

import inspect
import re
import shlex
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import adversarium
from adversarium.commands.program import COMMANDS
from adversarium.runs.__main__ import main as bare
from tests.program import told

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in (DOCS / "howto").glob("*.md") if page.stem != "index")
REFERENCE = "\n".join(p.read_text(encoding="utf-8") for p in (DOCS / "reference").glob("*.rst"))
BARE = "python -m adversarium.runs "


def blocks(page: Path, *kinds: str) -> list[str]:
    """Return the fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```(?:{'|'.join(kinds)})\n(.*?)^```", text, re.M | re.S)


def file_of(block: str) -> str:
    """Return the file that a block contains, if its first line names one."""
    named = re.match(r"# (\S+\.(?:py|toml))\n", block)
    return named[1] if named else ""


def write_files(folder: Path, *pages: Path) -> None:
    for block in [block for page in pages for block in blocks(page, "python", "toml")]:
        if name := file_of(block):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(block, encoding="utf-8")


def calls(page: Path) -> list[tuple[str, list[str]]]:
    """Return the commands of a page, each with the output that the page shows (…: anything)."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(page, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def says(out: str, line: str) -> bool:
    return re.search(".*".join(map(re.escape, line.split("…"))), out) is not None


def typed(page: Path) -> list[str]:
    """Return the Python code of a page that is not the content of a file."""
    return [block for block in blocks(page, "python") if not file_of(block)]


@pytest.mark.parametrize("page", [p for p in PAGES if typed(p)], ids=lambda page: page.stem)
def test_the_python_of_a_page_runs_as_printed(page, tmp_path, monkeypatch):
    write_files(tmp_path, page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"__name__": page.stem}
    for block in typed(page):
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.slow
def test_the_commands_of_the_pages_run_as_printed(tmp_path):
    every = [call for page in PAGES for call in calls(page) if not call[0].startswith(BARE)]
    assert len(every) >= 8
    write_files(tmp_path, *PAGES)
    outs = told([shlex.split(command)[1:] for command, _ in every], tmp_path)
    for (command, lines), out in zip(every, outs, strict=True):
        for line in lines:
            assert says(out, line), (command, line, out)


def test_the_command_of_a_bare_machine_runs_as_printed(tmp_path, monkeypatch, capsys):
    before = signal.getsignal(signal.SIGTERM)
    write_files(tmp_path, *PAGES)
    monkeypatch.chdir(tmp_path)
    ((command, lines),) = [c for page in PAGES for c in calls(page) if c[0].startswith(BARE)]
    assert bare(shlex.split(command.removeprefix(BARE))) == 0
    signal.signal(signal.SIGTERM, before)
    out = capsys.readouterr().out
    assert lines and all(says(out, line) for line in lines), out
    assert [path.name for path in (tmp_path / "rows").iterdir()] == ["overlap.py.npz"]


def test_every_page_runs_something():
    assert all(typed(page) or calls(page) for page in PAGES)


def public() -> set[str]:
    """Return the public names of the package and its subpackages."""
    rooms = {n for n in adversarium.__all__ if (DOCS.parent / f"src/adversarium/{n}").is_dir()}
    names = {f"adversarium.{name}" for name in set(adversarium.__all__) - rooms}
    for room in rooms:
        names |= {f"adversarium.{room}.{n}" for n in import_module(f"adversarium.{room}").__all__}
    return names


def listed() -> list[str]:
    return re.findall(r"^\.\. (?:auto(?!module)\w+|data):: (\S+)$", REFERENCE, re.M)


def test_the_reference_has_every_public_name():
    assert len(public()) > 150
    lost = sorted(public() - set(listed()))
    assert not lost, f"docs/reference/ has no line for {', '.join(lost)}"


def test_the_reference_has_only_names_that_exist():
    assert len(listed()) == len(set(listed()))
    for name in listed():
        home, _, own = name.rpartition(".")
        package = import_module(home)
        assert own in getattr(package, "__all__", dir(package)), name


def test_every_public_part_has_an_example():
    rooms = {
        "attacks",
        "constructions",
        "data",
        "measure",
        "networks",
        "solvers",
    }
    for name in sorted(public()):
        home, _, own = name.rpartition(".")
        part = getattr(import_module(home), own)
        made = inspect.isclass(part) or inspect.isfunction(part)
        if made and home.rpartition(".")[2] in rooms:
            assert ">>> " in (inspect.getdoc(part) or ""), f"{name} has no example"


def test_every_document_is_on_the_site():
    """It is in a table of contents, which refers to it by name."""
    trees = [DOCS / "index.md", DOCS / "howto" / "index.md", DOCS / "reference" / "index.rst"]
    for tree in trees:
        entries = set(re.findall(r"^\s*([\w/]+)$", tree.read_text(encoding="utf-8"), re.M))
        beside = [p for p in tree.parent.iterdir() if p.suffix in (".md", ".rst", ".ipynb")]
        for page in beside:
            assert page == tree or page.stem in entries, f"{tree.name} does not list {page.name}"


@pytest.mark.long
def test_the_site_builds_without_a_warning_and_asks_no_other_host(tmp_path):
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", DOCS, tmp_path / "site"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = [*tmp_path.rglob("*.html")]
    assert len(pages) > len(PAGES)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        foreign = re.findall(r"<(?:script|img|iframe)[^>]*src=.(?:https?:)?//[^>]*>", text)
        foreign += re.findall(r"<link[^>]*href=.(?:https?:)?//[^>]*>", text)
        assert not foreign, (page.name, foreign)
    for style in tmp_path.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)[^;)]*(?:https?:)?//", text), style.name


def test_the_commands_page_is_made_from_the_program():
    text = (DOCS / "reference" / "commands.rst").read_text(encoding="utf-8")
    assert ".. cyclopts:: command_table:app" in text and len(COMMANDS) > 5
    table = (DOCS / "command_table.py").read_text(encoding="utf-8")
    assert "from adversarium.commands.program import program" in table


def test_changelog_and_citation_tell_the_version_of_the_package():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.+)"$', project, re.M)[1]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
