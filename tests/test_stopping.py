"""A call that is stopped prints one line and returns status 130, even during the first import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import adversarium
from adversarium.cli import importing, main
from tests.program import ENV


def test_a_stop_during_the_first_imports_is_one_line_and_status_130(tmp_path):
    fake = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(5)\n"
    (tmp_path / "cyclopts.py").write_text(fake)
    paths = os.pathsep.join((str(tmp_path), str(Path(adversarium.__file__).parents[1])))
    code = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from adversarium.cli import main\nmain(['run', 'boat'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**ENV, "PYTHONPATH": paths}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert (
        done.stderr.strip()
        == "stopped; all finished runs are stored. Continue with: adversarium run boat"
    )


def test_a_signal_handler_knows_whether_something_is_being_imported():
    frame = "import sys\nframe = sys._getframe()"
    places = {}
    for file in ("<frozen importlib._bootstrap>", "mine.py"):
        exec(compile(frame, file, "exec"), place := {})
        places[file] = importing(place["frame"])
    assert places == {"<frozen importlib._bootstrap>": True, "mine.py": False}


def interrupted(words: list[str]) -> int:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("call")  # the handlers of signals are put back
def test_a_stopped_call_with_fresh_begins_again(monkeypatch, capsys):
    monkeypatch.setattr("adversarium.commands.program.called", interrupted)
    for words, way in (
        (["run", "x"], "Continue with"),
        (["run", "x", "--fresh"], "Start again with"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert way in capsys.readouterr().err
