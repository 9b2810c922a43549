"""The walk-through runs as printed and shows the numbers it shows."""

import json
import re
from pathlib import Path

import pytest

from tests.notebook import executed

PAGE = Path(__file__).parents[1] / "docs" / "walkthrough.ipynb"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def told(notebook: dict) -> list[str]:
    """Everything that the cells show as text."""
    shown = [o for cell in notebook["cells"] for o in cell.get("outputs", ())]
    return [
        "".join(o["text"]) if "text" in o else o["data"].get("text/html", o["data"]["text/plain"])
        for o in shown
    ]


@pytest.mark.slow
def test_the_walk_through_shows_what_it_shows():
    page = json.loads(PAGE.read_text(encoding="utf-8"))
    before, after = told(page), told(executed(page))
    assert len(before) == len(after) >= 8
    for old, new in zip(before, after, strict=True):
        assert NUMBER.sub("#", old) == NUMBER.sub("#", new)
        pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
        large = [(float(a), float(b)) for a, b in pairs if abs(float(a)) > 1e-9]
        assert all(b == pytest.approx(a, rel=0.02) for a, b in large), (old, new)
