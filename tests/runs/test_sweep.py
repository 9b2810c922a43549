"""Sweeps: axes as text, cells, refinement where the outcome changes, and the fitted boundary."""

import numpy as np
import pytest

from adversarium.plans import AtMost, Switch, last, where
from adversarium.plans.experiment import Experiment
from adversarium.plans.run import Trial
from adversarium.runs.audit import AuditOptions
from adversarium.runs.axes import Axis, cells, parse_axis, refined, whole_axis
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store
from adversarium.runs.sweep import Grid, sweep, watched_by


def test_axes():
    assert parse_axis("d=10:40:10").values == (10, 20, 30, 40)
    assert parse_axis("a=0:1:0.25").values == (0, 0.25, 0.5, 0.75, 1)
    assert parse_axis("g=0.1:0.3:0.1").values == (0.1, 0.2, 0.3)
    assert parse_axis("n=log:10:1000:3").values == (10, 100, 1000)
    assert parse_axis("x=one,word").values == ("one", "word")
    for bad in ("x=1,2.5,word", "d", "d=", "d=1:2:0", "d=log:0:1:3", "d=5:1:1"):
        with pytest.raises(ValueError, match="--over"):
            parse_axis(bad)
    with pytest.raises(ValueError, match="a range needs numbers, got 'a'"):
        parse_axis("d=a:b:c")
    axes = [parse_axis("a=1,2"), parse_axis("b=3,4")]
    assert len(cells(axes)) == 4
    assert cells(axes, zipped=True) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    parts = parse_axis("attack=pgd(p=2, radius=1),fgsm(p=2, radius=1)").values
    assert [type(part).__name__ for part in parts] == ["PGD", "FGSM"]
    with pytest.raises(ValueError, match="twice"):
        cells([parse_axis("a=1,2"), parse_axis("a=3")])
    with pytest.raises(ValueError, match="equal length"):
        cells([parse_axis("a=1,2"), parse_axis("b=3")], zipped=True)


def test_refined_cells_stand_halfway_between_neighbours_that_differ():
    axes = [Axis("a", (1, 9), log=True), Axis("b", (0.0, 1.0))]
    points = cells(axes)
    words = ["below", "above", "above", "above"]
    assert refined(axes, points, words) == [{"a": 3, "b": 0.0}, {"a": 1, "b": 0.5}]
    assert refined(axes, points, ["above"] * 4) == []
    parts = [Axis("attack", ("x", "y"))]
    assert refined(parts, cells(parts), ["above", "below"]) == []
    close = [Axis("n", (1, 2))]
    assert refined(close, cells(close), ["above", "below"]) == []


CALLS = []


def hill(rng, x, y):
    """Return a number that exceeds 1 above the line y = 4 x, and varies a little with the seed."""
    CALLS.append((x, y))
    if y > 50:
        raise ArithmeticError("too high")
    noise = 1e-3 * (rng.initial_seed() % 7)
    return {"height": y / (4 * x) + noise, "seen": 1.0}


def plan(x, y, family="hill"):
    if x < 0:
        raise ValueError("x >= 0 is needed")
    yield Trial(function=hill, parameters={"x": x, "y": y}, family=family)
    yield from () if family == "hill" else (Trial(function=hill, parameters={"x": x, "y": 1.0}),)


def margin(task):
    """Return the margin that a theorem predicts."""
    return task.parameters["y"] - 4 * task.parameters["x"]


SWITCH = Switch(probe="height", above=1.0, predicted=margin)
HILL = Experiment(
    "a.hill",
    "",
    plan,
    {"quick": dict(x=1.0, y=1.0, seeds=5)},
    {"a.low": AtMost(last("height"), 1.0), "a.seen": AtMost(last("seen"), 2.0)},
    switch=SWITCH,
)


@pytest.fixture
def reader(tmp_path):
    CALLS.clear()
    return Reader(Store(tmp_path / "s.sqlite"), HILL.id)


def test_a_cell_is_judged_by_the_claim_that_is_named_or_by_the_switch_or_by_the_first_claim():
    assert watched_by(HILL, "a.hill", "") == "height"
    assert watched_by(HILL, "a.hill", "a.seen") == "a.seen" == watched_by(HILL, "a.seen", "")
    bare = Experiment("a.b", "", plan, HILL.presets, HILL.checks)
    assert watched_by(bare, "a.b", "") == "a.low"
    with pytest.raises(ValueError, match=r"no claim 'a\.no'; it has a\.low"):
        watched_by(HILL, "a.hill", "a.no")
    with pytest.raises(ValueError, match="needs an experiment with a claim"):
        watched_by(Experiment("a.c", "", plan, HILL.presets, {}), "a.c", "")


