"""The walk-through notebook runs and gives the outputs that it shows."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "walkthrough.ipynb"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def told(notebook: dict) -> list[str]:
    """Return all text that the cells show."""
    shown = [o for cell in notebook["cells"] for o in cell.get("outputs", ())]
    return [
        "".join(o["text"]) if "text" in o else o["data"].get("text/html", o["data"]["text/plain"])
        for o in shown
    ]


@pytest.mark.slow
def test_the_walk_through_shows_what_it_shows(tmp_path):
    copy = tmp_path / PAGE.name
    copy.write_bytes(PAGE.read_bytes())
    subprocess.run([sys.executable, "-m", "tests.notebook", str(copy)], cwd=ROOT, check=True)
    before, after = (told(json.loads(p.read_text(encoding="utf-8"))) for p in (PAGE, copy))
    assert len(before) == len(after) >= 8
    for old, new in zip(before, after, strict=True):
        assert NUMBER.sub("#", old) == NUMBER.sub("#", new)
        pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
        large = [(float(a), float(b)) for a, b in pairs if abs(float(a)) > 1e-9]
        assert all(b == pytest.approx(a, rel=0.02) for a, b in large), (old, new)
