"""docs/faults.md: every planted bug with the claims that it turns, and the claims without one."""

from pathlib import Path

from adversarium.plans.catalogue import experiments, papers
from tests.planted import BUGS

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"

_HEAD = """\
# Planted bugs

The audit is itself audited. Each bug below is planted by `tests/planted`, what its claims need is
run with it, and their verdicts must turn (a claim that holds stops holding, one that fails stops
failing); without the bug they are the ledger's at the same size. `python -m tests.planted --page`
writes this page.
"""

_UNTURNED = """
Claims that no planted bug turns (undecided or failing with and without one, holding whatever is
broken, or not yet tried):
"""


def unturned() -> list[str]:
    """The claims that an experiment judges and no bug turns."""
    turned = {id for bug in BUGS for id in bug.turns}
    return [id for entry in experiments().values() for id in entry.claims if id not in turned]


def page() -> str:
    """The page's text."""
    lines = [_HEAD]
    for paper in papers().values():
        own = [bug for bug in BUGS if bug.home.startswith(f"{paper.tag}.")]
        if own:
            lines += [f"## {paper.key}", "", "| bug | claims that turn |", "|---|---|"]
            lines += [f"| {bug.name} | {_listed(bug.turns)} |" for bug in own]
            lines.append("")
    lines += ["## Unturned", _UNTURNED, *(f"- `{id}`" for id in unturned())]
    return "\n".join(lines) + "\n"


def _listed(ids: tuple[str, ...]) -> str:
    return ", ".join(f"`{id}`" for id in ids)
