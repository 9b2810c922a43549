"""Each planted bug changes the verdicts of its claims; without it, the verdicts are the ledger's.
The bugs of one experiment run in a separate process, in which shapes are not checked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from adversarium.runs.ledger_file import committed
from tests.planted.every import BUGS
from tests.planted.misses import distorted, stored
from tests.planted.page import PAGE, judged_claims, listed_bugs, listed_misses, listed_unturned

ROOT = Path(__file__).parents[2]
LEDGER = {entry.id: entry.verdict for entry in committed()}


# whose bugs take more than half a minute: `make faults` plants them too
LONG = {
    *("cgro.lemmas", "cgro.dynamics", "cgro.constructions", "cgrm.tab1.digits"),
    *("cgrm.constructions", "cgrm.modified", "cgrm.linear", "rnrf.fig3", "rnrf.dimension"),
    *("rnrf.theorems", "rnrf.phases", "rnrf.recursions", "rnrf.setting"),
    *("boat.events", "boat.lower"),
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


TEXT = PAGE.read_text(encoding="utf-8")
UNTURNED = """
import json, sys
from tests.planted.misses import turned
from tests.planted.page import PAGE, listed_misses
known = listed_misses(PAGE.read_text(encoding="utf-8"))
own = [m for m in known if m.claim.startswith(sys.argv[1])]
print(json.dumps([len(own), [m.claim for m in own if not turned(m)]]))
"""


def test_the_page_lists_every_bug():
    assert listed_bugs(TEXT) == {bug.name for bug in BUGS}, "python -m tests.planted --page"


def test_every_judged_claim_is_turned_or_called_unturned():
    turned = {id for bug in BUGS for id in bug.turns} | {m.claim for m in listed_misses(TEXT)}
    assert set(judged_claims()) <= turned | listed_unturned(TEXT), "python -m tests.planted --page"
    assert not turned & listed_unturned(TEXT)


@pytest.mark.slow
@pytest.mark.parametrize("paper", dict.fromkeys(m.claim.split(".")[0] for m in listed_misses(TEXT)))
def test_the_listed_near_misses_turn_their_claims(paper):
    command = [sys.executable, "-W", "ignore", "-c", UNTURNED, f"{paper}."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, unturned = json.loads(done.stdout)
    assert count and unturned == []


def test_a_distorted_number_is_the_only_one():
    _, rows = stored("cgro.eq.decomp")
    off = distorted(rows, "decomposition", "twice")
    for was, now in zip(rows, off, strict=True):
        assert (now.last("decomposition") == 2 * was.last("decomposition")).all()
        assert all(now.series[n] is was.series[n] for n in was.series if n != "decomposition")
