"""Call the program several times in one process, because starting it takes seconds."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


def told(commands: Sequence[Sequence[str]], cwd: Path, only: str = "", **more: str) -> list[str]:
    """Return what commands print, one after the other; each must succeed. With `only`, a report
    draws only the pages of experiments whose ids begin so (all of them take a minute)."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    paths = os.pathsep.join(filter(None, (more.pop("PYTHONPATH", ""), str(_ROOT))))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tests.program", json.dumps([*map(list, commands)]), only],
        cwd=cwd, env={**environment, "PYTHONPATH": paths, **more}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    for words, (status, out, err) in zip(commands, answers, strict=True):
        assert status == 0, (words, out, err)
    return [out for _, out, _ in answers]


_ROOT = Path(__file__).parents[1]
ENV = {**os.environ, "COLUMNS": "200", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Said:
    """The output of a call."""

    stdout: str
    stderr: str


def process(*words: str, cwd: Path, status: int = 0) -> Said:
    """Run the program in a new process."""
    command = [sys.executable, "-P", "-m", "adversarium.cli", *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=ENV, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return Said(done.stdout, done.stderr)


def one_sentence(said: Said, words: str) -> None:
    """Require that an error is one line with this text and without a traceback."""
    assert words in said.stderr, said.stderr
    assert "Traceback" not in said.stderr and len(said.stderr.strip().splitlines()) == 1


OWN = '''"""A small theorem: training error vanishes."""

from adversarium.data import PatchData
from adversarium.networks import CubicCNN
from adversarium.plans import Curves, Level, Run, last
from adversarium.measure import risk, train_error

quick = dict(steps=200, seeds=5)
claims = {"own.thm": dict(statement="Training error vanishes.", kind="level", source="me")}


def plan(steps, d=20):
    data = PatchData(d=d, P=3, alpha=2.0, sigma=0.2)
    yield Run(data=data, network=CubicCNN(m=6, sigma0=0.3), n=8, steps=steps, eta=0.05,
              probes=(risk, train_error))


checks = {"own.thm": Level(last("train_error"), 0, 0.0)}
figures = (Curves(name="risk", y=("risk",), title="risk"),)
'''
SHORT = OWN.replace("steps=200", "steps=5")


def called(main: Callable[[list[str]], None], words: list[str]) -> tuple[int, str, str]:
    """Return status, output and errors of one call."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as stop:
            return int(stop.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("the program ends with a status")


if __name__ == "__main__":
    import pytest

    from adversarium.cli import main
    from adversarium.plans.papers import experiments
    from tests.report.few import few

    few(pytest.MonkeyPatch(), [id for id in experiments() if id.startswith(sys.argv[2])])
    print(json.dumps([called(main, words) for words in json.loads(sys.argv[1])]))
