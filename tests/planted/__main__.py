"""`python -m tests.planted ID` plants the bugs of one experiment, one after the other, and prints
the verdicts with and without them. `--page` renews docs/faults.md after a change of bugs or claims;
`--new-page` also searches all near misses again."""

import json
import sys

import torch

from tests.planted.bugs import planted
from tests.planted.every import BUGS
from tests.planted.page import PAGE, page


def main(word: str) -> None:
    """Read one argument: an experiment, --page or --new-page."""
    if word in ("--page", "--new-page"):
        before = PAGE.read_text(encoding="utf-8") if word == "--page" else ""
        PAGE.write_text(page(before), encoding="utf-8")
        return
    own = [bug for bug in BUGS if bug.home == word]
    if not own:
        homes = ", ".join(dict.fromkeys(bug.home for bug in BUGS))
        raise SystemExit(f"no bug is planted in {word!r}; there are bugs in {homes}.")
    torch.set_num_threads(1)
    print(json.dumps(list(planted(own))))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("python -m tests.planted ID, --page or --new-page")
    main(sys.argv[1])
