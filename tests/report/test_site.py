"""The report in a real browser: no console error, no request to any host."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from adversarium.experiments.catalogue import load, selected_claims
from adversarium.report.site import write_site
from adversarium.sweeps.audit import Reader, audit, run_missing
from adversarium.sweeps.store import Store

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--allow-file-access-from-files", "--enable-logging=stderr", "--v=0",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    store = Store(folder / "s.sqlite")
    _, failures = audit(selected_claims(("conv.eq16", "boat.thm3.1.train_error")), store)
    assert failures == []
    write_site(store, folder / "report")
    return folder / "report"


def test_the_site_has_ledger_figures_data_errata_and_provenance(site):
    index = (site / "index.html").read_text()
    for word in ("conv.eq16", "holds", "adversarium verify conv.eq16 --preset quick", "99 %"):
        assert word in index
    assert (site / "errata.html").exists()
    provenance = (site / "provenance.html").read_text()
    assert "gram" in provenance and "torch" in provenance
    for svg in site.rglob("*.svg"):
        assert svg.with_suffix(".csv").exists(), svg
    page = (site / "experiments" / "conv.eq16.html").read_text()
    assert page.count("<img") == 2 and page.count(".csv") == 2


def test_every_link_of_the_site_leads_somewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            if target.startswith(("data:", "#")):
                continue
            assert "://" not in target, f"{page} asks {target}"
            path, _, mark = target.partition("#")
            file = (page.parent / path).resolve()
            assert file.exists(), f"{page} → {target}"
            if mark:
                assert f'id="{mark}"' in file.read_text()


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
    for page in ("index.html", "errata.html", "provenance.html", "experiments/conv.eq16.html"):
        document, console, hosts = visited(site / page, tmp_path)
        assert "</html>" in document
        assert not console and not hosts, (console, hosts)
    # the control: a page that does both is caught
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://host.invalid/x.png"><script>console.error("no")</script>')
    _, console, hosts = visited(bad, tmp_path)
    assert console and any("host.invalid" in h for h in hosts)


def test_errata_show_the_counterexample_and_the_correction(tmp_path):
    from adversarium.report import site as module

    entry = {
        "id": "cgro.eq.grad", "paper": "cgro", "source": "Thm C.2", "statement": "printed",
        "kind": "identity", "verdict": "fails", "expected": None, "reason": "worst error 3",
        "measured": [{"name": "error", "mean": 3.0, "low": 2.0, "high": 4.0, "values": [3.0]}],
        "seeds": 5, "preset": "quick", "engine": "trial", "seconds": 1.0,
        "corrected": "cgro.eq.grad.corrected", "command": "adversarium verify cgro.eq.grad",
        "note": "",
    }  # fmt: skip
    right = {**entry, "id": "cgro.eq.grad.corrected", "verdict": "holds", "statement": "mended"}
    page = module._errata([entry, right])
    for word in ("printed", "3 [2, 4]", "adversarium verify cgro.eq.grad", "mended", "holds"):
        assert word in page


def test_a_report_is_rebuilt_from_rows_alone(tmp_path, monkeypatch):
    store = Store(tmp_path / "s.sqlite")
    experiment = load("boat.thm3.1.train_error")
    tasks = experiment.runs("quick")
    assert (
        run_missing(experiment, tasks, range(10), Reader(store, experiment.id), "cpu", None) == []
    )
    from adversarium.report import site as page
    from adversarium.sweeps import run as module

    monkeypatch.setattr(module, "run_block", lambda *a, **k: pytest.fail("trained"))
    monkeypatch.setattr(page, "experiments", lambda: (experiment.id,))
    first = write_site(store, tmp_path / "one")
    again = write_site(store, tmp_path / "two")
    assert first.read_text() == again.read_text()
    svg = "figures/boat.thm3.1.train_error/training.svg"
    assert (tmp_path / "one" / svg).read_bytes() == (tmp_path / "two" / svg).read_bytes()
