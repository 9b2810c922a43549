"""The figures of a site are drawn in two processes, with the same result as in one."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from adversarium.report.site import drawing
from adversarium.report.site.drawing import FigureFiles, draw_figures
from adversarium.report.site.results import stored_experiment
from adversarium.runs.store import Store
from tests.report.site.figure_functions import die, figures, write_process


def processes(home):
    return {int(path.read_text()) for path in home.iterdir()}


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(drawing, "_cores", lambda: 2)


def test_many_figures_are_drawn_by_two_other_processes(tmp_path, two_cores):
    made = figures(30)
    drawn = list(draw_figures(made, tmp_path))
    assert sorted(map(id, drawn)) == sorted(map(id, made))
    assert len(processes(tmp_path)) == 2 and os.getpid() not in processes(tmp_path)


def test_few_figures_and_those_on_one_core_are_drawn_here(tmp_path, monkeypatch, two_cores):
    assert len(list(draw_figures(figures(3), tmp_path))) == 3
    monkeypatch.setattr(drawing, "_cores", lambda: 1)
    assert len(list(draw_figures(figures(9), tmp_path))) == 9
    assert processes(tmp_path) == {os.getpid()}


def test_a_figure_that_cannot_be_sent_is_drawn_here(tmp_path, two_cores):
    lock = threading.Lock()

    def draw(home):
        with lock:
            write_process("local", home)

    list(draw_figures([*figures(8), FigureFiles(("local",), "", draw)], tmp_path))
    assert int((tmp_path / "local").read_text()) == os.getpid()
    assert len(processes(tmp_path)) >= 2


def test_a_process_that_dies_loses_no_figure(tmp_path, two_cores):
    fatal = FigureFiles(("survivor",), "", partial(die, os.getpid()))
    drawn = list(draw_figures([fatal, *figures(8)], tmp_path))
    assert len(drawn) == 9 and len(list(tmp_path.iterdir())) == 9


def test_a_fault_of_a_figure_is_raised(tmp_path, two_cores):
    def draw(home):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(draw_figures([*figures(8), FigureFiles(("x",), "", draw)], tmp_path))


def test_pictures_of_rows_are_the_same_from_one_process_and_from_two(tmp_path, monkeypatch):
    home = stored_experiment("cgrm.modified", Store("nowhere.sqlite", readonly=True))
    monkeypatch.setattr(drawing, "_FEW", 1)
    made = {}
    for cores in (1, 2):
        monkeypatch.setattr(drawing, "_cores", lambda cores=cores: cores)
        folder = tmp_path / str(cores)
        (folder / "figures" / home.name).mkdir(parents=True)
        list(draw_figures(home.files("code"), folder))
        files = (path for path in folder.rglob("*") if path.is_file())
        made[cores] = {path.relative_to(folder): path.read_bytes() for path in files}
    assert len(made[1]) > 4 and made[1] == made[2]


STOPPED = """
import sys
from functools import partial
from pathlib import Path
from adversarium.report.site import drawing
from tests.report.site.figure_functions import figures
drawing._cores = lambda: 2
if __name__ == "__main__":
    for figure in drawing.draw_figures(figures(4000), Path(sys.argv[1])):
        pass
"""


def test_ctrl_c_ends_all_processes_without_noise(tmp_path):
    script = tmp_path / "stopped.py"
    script.write_text(STOPPED)
    home = tmp_path / "home"
    home.mkdir()
    started = subprocess.Popen(
        [sys.executable, script, home], stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(home.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert said.count("Traceback") == 1 and said.strip().endswith("KeyboardInterrupt")
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(started.pid, 0)
            time.sleep(0.1)
