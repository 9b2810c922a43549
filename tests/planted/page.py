"""Write docs/faults.md: all planted bugs and near misses, and the claims whose verdicts change."""

import re
from pathlib import Path

from adversarium.plans.papers import experiments, papers
from adversarium.runs.ledger_file import committed
from tests.planted.every import BUGS
from tests.planted.misses import JUDGED, Miss, near_misses

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"

_HEAD = """\
# Planted bugs

The checks of the claims are themselves tested. `tests/planted` inserts each bug below and runs the
claims listed with it; their verdicts must change (a claim that holds stops holding, one that fails
stops failing). Without the bug, they must be those of the ledger. `make faults` writes this page.
"""

_MISSES = """\
## Near misses

Each row multiplies one stored quantity by a factor and leaves the rest unchanged. It is the first
such change found, in a fixed order, that changes the claim's verdict.

| claim | quantity | change |
|---|---|---|"""

_UNTURNED = """\
## Insensitive claims

Judged claims whose verdict neither a planted bug nor a near miss changes:
"""


def page(before: str = "") -> str:
    """Return the text of the page. Near misses of the page before it are taken over; without such a
    page, they are searched for all claims, which takes a quarter of an hour."""
    lines = [_HEAD]
    for paper in papers().values():
        own = [bug for bug in BUGS if bug.home.startswith(f"{paper.tag}.")]
        if own:
            lines += [f"## {paper.key}", "", "| bug | claims whose verdict changes |", "|---|---|"]
            lines += [f"| {bug.name} | {_listed(bug.turns)} |" for bug in own]
            lines.append("")
    by_bug = {id for bug in BUGS for id in bug.turns}
    misses = list(near_misses(judged_claims(), listed_misses(before), by_bug if before else ()))
    lines += [_MISSES, *(f"| `{m.claim}` | `{m.number}` | {m.how} |" for m in misses), ""]
    turned = by_bug | {miss.claim for miss in misses}
    lines += [_UNTURNED, *(f"- `{id}`" for id in judged_claims() if id not in turned)]
    return "\n".join(lines) + "\n"


def judged_claims() -> list[str]:
    """Return the claims of the committed ledger that hold, fail or are mixed, without aliases."""
    words = {entry.id: entry.verdict for entry in committed()}
    known = [id for entry in experiments().values() for id in entry.claims]
    return [id for id in known if words.get(id) in JUDGED]


def listed_bugs(text: str) -> set[str]:
    """Return the names of the bugs that a page lists."""
    return set(re.findall(r"^\| ([^`|]+) \| `", text, re.MULTILINE))


def listed_misses(text: str) -> list[Miss]:
    """Return the near misses that a page lists."""
    return [Miss(*m) for m in re.findall(r"^\| `(.+?)` \| `(.+?)` \| (.+) \|$", text, re.MULTILINE)]


def listed_unturned(text: str) -> set[str]:
    """Return the claims that a page lists as unaffected."""
    return set(re.findall(r"^- `(.+)`$", text, re.MULTILINE))


def _listed(ids: tuple[str, ...]) -> str:
    return ", ".join(f"`{id}`" for id in ids)
