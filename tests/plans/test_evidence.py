"""Evidence: runs selected by family and coordinate, quantities by name, intervals with coverage."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy import stats

from adversarium.measure import risk
from adversarium.plans import Evidence, Need, Reading, Where, exactly, last, where
from adversarium.plans.evidence import NoSuchRun, Quantity, Series, reduced, summary
from adversarium.plans.intervals import clopper_pearson, interval, slope
from tests.plans.tables import patches, rows, run

LADDER = Evidence(
    (
        run("ladder", {"d": 400, "gap": 0.1}, x=[4.0, 5.0], y=[0.0, 0.0]),
        run("ladder", {"d": 100, "gap": 0.1}, x=[1.0, 2.0]),
        run("ladder", {"d": 100, "gap": 0.2}, x=[7.0, 8.0]),
        run("control", x=[9.0, 9.0], **{"step of x": [3.0, 4.0]}),
    )
)


def test_runs_are_asked_by_family_and_coordinates():
    assert len(LADDER.where(where("ladder"))) == 3
    assert len(LADDER.where(where(("ladder", "control")))) == 4 == len(LADDER.where(where()))
    assert len(LADDER.where(where("ladder", d=100))) == 2
    assert len(LADDER.where(where(d=100, gap=0.2))) == 1
    assert len(LADDER.where(where("control", d=100))) == 0
    assert LADDER.one(where("ladder", d=100, gap=0.2)).last("x").tolist() == [7.0, 8.0]
    assert Where("ladder", {"d": 100}) == where("ladder", d=100) != where("ladder", d=200)
    assert where("ladder", d=100, gap=0.25).description == "ladder, d = 100, gap = 0.25"


def test_a_coordinate_that_was_computed_is_the_one_that_was_written():
    one = Evidence((run("gap", {"gap": 1 - 0.9}, x=[1.0]),))
    assert len(one.where(where("gap", gap=0.1))) == 1
    assert len(one.where(where("gap", gap=0.1001))) == 0
    assert one.one(exactly(one.runs[0].task)) is one.runs[0]


def test_one_run_is_one_run_or_the_others_are_named():
    with pytest.raises(NoSuchRun, match=r"ladder, d = 100 selects 2 runs, .*control"):
        LADDER.one(where("ladder", d=100))
    with pytest.raises(NoSuchRun, match="lader selects 0 runs"):
        LADDER.one(where("lader"))
    with pytest.raises(NoSuchRun, match="the runs are: none"):
        Evidence().one(where())


def test_runs_by_a_coordinate_rise():
    sizes = LADDER.where(where("ladder", gap=0.1)).by("d")
    assert list(sizes) == [100, 400] and sizes[400].last("x").tolist() == [4.0, 5.0]


def test_what_is_needed_is_all_that_is_left():
    left = LADDER.needed((Need(where("ladder", d=400), ("x",)), Need(where("control"))))
    assert [r.label for r in left] == ["ladder, d = 400, gap = 0.1", "control"]
    assert set(left.runs[0].series) == {"x"}
    assert set(left.runs[1].series) == {"x", "step of x"}  # without names, all of a trial's
    with pytest.raises(KeyError, match=r"ladder, d = 400.* has no rows of 'y'; it has x"):
        left.runs[0]["y"]
    assert len(LADDER.needed(())) == 0


def test_rows_know_the_run_that_they_come_from():
    mine = replace(run(x=[1.0]), task=patches())
    assert mine.run.data.d == 20
    with pytest.raises(TypeError, match="is a trial"):
        _ = run("gates", x=[1.0]).run


def test_a_series_keeps_its_axes_when_seeds_are_dropped():
    values = np.arange(24.0).reshape(3, 2, 4)
    series = Series(np.array([0, 5]), values, {"radius": (0.1, 0.2, 0.3, 0.4)})
    assert series.last().shape == (3, 4)
    kept = series.kept(np.array([True, False, True]))
    assert kept.axes == series.axes and kept.values.shape == (2, 2, 4)
    many = Evidence((run(seeds=(4, 7, 9), x=series),))
    assert many.kept(np.array([True, False, True])).seeds == (4, 9)


def test_a_number_with_axes_is_one_number_a_seed_only_when_told_how():
    values = np.array([[1.0, 3.0], [4.0, 0.0]])
    by_class = Series(np.array([9]), values[:, None], {"class": (0.0, 1.0)})
    told = {"mean": [2, 2], "max": [3, 4], "min": [1, 0]}
    for over, expected in told.items():
        assert last("x", over=over).of(rows(x=by_class)).tolist() == expected
    with pytest.raises(ValueError, match="reduce it with over="):
        last("x").of(rows(x=by_class))
    assert reduced(values[:, :1], "").tolist() == [1, 4]


def test_a_quantity_says_what_it_needs_and_where_it_fell():
    assert last("x", "control").name == "x (control)" and last("x").name == "x"
    assert last("x", "control").needs == (Need(where("control"), ("x", "step of x"), alone=True),)
    assert last("x", "control").step(LADDER).tolist() == [3, 4]
    assert last("x", where("ladder", d=400)).step(LADDER) is None
    difference = last("x", "control") - last("x", where(d=400))
    assert difference.of(LADDER).tolist() == [5, 4] and len(difference.needs) == 2
    assert (difference - last("x")).name == "[x (control) − x (d = 400)] − x"
    double = Reading("twice x", lambda r: 2 * r.last("x"), ("x",)).on(where("control"), points=7)
    assert double.name == "twice x (control)" and double.points == 7
    assert double.of(LADDER).tolist() == [18, 18]


def test_the_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    draws = rng.normal(3.0, 2.0, size=(4000, 6))
    inside = [low <= 3 <= high for low, high in map(interval, draws)]
    assert 0.985 < np.mean(inside) < 0.995


def test_the_interval_of_a_share_is_never_narrower_than_its_counts_allow():
    low, high = interval(np.zeros(5), points=200)
    assert low == 0 and high == pytest.approx(stats.beta.ppf(0.995, 1, 1000))
    assert interval(np.zeros(5)) == (0, 0)
    assert all(math.isnan(v) for v in interval(np.array([1.0])))


def test_clopper_pearson_covers():
    rng = np.random.default_rng(1)
    counts = rng.binomial(50, 0.9, 2000)
    edges = [clopper_pearson(int(count), 50) for count in counts]
    assert np.mean([low <= 0.9 <= high for low, high in edges]) >= 0.99


def test_a_summary_has_no_number_where_there_is_none():
    asked = Quantity("x", lambda _: np.array([]))
    one = summary(asked, np.array([1.0, math.inf, 3.0]))
    assert (one.mean, one.low, one.high) == (None, None, None) and one.values == (1.0, None, 3.0)
    assert summary(asked, np.array([])).mean is None


def test_a_slope_is_that_of_the_logarithms():
    x = np.array([10.0, 20.0, 40.0, 80.0])
    assert slope(x, np.stack([3 * x**-1.5, x**2])) == pytest.approx([-1.5, 2.0])
    assert math.isnan(slope(x, -x[None])[0])


def test_evidence_and_what_is_asked_of_it_are_frozen():
    for value, name in (
        (where("E"), "family"),
        (Need(where()), "names"),
        (last("x"), "name"),
        (LADDER, "runs"),
        (LADDER.runs[0], "seeds"),
        (patches(), "eta"),
        (patches(probes=(len,)).recordings[0], "times"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)


def test_a_function_in_the_place_of_a_name_is_refused():
    with pytest.raises(ValueError, match="needs a name, such as last"):
        last(risk)