def test_a_cell_is_not_judged_by_a_claim_whose_runs_the_preset_has_not(reader):
    lacking = {"a.wide": AtMost(last("height", where("wide")), 1.0), **HILL.checks}
    one = Experiment("a.w", "", plan, HILL.presets, lacking)
    assert watched_by(one, "a.w", "") == "a.low"
    with pytest.raises(ValueError, match=r"a\.wide needs runs that the preset quick does not have"):
        sweep(one, Grid((parse_axis("y=1,2"),), "a.wide"), reader, AuditOptions())


def test_an_axis_of_a_real_knob_is_refined_also_where_whole_numbers_are_given():
    axis = whole_axis(HILL, "quick", parse_axis("x=2,3"))
    assert axis.between(2.0, 3.0) == 2.5 and axis.word(2.0) == "2"
    parts = parse_axis("attack=none,pgd(p=2, radius=0.5)")
    assert whole_axis(HILL, "quick", parts) == parts
    assert parts.word(parts.values[1]) == "PGD(p=2, radius=0.5)"
    with pytest.raises(ValueError, match=r"[^.]\.$"):
        parse_axis("attack=none,pgd(p=2, radius=-1)")


def test_a_sweep_of_a_claim_has_a_word_a_reason_and_a_number_in_every_cell(reader):
    axes = [parse_axis("y=1,2,8"), parse_axis("x=1.0")]
    done = sweep(HILL, Grid(tuple(axes), "a.low"), reader, AuditOptions())
    assert [cell.verdict for cell in done.cells] == ["holds", "holds", "fails"]
    assert done.cells[2].reason.startswith("violated in 5 of 5 seeds")
    assert done.cells[0].measured.mean == pytest.approx(0.25, abs=0.01)
    assert done.boundary is None and done.failures == () and done.positive
    assert len(CALLS) == 15  # three cells of five seeds
    again = sweep(HILL, Grid(tuple(axes), "a.low"), reader, AuditOptions())
    assert len(CALLS) == 15 and again.cells == done.cells  # nothing is run again


def test_a_sweep_refines_where_the_outcome_changes(reader):
    axes = [parse_axis("y=1:9:8"), parse_axis("x=1.0")]
    done = sweep(HILL, Grid(tuple(axes), "height", rounds=2), reader, AuditOptions())
    sides = {cell.set["y"]: cell.verdict for cell in done.cells}
    assert sides == {1: "below", 9: "above", 5: "above", 3: "below"}


def test_the_boundary_of_a_plane_is_fitted_beside_the_theorems(reader):
    axes = [parse_axis("x=log:0.5:4:4"), parse_axis("y=log:1:32:6")]
    done = sweep(HILL, Grid(tuple(axes), "height"), reader, AuditOptions())
    assert len(done.cells) == 24
    slope, low, high = done.boundary.slope()
    assert low <= 1 <= high and slope == pytest.approx(1, abs=0.3)
    assert done.theorem[:, 0] == pytest.approx([0.5, 1, 2, 4])
    assert np.all(np.abs(np.log(done.theorem[:, 1] / (4 * done.theorem[:, 0]))) < 0.5)
    walked = Grid((axes[0], Axis("y", (1, 2, 4, 8))), "height", zipped=True)
    zipped = sweep(HILL, walked, reader, AuditOptions())
    assert len(zipped.cells) == 4 and zipped.boundary is None


def test_a_cell_that_fails_leaves_the_others_alone(reader):
    done = sweep(
        HILL, Grid((parse_axis("y=1,99"), parse_axis("x=-1,1")), "height"), reader, AuditOptions()
    )
    words = {tuple(cell.set.values()): cell.verdict for cell in done.cells}
    assert words == {(1, -1): "failed", (99, -1): "failed", (1, 1): "below", (99, 1): "failed"}
    reasons = {tuple(cell.set.values()): cell.reason for cell in done.cells}
    assert "x >= 0" in reasons[1, -1] and "too high" in reasons[99, 1]
    assert len(done.failures) == 3
    with pytest.raises(ValueError, match="x >= 0"):
        sweep(HILL, Grid((parse_axis("x=-1,-2"),), "height"), reader, AuditOptions())


def test_a_sweep_of_a_switch_needs_one_run_a_cell(reader):
    with pytest.raises(ValueError, match="needs one run, but here it has 2"):
        sweep(
            HILL, Grid((parse_axis("y=1,2"),), "height", {"family": "two"}), reader, AuditOptions()
        )


def test_an_axis_of_whole_numbers_is_rounded():
    log = parse_axis("x=log:1:10:4")
    assert whole_axis(HILL, "quick", log) == log
    counts = Experiment("a.d", "", lambda n=3: (), {"quick": {}}, {})
    assert whole_axis(counts, "quick", parse_axis("n=log:1:10:4")).values == (1, 2, 5, 10)
    assert whole_axis(HILL, "quick", parse_axis("steps=log:1:2:4")).values == (1, 2)
