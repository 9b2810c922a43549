"""The folder of a site: only changed files are written, only files of adversarium are removed."""

import json
import os

import pytest

from adversarium.report.site import write_site
from adversarium.report.site.drawing import FigureFiles
from adversarium.report.site.folder import MANIFEST, SiteFolder

PAGE = "<title>Ledger · adversarium</title>"


def files(home):
    return {str(p.relative_to(home)): p.stat().st_mtime_ns for p in home.rglob("*") if p.is_file()}


def aged(home):
    """Set the times of all files to the past, so that a rewritten file can be detected."""
    for path in home.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(10**18, 10**18))
    return files(home)


def picture(name, inputs, made):
    def draw(home):
        made.append(name)
        (home / name).write_text(f"drawn from {inputs}")

    return FigureFiles((name,), inputs, draw)


def test_only_what_changed_is_written_again(tmp_path):
    made = []
    texts = {"index.html": PAGE, "claims/a.html": "a", "claims/b.html": "b"}
    drawn = [picture("p.svg", "1", made), picture("q.svg", "1", made)]
    SiteFolder(tmp_path).update(texts, drawn, "first")
    before = aged(tmp_path)
    assert made == ["p.svg", "q.svg"] and SiteFolder(tmp_path).is_current("first")
    SiteFolder(tmp_path).update(texts, drawn, "first")
    assert files(tmp_path) == before and made == ["p.svg", "q.svg"]
    drawn[1] = picture("q.svg", "2", made)
    SiteFolder(tmp_path).update({**texts, "claims/b.html": "c"}, drawn, "second")
    after = files(tmp_path)
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed == {"claims/b.html", "q.svg", MANIFEST} and made[2:] == ["q.svg"]
    assert not SiteFolder(tmp_path).is_current("first") and SiteFolder(tmp_path).is_current(
        "second"
    )


def test_what_was_damaged_is_made_again(tmp_path):
    made = []
    SiteFolder(tmp_path).update({"index.html": PAGE}, [picture("p.svg", "1", made)], "x")
    (tmp_path / "p.svg").write_text("edited")
    assert not SiteFolder(tmp_path).is_current("x")
    SiteFolder(tmp_path).update({"index.html": PAGE}, [picture("p.svg", "1", made)], "x")
    assert (tmp_path / "p.svg").read_text() == "drawn from 1" and SiteFolder(tmp_path).is_current(
        "x"
    )


def test_what_no_page_needs_goes_and_files_of_others_stay(tmp_path):
    texts = {"index.html": PAGE, "claims/a.html": "a", "claims/b.html": "b", "old/x.html": "x"}
    SiteFolder(tmp_path).update(texts, [], "x")
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "claims" / "mine.html").write_text("mine")
    (tmp_path / "claims" / "b.html").write_text("edited by somebody")
    SiteFolder(tmp_path).update({"index.html": PAGE}, [], "y")
    assert set(files(tmp_path)) == {
        "index.html", MANIFEST, "mine.txt", "claims/mine.html", "claims/b.html"
    }  # fmt: skip
    assert not (tmp_path / "old").exists()


def test_a_file_of_somebody_else_is_never_overwritten(tmp_path):
    (tmp_path / "style.css").write_text("mine")
    with pytest.raises(ValueError, match="was not written by adversarium"):
        SiteFolder(tmp_path).update({"index.html": PAGE, "style.css": "ours"}, [], "x")
    assert files(tmp_path).keys() == {"style.css"}
    (tmp_path / "index.html").write_text("<title>mine</title>")
    with pytest.raises(ValueError, match="was not written by adversarium"):
        SiteFolder(tmp_path)
    with pytest.raises(ValueError, match="needs a directory"):
        SiteFolder(tmp_path / "style.css")


def test_a_build_that_was_broken_off_is_taken_up_again(tmp_path):
    def fails(home):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SiteFolder(tmp_path).update(
            {"index.html": PAGE}, [FigureFiles(("p.svg",), "1", fails)], "x"
        )
    assert not SiteFolder(tmp_path).is_current("x")
    SiteFolder(tmp_path).update({"index.html": PAGE}, [picture("p.svg", "1", [])], "x")
    assert SiteFolder(tmp_path).is_current("x")


def test_figures_that_were_drawn_before_a_stop_are_not_drawn_again(tmp_path):
    made = []

    def stopped(home):
        raise KeyboardInterrupt

    first = picture("p.svg", "1", made)
    with pytest.raises(KeyboardInterrupt):
        SiteFolder(tmp_path).update(
            {"index.html": PAGE}, [first, FigureFiles(("q.svg",), "1", stopped)], "x"
        )
    SiteFolder(tmp_path).update({"index.html": PAGE}, [first, picture("q.svg", "1", made)], "x")
    assert made == ["p.svg", "q.svg"]


def test_a_manifest_cannot_lead_outside_and_a_broken_one_is_none(tmp_path):
    home = tmp_path / "site"
    (tmp_path / "precious").write_text("")
    SiteFolder(home).update({"index.html": PAGE}, [], "x")
    told = json.loads((home / MANIFEST).read_text())
    told["files"]["../precious"] = {"inputs": "", "written": "e3b0c44298fc1c149afbf4c8"}
    (home / MANIFEST).write_text(json.dumps(told))
    SiteFolder(home).update({"index.html": PAGE}, [], "y")
    assert (tmp_path / "precious").exists()
    (home / MANIFEST).write_text("[1")
    SiteFolder(home).update({"index.html": PAGE}, [], "z")
    assert SiteFolder(home).is_current("z")


def test_a_second_report_writes_nothing_and_reads_no_rows(store, site, monkeypatch):
    from adversarium.report.site import build

    before = files(site)
    monkeypatch.setattr(
        build, "pages_and_figures", lambda *given: pytest.fail("the site was built again")
    )
    assert write_site(store, site) == site / "index.html"
    assert files(site) == before


def test_a_report_is_rebuilt_from_rows_alone(store, site, tmp_path, reading):
    again = write_site(store, tmp_path / "again").parent
    for file in (
        "claims/boat.thm3.1.train_error.published.html",
        "figures/boat.published/training.svg",
        "experiments/boat.published.html",
    ):
        assert (again / file).read_bytes() == (site / file).read_bytes()
