"""All commands and Python examples of the README work as shown, in order, in a new directory."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from adversarium.plans.findings import findings
from adversarium.plans.papers import papers
from adversarium.report.front import front_findings, picture_name
from adversarium.report.readme import FIRST, MARKS, PICTURES, finding_list, page, table
from adversarium.runs.ledger_file import committed
from tests.full_entries import full_entries
from tests.program import told

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", README, re.M | re.S)


def commands() -> list[str]:
    lines = [line for block in blocks("") for line in block.splitlines()]
    return [line.partition("  #")[0].strip() for line in lines if line.startswith("adversarium ")]


@pytest.mark.slow
def test_the_commands_of_the_readme_run_as_printed(tmp_path):
    theorem = next(block for block in blocks("python") if block.startswith("# mine.py"))
    (tmp_path / "mine.py").write_text(theorem, encoding="utf-8")
    assert len(commands()) >= 12
    said = told([shlex.split(command)[1:] for command in commands()], tmp_path, only="conv.")
    for command, out in zip(commands(), said, strict=True):
        assert out.strip(), command


@pytest.mark.slow
def test_the_python_of_the_readme_runs_as_printed(tmp_path):
    code = "\n".join(block for block in blocks("python") if not block.startswith("# mine.py"))
    shapes = "\nassert result['risk'].shape[0] == 5 and result['risk'].ndim == 2"
    done = subprocess.run(
        [sys.executable, "-c", code + shapes],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def generated(name: str) -> str:
    begin, end = MARKS[name]
    return README.partition(begin)[2].partition(end)[0].strip()


def test_the_table_of_the_readme_is_the_ledgers():
    assert generated("ledger") == table(committed())


@pytest.mark.slow
def test_findings_have_pictures_and_commands_and_the_readme_has_one_of_each_paper():
    ids = {id for tag in papers() for id, one in findings(tag).items() if one.front}
    entries = tuple(full_entries(ids).values())
    assert generated("findings") == finding_list(entries)
    known = front_findings(entries)
    assert len(known) == 11 and len({entry.id for entry in known}) == 11
    assert {entry.paper for entry in known[:FIRST]} == set(papers()) - {"images"}  # no paper
    for entry in known:
        assert entry.command.startswith("adversarium verify ")
        assert (Path(__file__).parents[1] / PICTURES / picture_name(entry)).is_file()
    assert (Path(__file__).parents[1] / "docs/found.md").read_text(encoding="utf-8") == page(
        entries
    )


def test_the_make_targets_of_the_readme_exist():
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    targets = [t for block in blocks("") for t in re.findall(r"^make (\w+)", block, re.M)]
    assert targets == ["verify", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.M), target
