"""Pictures at the size at which the site shows them: nothing is clipped, every axis has a label, no
legend covers data."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from adversarium.plans import Bars, Course, Curves, Evidence, Profile, where
from adversarium.plans.loading import load
from adversarium.plans.papers import experiments
from adversarium.report.figures import drawing, planes
from adversarium.report.figures.style import mathtext
from adversarium.runs.audit import stored_evidence
from adversarium.runs.store import Store
from tests.report.layout import faults
from tests.report.test_drawing import trained

# experiments whose shipped rows are read quickly
QUICK = ("cgrm.modified", "cgro.thm4.1")


def pictures(id: str):
    """Return the pictures of an experiment, from the rows that we ship."""
    experiment = load(id)
    stored = stored_evidence(experiment, Store("nowhere.sqlite", readonly=True))
    made = [] if stored is None else [(f, drawing(f, stored[3])) for f in experiment.figures]
    return [(f.name, d.picture) for f, d in made if d is not None and d.picture is not None]


@pytest.mark.parametrize("id", QUICK)
def test_every_figure_of_an_experiment_is_whole(id):
    drawn = pictures(id)
    assert drawn
    assert {name: faults(picture) for name, picture in drawn} == {name: [] for name, _ in drawn}


@pytest.mark.long
def test_every_figure_of_the_shipped_rows_is_whole():
    for id in experiments():
        if id not in QUICK:
            for name, picture in pictures(id):
                assert faults(picture) == [], (id, name)


ROWS = Evidence((trained(), trained(family="adversarial")))
PANELS = {"features": {"robust_features": "A"}, "loss": {"risk": "L"}}


@pytest.mark.parametrize(
    "figure",
    (
        Curves(name="a", y=("risk", "robust_features"), lines={"here": 2.0, "there": 2.5}),
        Curves(name="b", y=("risk",), log_x=True, title="A long title " * 9),
        Course(name="c", run=where("adversarial"), panels=PANELS),
        Bars(name="d", y=("risk",)),
        Profile(name="e", y=("robust_features",), x_label="class"),
    ),
    ids=lambda figure: type(figure).__name__,
)
def test_a_figure_without_labels_gets_them_from_its_numbers(figure):
    assert faults(drawing(figure, ROWS).picture) == []


def kept(monkeypatch):
    """Collect the pictures instead of saving them to files."""
    made = []
    monkeypatch.setattr(planes, "save", lambda picture, path: made.append(picture))
    return made


def test_a_small_grid_has_a_whole_title_a_labelled_bar_and_cells_without_a_value(
    monkeypatch, tmp_path
):
    made = kept(monkeypatch)
    grid = np.array([[0.0, np.nan], [0.1, 0.2], [0.3, 0.1]])
    marks = np.array([["✓", "!"], ["✗", "✓"], ["?", "±"]])
    what = "robust training error at the last step (adversarial, n = 100)"
    title = f"boat.published: {what}"
    names = ("m", "data.beta")
    planes.heatmap(tmp_path, (16, 64), (0, 0.15, 0.3), grid, marks, names, title, what)
    (picture,) = made
    assert faults(picture) == []
    shown, bar = picture.axes
    assert bar.get_ylabel().replace("\n", " ") == what
    image = shown.images[0]
    assert image.cmap(np.ma.masked_invalid(grid))[0, 1, 3] == 1  # grey, not transparent
    assert "!" in [text.get_text() for text in shown.texts]


def test_a_line_and_the_attacks_by_strength_are_whole(monkeypatch, tmp_path):
    made = kept(monkeypatch)
    ends = np.array([[1, 2], [0, 1], [2, 3]])
    numbers = {"error": ends, "another, with a name that is longer": ends + 1}
    planes.lines(tmp_path, [1.0, 2.0], numbers, "d", "✓✗", "own.thm")
    strength = SimpleNamespace(
        radii=(0.0, 0.5, 1.0), proven=(0.1, 0.6, 1.0), floor=(0.0, 0.0, 0.5),
        errors={f"attack number {i}": (0.0, 0.2, 0.9) for i in range(9)}
        | {"all strong attacks": (0.0, 0.5, 1.0)},
    )  # fmt: skip
    planes.strengths(tmp_path / "s.svg", strength, "a title", "radius")
    assert "lowest of any classifier,1.0,0.5" in (tmp_path / "s.csv").read_text()
    assert [faults(picture) for picture in made] == [[], []]


def test_a_picture_with_faults_is_found_out():
    picture = drawing(Curves(name="a", y=("risk",), title="whole"), ROWS).picture
    picture.axes[0].set_xlabel("")
    picture.axes[0].legend(["risk"])
    picture.set_layout_engine("none")
    picture.suptitle("a title that is far longer than the picture is wide " * 4)
    told = " ".join(faults(picture))
    for fault in ("clipped", "covers data", "x axis has no label"):
        assert fault in told


def test_powers_and_indices_of_a_letter_are_typeset_and_names_are_left_alone():
    assert mathtext("N^(−1/(D+2))·C") == "$N^{−1/(D+2)}$·C"
    assert mathtext("L_adv − α_{i,r}") == "$L_{\\mathrm{adv}}$ − $α_{i,r}$"
    for text in ("robust_test_error", r"$\alpha^3 U$ of d^2", "plain"):
        assert mathtext(text) == text


def test_a_plot_shows_itself_and_leaves_the_backend_alone():
    code = (
        "import matplotlib, adversarium as av\n"
        "matplotlib.use('svg')\n"
        "matplotlib.rcParams['font.size'] = 17\n"
        "run = av.Run(data=av.data.Clusters(d=9, mu=3.0), network=av.networks.TwoLayer(m=2), n=6,\n"
        "             steps=9, eta=0.1, probes=[av.measure.risk])\n"
        "picture = av.plot(av.run(run, seeds=range(2)), 'risk')\n"
        "assert picture._repr_png_().startswith(b'\\x89PNG')\n"
        "import sys\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert matplotlib.get_backend() == 'svg' and matplotlib.rcParams['font.size'] == 17\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
