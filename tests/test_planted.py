"""Each planted bug turns its claim; without it the verdict is the ledger's at the same knobs.

Bugs of costly experiments run in processes of their own, where shapes are not checked.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from adversarium.experiments.catalogue import claims, experiments
from adversarium.report.readme import committed_ledger
from tests.planted import BUGS, UNTURNED, verdicts

ROOT = Path(__file__).parents[1]
HEALTHY = {e["id"]: e["verdict"] for e in committed_ledger()["claims"]}
COSTLY = {k: b for k, b in enumerate(BUGS) if not b.only}
CHEAP = {k: b for k, b in enumerate(BUGS) if b.only}


def told(*words: str) -> str:
    command = [sys.executable, "-m", "tests.planted", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def turned(found: dict[str, str]) -> bool:
    """Every verdict is one, and another than the ledger's."""
    real = all(v in ("holds", "fails", "undecided") for v in found.values())
    return real and all(v != HEALTHY[claim] for claim, v in found.items())


@pytest.mark.slow
@pytest.mark.parametrize("k", COSTLY, ids=[b.name for b in COSTLY.values()])
def test_a_planted_bug_turns_its_claims(k):
    found = json.loads(told(str(k)))
    assert turned(found), found


SHRUNK = {
    (claims()[b.claim].experiment, repr(b.knobs)): k for k, b in COSTLY.items() if b.knobs
}  # one healthy run for all bugs of an experiment at the same knobs


@pytest.mark.slow
@pytest.mark.parametrize("k", SHRUNK.values(), ids=[f"{c}-{n}" for c, n in SHRUNK])
def test_the_same_knobs_give_the_ledgers_verdict_without_the_bug(k):
    found = json.loads(told(str(k), "healthy"))
    assert found == {claim: HEALTHY[claim] for claim in found}


@pytest.mark.parametrize("k", CHEAP, ids=[f"{b.claim}-{b.name}" for b in CHEAP.values()])
def test_a_planted_bug_turns_its_cheap_claim(k):
    bug = BUGS[k]
    assert verdicts(bug) == {claim: HEALTHY[claim] for claim in (bug.claim, *bug.also)}
    with bug.plant():
        found = verdicts(bug)
    assert turned(found), found


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
