"""The quick audit of a paper from nothing, every run made, in processes of this machine, against
the same with the rows that come with the code: seconds of two cold starts of the program.

`python benchmarks/audit.py boat` (the default; a goal of 2 minutes), or other papers' tags.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL = 120.0  # seconds, two cores


def seconds(paper: str, *flags: str) -> float:
    """Seconds of `adversarium verify PAPER` with an empty store."""
    program = Path(sys.executable).with_name("adversarium")
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "verify", paper, "--store", f"{folder}/s.sqlite", *flags]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - began


def main(papers: list[str]) -> None:
    """Prints one line a paper."""
    for paper in papers or ["boat"]:
        made, shipped = seconds(paper, "--fresh", "--on", "processes"), seconds(paper)
        print(
            f"{paper}: {made:.0f} s from nothing (goal: {GOAL:.0f} s), {shipped:.0f} s with the "
            f"shipped rows; {made / shipped:.1f} × faster"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
