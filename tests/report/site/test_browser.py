"""The site in a real browser: no console error, no request to any host, the list is searched and
sorted, nothing overflows on a phone."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed here"),
]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--allow-file-access-from-files", "--enable-logging=stderr", "--v=0",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=4000",
)  # fmt: skip


def visited(address: str, folder: Path) -> tuple[str, str, set[str]]:
    """Open a page in Chromium; return its document, the console's messages, and all requested
    hosts."""
    log = folder / "net.json"
    done = subprocess.run(
        ["chromium", *FLAGS, f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}",
         "--dump-dom", f"file://{address}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    requests = [e.get("params", {}) for e in json.loads(log.read_text())["events"]]
    # what the browser asks of its own accord has no origin
    own = [r for r in requests if r.get("initiator", "not an origin") != "not an origin"]
    urls = {str(r.get("url", "")) for r in own}
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return done.stdout, console, {u for u in urls if not u.startswith(("file:", "data:"))}


def shown(document: str) -> list[str]:
    """Return the visible claims of the list, in order."""
    rows = re.findall(r'<li id="([^"]+)"([^>]*)>', document)
    return [id for id, rest in rows if "hidden" not in rest]


def test_the_site_loads_without_errors_or_requests(site, tmp_path):
    for page in ("index.html", "statements.html", "papers/cgro.html", "errata.html",
                 "claims/cgro.eq.grad.html", "notation.html"):  # fmt: skip
        document, console, hosts = visited(f"{site / page}", tmp_path)
        assert "</html>" in document
        assert not console and not hosts, (console, hosts)
    # the control: a page that does both is caught
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://host.invalid/x.png"><script>console.error("no")</script>')
    _, console, hosts = visited(f"{bad}", tmp_path)
    assert console and any("host.invalid" in h for h in hosts)


def test_the_list_is_filtered_and_searched(site, tmp_path):
    records = json.loads((site / "claims.js").read_text()[len("const CLAIMS = ") : -2])
    whole, _, _ = visited(f"{site}/statements.html", tmp_path)
    assert shown(whole) == [r["id"] for r in records]
    failing, _, _ = visited(f"{site}/statements.html?verdict=fails", tmp_path)
    assert shown(failing) == [r["id"] for r in records if r["verdict"] == "fails"]
    first, _, _ = visited(f"{site}/statements.html?order=verdict", tmp_path)
    assert shown(first)[0] == shown(failing)[0] and len(shown(first)) == len(records)
    for word, letter in (("epsilon", "ε"), ("%5Cmu", "μ")):
        greek, _, _ = visited(f"{site}/statements.html?search={word}", tmp_path)
        texts = {r["id"]: " ".join(r.values()) for r in records}
        assert 20 < len(shown(greek)) < len(records)
        assert all(letter in texts[id] or word in texts[id].lower() for id in shown(greek))
    some, _, _ = visited(f"{site}/statements.html?paper=CGRO&search=gradient%20display", tmp_path)
    assert "cgro.eq.grad" in shown(some) and len(shown(some)) < 20
    assert all(id.startswith("cgro") for id in shown(some))
    assert f"{len(shown(some))} of {len(records)}" in some


MEASURE = """<body><script>
const sizes = {};
const pages = %s;
let left = pages.length;
for (const page of pages) {
  const frame = document.createElement("iframe");
  frame.width = 390; frame.height = 900; frame.src = page;
  frame.onload = () => {
    const inner = frame.contentDocument;
    const first = inner.querySelector("#claims li .word");
    sizes[page] = {
      wide: inner.documentElement.scrollWidth,
      right: first ? first.getBoundingClientRect().right : 0,
      word: first ? first.textContent : "",
    };
    if (--left === 0) document.body.textContent = "SIZES" + JSON.stringify(sizes) + "END";
  };
  document.body.append(frame);
}
</script></body>"""


def test_nothing_overflows_on_a_phone_and_verdicts_are_on_screen_and_sorted(site, tmp_path):
    pages = [
        str(site / page)
        for page in ("statements.html", "index.html", "errata.html", "notation.html",
                     "experiments.html", "papers/cgro.html", "papers/boat.html",
                     "changed.html", "claims/cgro.eq.grad.html", "claims/conv.eq16.html",
                     "experiments/cgro.setting.html", "experiments/boat.published.html")
    ]  # fmt: skip
    wrapper = tmp_path / "wrapper.html"
    wrapper.write_text(MEASURE % json.dumps([f"file://{page}" for page in pages]))
    document, _, _ = visited(f"{wrapper}", tmp_path)
    sizes = json.loads(document.partition("SIZES")[2].partition("END")[0].replace("&amp;", "&"))
    assert len(sizes) == len(pages)
    assert {page: one["wide"] for page, one in sizes.items() if one["wide"] > 390} == {}
    (first,) = (one for page, one in sizes.items() if "statements" in page)
    assert 0 < first["right"] <= 390 and first["word"].strip()
