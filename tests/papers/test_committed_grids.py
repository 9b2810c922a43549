"""Recompute three cells of every grid of BOAT that ran on a GPU, on this CPU in double precision
with the engine `full`: step ten must agree with the committed rows."""

from dataclasses import replace
from pathlib import Path

import pytest

from adversarium.plans.loading import load
from adversarium.plans.run import narrowed
from adversarium.runs.compute import compute
from adversarium.runs.jobs import Unit, resolve
from adversarium.runs.results import shipped

MNIST = Path(__file__).parents[3] / "shared" / "data"
GRIDS = (
    "boat.fig1",
    "boat.design",
    "boat.fig2",
    "boat.fig3",
    "boat.fig4",
    "boat.fig5",
    "boat.fig6",
)
ERRORS = ("robust_error", "robust_test_error")


def cells(id):
    """Return the first, middle and last runs of smallest dimension, with their committed rows."""
    runs = load(id).tasks("paper")
    least = min(run.data.d for run in runs)
    few = [run for run in runs if run.data.d == least]
    few = few if len(few) >= 3 else sorted(runs, key=lambda run: run.data.d)[:3]
    return [(run, committed(id, resolve(run))) for run in (few[0], few[len(few) // 2], few[-1])]


def committed(id, job):
    """Return the committed values of seed 0 that a job needs, by (name, t)."""
    return {
        (name, int(t)): series.values[block.seeds.index(0)][k]
        for block in shipped(id)
        if block.key == job.key and 0 in block.seeds
        for probe, kept in block.kept.items()
        if probe in job.asked
        for name, series in kept.series.items()
        for k, t in enumerate(series.t)
    }


def again(run, names):
    """Return values of seed 0 up to the last record time within ten steps, by (name, t)."""
    times = tuple(t for t in run.record if t <= 10)
    short = replace(run, steps=max(times), record=times, engine="full", dtype="float64")
    outcome = compute(Unit((resolve(narrowed(short, frozenset(names))),), ((0,),)))
    assert outcome.failures == {}
    (block,) = outcome.blocks
    series = [s for kept in block.kept.values() for s in kept.series.items()]
    return {(n, int(t)): v for n, s in series for t, v in zip(s.t, s.values[0], strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("id", GRIDS)
def test_three_cells_of_a_committed_grid_are_those_of_the_plain_engine(id, monkeypatch):
    if id in ("boat.fig4", "boat.fig5", "boat.fig6"):
        if not (MNIST / "mnist").is_dir():
            pytest.skip("no MNIST here")
        monkeypatch.setenv("ADVERSARIUM_DATA", str(MNIST))
    for i, (run, known) in enumerate(cells(id)):
        curves = id in ("boat.fig2", "boat.fig6")  # errors at every moment take a minute
        made = again(run, ("risk", *ERRORS) if i == 1 and not curves else ("risk",))
        assert len(made) >= 1
        for (name, t), value in made.items():
            off = {"rel": 2e-3} if name == "risk" else {"abs": 4e-3}  # a few points of thousands
            assert value == pytest.approx(known[name, t], **off), (run.label, name, t)
