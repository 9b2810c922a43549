"""A paper outside the package is found and treated like ours: in a folder that is named, and in an
installed package with an entry point."""

import json
from pathlib import Path

import pytest

from tests.papers import toy
from tests.program import told


def by_tag(tag: str) -> list[list[str]]:
    """Call every command that takes an id, with the tag (or the path) of the paper."""
    return [
        ["list", "papers"],
        ["list", "experiments"],
        ["list", "claims"],
        ["show", "toy.error"],
        ["show", "toy.thm1", "--all"],
        ["run", tag, "--set", "d=5", "--json"],
        ["verify", tag, "--json"],
        ["sweep", "toy.thm1", "--claim", "toy.error", "--over", "d=4,6", "--json"],
        ["report", "--out", "site"],
    ]


def check(said: list[str], cwd: Path) -> None:
    """Require that the paper appears wherever ours do."""
    papers, experiments, claims, claim, experiment, ran, verified, swept, _ = said
    assert "TOY     Two clusters are learnt" in papers and papers.count("\n") == 7
    assert "toy.thm1" in experiments and "Theorem 1: the training error vanishes" in experiments
    waiting = [line for line in claims.splitlines() if "not yet implemented" in line]
    assert any(" toy.later " in line for line in waiting)
    assert "Clean training fits every point." in claim and "Two clusters are learnt" in claim
    assert (
        "quick = dict(steps=30, seeds=5)" in experiment
        and "toy.loss   no verdict yet" in experiment
    )
    runs = json.loads(ran)["runs"]
    assert [(r["family"], r["at"]) for r in runs] == [("clean", {"d": 5}), ("attacked", {"d": 5})]
    entries = {e["id"]: e for e in json.loads(verified)["claims"]}
    words = {id: e["verdict"] for id, e in entries.items()}
    assert words == {
        "toy.error": "holds", "toy.loss": "holds", "toy.later": "not yet implemented"
    }  # fmt: skip
    assert entries["toy.error"]["spans"] == {"n": [10, 10], "d": [6, 6]}
    assert [cell["verdict"] for cell in json.loads(swept)["cells"]] == ["holds", "holds"]
    index = (cwd / "site" / "index.html").read_text()
    assert 'id="TOY"' in index
    assert (cwd / "site" / "experiments" / "toy.thm1.html").exists()
    assert list((cwd / "site" / "figures").rglob("loss*.svg"))


def test_a_folder_that_the_environment_names_is_a_home_of_papers(tmp_path):
    toy.write(tmp_path / "shelf" / "toy")
    said = told(by_tag("toy"), tmp_path, "toy.", ADVERSARIUM_PAPERS=str(tmp_path / "shelf"))
    check(said, tmp_path)


def installed(folder: Path, nested: bool) -> str:
    """Make a package with metadata that have the entry point, as if installed; return its name."""
    name = "toy_papers" if nested else "toy_paper"
    package = toy.write(folder / name / "first" if nested else folder / name)
    (package / "__init__.py").write_text("")
    about = folder / "toy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[adversarium.papers]\ntoy = {name}\n")
    return name


def test_an_installed_package_announces_its_paper_by_an_entry_point(tmp_path):
    installed(tmp_path / "site-packages", nested=False)
    here = tmp_path / "work"
    here.mkdir()
    check(told(by_tag("toy"), here, "toy.", PYTHONPATH=str(tmp_path / "site-packages")), here)


def test_an_installed_package_may_hold_several_papers(tmp_path, monkeypatch):
    from adversarium.plans.loading import load
    from adversarium.plans.papers import papers

    name = installed(tmp_path, nested=True)
    monkeypatch.syspath_prepend(tmp_path)
    with toy.forgotten():
        assert papers()["toy"].package == f"{name}.first"
        assert load("toy.thm1").plan.__module__ == f"{name}.first.experiments.thm1"


def test_the_path_of_a_folder_goes_wherever_an_id_goes_also_in_other_processes(tmp_path):
    toy.write(tmp_path / "toy")
    commands = [
        ["show", "./toy", "--all"],
        ["run", "./toy", "--json"],
        ["run", "./toy", "--json", "--store", "other.sqlite", "--on", "processes:2"],
        ["verify", "./toy", "--json"],
        ["report", "./toy", "--out", "site"],
        ["export", "./toy", "--to", "npz"],
    ]
    shown, here, there, verified, *_ = told(commands, tmp_path, "toy.")
    assert "Clean training fits every point." in shown
    finals = [[run["final"] for run in json.loads(out)["runs"]] for out in (here, there)]
    assert finals[0] == finals[1] and len(finals[0]) == 2
    assert {e["verdict"] for e in json.loads(verified)["claims"]} >= {"holds"}
    assert 'id="toy.error"' in (tmp_path / "site" / "statements.html").read_text()
    assert (tmp_path / "toy.thm1.npz").exists()


def test_two_papers_with_one_key_are_refused(tmp_path, monkeypatch):
    from adversarium.plans.papers import papers

    toy.write(tmp_path / "one"), toy.write(tmp_path / "two")
    monkeypatch.setenv("ADVERSARIUM_PAPERS", f"{tmp_path}")
    with toy.forgotten(), pytest.raises(ValueError, match="both have the key TOY; change one"):
        papers()
