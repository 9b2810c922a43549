"""The report: its pages and links, in a real browser without console error or request to any host,
rebuilt from rows alone."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from adversarium.plans.catalogue import selected_claims
from adversarium.plans.evidence import Summary
from adversarium.report import site as pages
from adversarium.report.site import write_site
from adversarium.runs import compute
from adversarium.runs.audit import audit
from adversarium.runs.ledger import Entry
from adversarium.runs.store import Store
from adversarium.runs.where import here

# drawn in the report of these tests: a training, trials, and one without rows
SHOWN = ("boat.thm3.1.train_error", "cgro.setting", "conv.eq16")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--allow-file-access-from-files", "--enable-logging=stderr", "--v=0",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


def trained(*arguments, **words):
    pytest.fail("the report trained something")


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("store") / "s.sqlite")
    chosen = selected_claims(("cgro.eq.grad", "cgro.eq.decomp", "boat.thm3.1.train_error"))
    _, failures = audit(chosen, store)
    assert failures == []
    return store


@pytest.fixture
def reading(monkeypatch):
    """Few experiments are drawn, and nothing may train."""
    monkeypatch.setattr(pages, "experiments", lambda: SHOWN)
    monkeypatch.setattr(compute, "train", trained)
    monkeypatch.setattr(here, "compute", trained)


@pytest.fixture(scope="module")
def site(store, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "report"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "experiments", lambda: SHOWN)
        write_site(store, folder)
    return folder


def test_the_site_has_ledger_figures_data_errata_and_provenance(site):
    index = (site / "index.html").read_text()
    command = "adversarium verify boat.thm3.1.train_error --preset quick"
    for word in ("boat.thm3.1.train_error", "holds", command, "99 %"):
        assert word in index
    errata = (site / "errata.html").read_text()
    for word in ("cgro.eq.grad", "adversarium verify cgro.eq.grad", "Corrected"):
        assert word in errata
    provenance = (site / "provenance.html").read_text()
    assert "gram" in provenance and "torch" in provenance
    for svg in site.rglob("*.svg"):
        assert svg.with_suffix(".csv").exists(), svg
    page = (site / "experiments" / "boat.thm3.1.train_error.html").read_text()
    assert page.count("<img") == 1 and page.count(".csv") == 1
    table = (site / "experiments" / "cgro.setting.html").read_text()
    assert "gradient with y_i" in table and table.count(".csv") == 1


def test_what_has_no_rows_has_no_verdict_and_no_page(site):
    ledger = json.loads((site / "ledger.json").read_text())
    words = {c["id"]: c["verdict"] for c in ledger["claims"]}
    assert words["conv.eq16"] == "not run" and words["conv.eq17"] == "not yet implemented"
    assert words["cgro.eq.grad"] == "fails" and words["cgro.eq.gta"] == "holds"
    index = (site / "index.html").read_text()
    waiting = sum(word == "not run" for word in words.values())
    assert f"{waiting} claims have an experiment but no rows in this store" in index
    assert not (site / "experiments" / "conv.eq16.html").exists()


def test_every_link_of_the_site_leads_somewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            if target.startswith("data:"):
                continue
            assert "://" not in target, f"{page} asks {target}"
            path, _, mark = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{page} → {target}"
            if mark:
                assert f'id="{mark}"' in file.read_text(), f"{page} → {target}"


def visited(page: Path, folder: Path) -> tuple[str, str, set[str]]:
    """The page in Chromium: its document, what the console said, which hosts the page asked."""
    log = folder / "net.json"
    done = subprocess.run(
        ["chromium", *FLAGS, f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}",
         "--dump-dom", f"file://{page}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    requests = [e.get("params", {}) for e in json.loads(log.read_text())["events"]]
    # what the browser asks of its own accord has no origin
    own = [r for r in requests if r.get("initiator", "not an origin") != "not an origin"]
    urls = {str(r.get("url", "")) for r in own}
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return done.stdout, console, {u for u in urls if not u.startswith(("file:", "data:"))}


@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed here")
def test_the_site_loads_in_chromium_without_errors_or_requests(site, tmp_path):
    for page in ("index.html", "errata.html", "provenance.html", "experiments/cgro.setting.html"):
        document, console, hosts = visited(site / page, tmp_path)
        assert "</html>" in document
        assert not console and not hosts, (console, hosts)
    # the control: a page that does both is caught
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://host.invalid/x.png"><script>console.error("no")</script>')
    _, console, hosts = visited(bad, tmp_path)
    assert console and any("host.invalid" in h for h in hosts)


def test_errata_show_the_counterexample_and_the_correction():
    measured = (Summary("error", 3.0, 2.0, 4.0, (3.0,)),)
    entry = Entry(
        "cgro.eq.grad", "cgro", "Thm C.2", "printed", "identity", "fails", measured,
        reason="worst error 3", seeds=5, preset="quick", engine="trial", seconds=1.0,
        corrected="cgro.eq.grad.corrected", command="adversarium verify cgro.eq.grad",
    )  # fmt: skip
    right = Entry(
        "cgro.eq.grad.corrected", "cgro", "Thm C.2", "mended", "identity", "holds", measured
    )
    page = pages._errata([entry, right])
    for word in ("printed", "3 [2, 4]", "adversarium verify cgro.eq.grad", "mended", "holds"):
        assert word in page
    assert "No printed statement" in pages._errata([right])


def test_a_report_is_rebuilt_from_rows_alone(store, site, tmp_path, reading):
    again = write_site(store, tmp_path / "again")
    assert again.read_text() == (site / "index.html").read_text()
    svg = "figures/boat.thm3.1.train_error/training.svg"
    assert (tmp_path / "again" / svg).read_bytes() == (site / svg).read_bytes()
