"""Each planted bug turns its claim; without it the claim holds at the same knobs.

They run in processes of their own, where shapes are not checked at every step.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from adversarium.experiments.catalogue import experiments
from tests.planted import BUGS

ROOT = Path(__file__).parents[1]


def told(*words: str) -> str:
    command = [sys.executable, "-m", "tests.planted", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("k", range(len(BUGS)), ids=[b.name for b in BUGS])
def test_a_planted_bug_turns_its_claim(k):
    assert told(str(k)) in ("fails", "undecided")


SHRUNK = {(b.claim, repr(b.knobs)): k for k, b in enumerate(BUGS) if b.knobs}


@pytest.mark.slow
@pytest.mark.parametrize("k", SHRUNK.values(), ids=[f"{c}-{n}" for c, n in SHRUNK])
def test_the_same_knobs_hold_without_the_bug(k):
    assert told(str(k), "healthy") == "holds"


def test_every_implemented_claim_has_a_planted_bug():
    assert {b.claim for b in BUGS} == {c for e in experiments().values() for c in e.claims}
