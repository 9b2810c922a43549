"""Each planted bug turns its claims; without it the verdict is the ledger's at the same size.

Bugs are planted in processes of their own, one an experiment, where shapes are not checked.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from adversarium.runs.ledger import committed
from tests.planted import BUGS
from tests.planted.page import PAGE, page

ROOT = Path(__file__).parents[2]
LEDGER = {entry.id: entry.verdict for entry in committed()}


# whose bugs take more than half a minute: `make faults` plants them too
LONG = {
    *("cgro.lemmas", "cgro.dynamics", "cgro.constructions", "cgrm.tab1.digits"),
    *("cgrm.constructions", "cgrm.modified", "cgrm.linear", "rnrf.fig3", "rnrf.dimension"),
    *("rnrf.theorems", "rnrf.phases"),
}
HOMES = [
    pytest.param(id, marks=pytest.mark.long if id in LONG else pytest.mark.slow)
    for id in dict.fromkeys(bug.home for bug in BUGS)
]


@pytest.mark.parametrize("id", HOMES)
def test_planted_bugs_turn_their_claims(id):
    command = [sys.executable, "-m", "tests.planted", id]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for made in json.loads(done.stdout):
        assert made["healthy"].items() <= LEDGER.items(), made
        for claim, verdict in made["found"].items():
            assert verdict in ("holds", "fails", "mixed", "undecided"), made
            assert verdict != LEDGER[claim], made


def test_every_bug_names_claims_that_an_experiment_judges():
    for bug in BUGS:
        assert bug.home, bug.name


def test_the_page_lists_every_bug_and_the_claims_that_none_turns():
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.planted --page writes it"
