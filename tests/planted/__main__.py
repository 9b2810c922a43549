"""`python -m tests.planted ID` plants the bugs of one experiment, one after the other, and prints
the verdicts with and without them; `--page` writes docs/faults.md."""

import json
import sys

import torch

from tests.planted.bugs import planted
from tests.planted.every import BUGS
from tests.planted.page import PAGE, page


def main(word: str) -> None:
    """Read one argument: an experiment, or --page."""
    if word == "--page":
        PAGE.write_text(page(), encoding="utf-8")
        return
    own = [bug for bug in BUGS if bug.home == word]
    if not own:
        homes = ", ".join(dict.fromkeys(bug.home for bug in BUGS))
        raise SystemExit(f"no bug is planted in {word!r}; there are bugs in {homes}.")
    torch.set_num_threads(1)
    print(json.dumps(list(planted(own))))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("python -m tests.planted ID, or --page")
    main(sys.argv[1])
