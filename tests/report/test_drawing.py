"""Quantities with axes in pictures and tables: one line per coordinate, which is shown as text."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adversarium.data import TwoFeaturePatches
from adversarium.measure.errors import risk
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.theory.features import robust_features
from adversarium.plans import (
    Bars,
    Course,
    Curves,
    Evidence,
    Heat,
    Profile,
    Rows,
    Run,
    Table,
    end,
    where,
)
from adversarium.plans.evidence import Series
from adversarium.report.figures import draw, drawing, table_columns, table_value
from adversarium.report.figures.numbers import lines_of

T = np.array([0, 5, 9])


def series(classes: int, **more: tuple[float, ...]) -> Series:
    """Return values 100·class + 10·t + seed with a class axis and other axes, for three seeds."""
    axes = {"class": tuple(float(i) for i in range(classes)), **more}
    shape = (3, len(T), *(len(at) for at in axes.values()))
    seed, t, place = np.ogrid[:3, : len(T), :classes]
    values = (100 * place + 10 * T[t] + seed).astype(float)
    return Series(T, np.broadcast_to(values.reshape(*values.shape, *(1,) * len(more)), shape), axes)


def trained(classes: int = 2, family: str = "standard", at: dict[str, Any] | None = None) -> Rows:
    task = Run(
        family=family, at=at or {}, data=TwoFeaturePatches(k=classes), network=SmoothedCNN(), n=4,
        steps=9, eta=0.1, probes=(risk, robust_features),
    )  # fmt: skip
    flat = Series(T, np.arange(9.0).reshape(3, 3))
    return Rows(task, (0, 1, 2), {"risk": flat, "robust_features": series(classes)})


def test_a_number_without_axes_is_one_line_and_one_with_a_class_axis_has_one_a_class():
    plain = Series(T, np.zeros((3, 3)))
    ((place, values),) = lines_of(plain, {})
    assert place == "" and values.shape == (3, 3)
    lines = lines_of(series(4), {})
    assert [place for place, _ in lines] == ["class 1", "class 2", "class 3", "class 4"]
    for i, (_, values) in enumerate(lines):
        assert (values == series(4).values[..., i]).all()


def test_a_picked_place_is_drawn_alone_and_told_only_by_the_other_axes():
    ((place, values),) = lines_of(series(4), {"class": 2})
    assert place == "" and (values == series(4).values[..., 2]).all()
    both = lines_of(series(2, radius=(0.1, 0.5)), {})
    assert [place for place, _ in both] == [
        "class 1, radius 0.1", "class 1, radius 0.5", "class 2, radius 0.1", "class 2, radius 0.5"
    ]  # fmt: skip
    picked = lines_of(series(2, radius=(0.1, 0.5)), {"radius": 1})
    assert [place for place, _ in picked] == ["class 1", "class 2"]
    assert len(lines_of(series(4), {"unit": 2})) == 4  # an axis that is not there picks nothing


def test_curves_have_a_line_a_class_under_the_probes_own_symbol():
    figure = Curves(name="features", y=("risk", "robust_features"))
    made = drawing(figure, Evidence((trained(),)))
    (axis,) = made.picture.axes
    told = [text.get_text() for text in made.picture.legends[0].get_texts()]
    (symbol,) = [m.symbol for m in robust_features.measures]
    assert told == ["training loss", f"{symbol} (class 1)", f"{symbol} (class 2)"]
    assert len(axis.lines) == 3
    assert {line[1] for line in made.lines} == {
        "risk", "robust_features, class 1", "robust_features, class 2"
    }  # fmt: skip
    alone = drawing(
        Curves(name="one", y=("robust_features",), pick={"class": 1}), Evidence((trained(),))
    )
    ((line,),) = [axis.lines for axis in alone.picture.axes]
    assert (line.get_ydata() == series(2).values[..., 1].mean(0)).all()


def test_the_published_run_is_drawn_pale_below_place_by_place():
    figure = Curves(name="features", y=("robust_features",))
    made = drawing(figure, Evidence((trained(3),)), Evidence((trained(2),)))
    names = [line.get_label() for line in made.picture.axes[0].lines]
    assert len(names) == 3 + 2  # a class that was not published has no line below
    assert sum(name.endswith("published") for name in names) == 2


def test_a_profile_runs_along_the_axis_and_a_table_has_a_column_a_place(tmp_path):
    rows = Evidence((trained(), trained(family="adversarial")))
    made = drawing(Profile(name="by class", y=("robust_features",), complement=True), rows)
    assert [line[2] for line in made.lines] == [0.0, 1.0, 0.0, 1.0]
    assert made.lines[0][3] == 1 - (10 * 9 + 1)  # the last time, the mean over seeds
    table = Table(name="table", y=("risk", "robust_features"), names={"risk": "L"})
    columns = table_columns(table, list(rows))
    assert columns[0][1] == "L" and len(columns) == 3
    assert (table_value(rows.runs[0], *columns[2][::2]) == [190, 191, 192]).all()
    (file,) = draw(table, rows, tmp_path)
    assert file.suffix == ".csv" and len(file.read_text().splitlines()) == 1 + 2 * 3


def test_equal_values_at_places_have_bars_without_length():
    rows = trained()
    flat = replace(rows.series["robust_features"], values=np.full((3, 3, 2), 0.1))  # mean > 0.1
    assert flat.values.mean(0).max() > 0.1
    same = Rows(rows.task, rows.seeds, {"robust_features": flat})
    made = drawing(Profile(name="p", y=("robust_features",), places=("a", "b")), Evidence((same,)))
    assert [label.get_text() for label in made.picture.axes[0].get_xticklabels()] == ["a", "b"]


def test_a_profile_by_coordinates_has_a_panel_a_number_and_stacked_means_add_up():
    rows = Evidence((trained(at={"A": "weak"}), trained(at={"A": "strong"}, family="other")))
    by = drawing(Profile(name="p", y=("robust_features",) * 2, by=("A",)), rows)
    assert len(by.picture.axes) == 2 and len(by.picture.axes[0].lines) == 2
    assert {line[1] for line in by.lines} == {"weak", "strong"}
    y = ("robust_features", "robust_features ")
    run = rows.runs[0]
    twice = Rows(run.task, run.seeds, dict.fromkeys(y, run.series["robust_features"]))
    made = drawing(Profile(name="s", y=y, stack=True), Evidence((twice,)))
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in made.picture.axes[0].collections]
    assert tops == [191.0, 382.0]


def test_a_heat_has_a_cell_a_number_and_run_and_a_panel_a_place():
    rows = Evidence(tuple(trained(at={"A": a, "m": m}, family=f"{a}{m}")
                          for a in ("weak", "strong") for m in (4, 8)))  # fmt: skip
    figure = Heat(name="h", numbers=(end("risk"), end("risk", "again")), rows=("A",), by=("m",),
                  runs=(where(),), floor=6.0)  # fmt: skip
    made = drawing(figure, rows)
    assert [line[:3] for line in made.lines][:2] == [("m = 4", "weak", "risk"),
                                                     ("m = 4", "weak", "again")]  # fmt: skip
    panel = made.picture.axes[0]
    assert len(panel.texts) == 4 and panel.texts[0].get_text() == "<6"  # the mean is 5
    assert [label.get_text() for label in panel.get_yticklabels()] == ["weak", "strong"]


def test_a_course_draws_every_place_of_one_seed_and_bars_have_an_interval_a_run(tmp_path):
    rows = Evidence((trained(), trained(family="adversarial")))
    panels = {"features": {"robust_features": "A"}, "loss": {"risk": "L"}}
    made = drawing(Course(name="course", run=where("adversarial"), panels=panels, seed=1), rows)
    assert [len(axis.lines) for axis in made.picture.axes] == [2, 1]
    assert made.header[-1] == "seed 1"
    bars = drawing(Bars(name="bars", y=("risk",)), rows)
    assert [line[0] for line in bars.lines] == ["standard", "adversarial"]
    assert bars.lines[0][2] == pytest.approx(5.0)
