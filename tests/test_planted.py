"""Each planted bug turns its claims; without it the verdict is the ledger's at the same knobs.

Bugs are planted in processes of their own, one an experiment, where shapes are not checked.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from adversarium.experiments.catalogue import experiments
from adversarium.report.readme import committed_ledger
from tests.planted import BUGS, UNTURNED, home

ROOT = Path(__file__).parents[1]
LEDGER = {e["id"]: e["verdict"] for e in committed_ledger()["claims"]}


@pytest.mark.slow
@pytest.mark.parametrize("id", dict.fromkeys(home(bug) for bug in BUGS))
def test_planted_bugs_turn_their_claims(id):
    command = [sys.executable, "-m", "tests.planted", id]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for made in json.loads(done.stdout):
        assert made["healthy"].items() <= LEDGER.items(), made
        for claim, verdict in made["found"].items():
            assert verdict in ("holds", "fails", "undecided"), made
            assert verdict != LEDGER[claim], made


def test_every_implemented_claim_has_a_planted_bug_or_is_named_as_having_none():
    covered = {c for b in BUGS for c in (b.claim, *b.also)}
    assert not covered & set(UNTURNED)
    assert covered | set(UNTURNED) == {c for e in experiments().values() for c in e.claims}
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    for bug in BUGS:
        for claim in (bug.claim, *bug.also):
            assert f"| {bug.name} | `{claim}` |" in page, (bug.name, claim)
    for claim in UNTURNED:
        assert f"- `{claim}`" in page
