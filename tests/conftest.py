"""Limit each of two workers to one thread, and call the program."""

import signal
import sys
from pathlib import Path

import pytest
import torch

from adversarium.cli import main
from tests.papers import toy
from tests.program import SHORT, Said

torch.set_num_threads(1)


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Call the program in this process, in a new directory with a separate catalogue."""
    before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # put back afterwards
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("ADVERSARIUM_DATA", "")  # --data sets it: put back afterwards

    def called(*words: str, status: int = 0) -> Said:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        said = Said(*capsys.readouterr())
        assert (stop.value.code or 0) == status, (words, said)
        return said

    with toy.forgotten():
        yield called
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def own(tmp_path) -> Path:
    """Write a user's file with a short run in the directory of the call."""
    path = tmp_path / "own.py"
    path.write_text(SHORT)
    return path
