"""Every experiment runs at toy size, records what checks and figures need, and draws its
figures."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from adversarium.plans.figures import Phase, Powers
from adversarium.plans.loading import load
from adversarium.plans.papers import claims, experiments
from adversarium.plans.run import Run
from adversarium.report.figures import draw
from adversarium.runs.audit import run_missing
from adversarium.runs.changes import planned
from adversarium.runs.jobs import lacks, resolve
from adversarium.runs.reader import Reader, evidence
from adversarium.runs.scope import judged
from adversarium.runs.store import Store

SEEDS = (0, 1)
TOY = {
    "rnrf.fig3": dict(steps=12, n=10, d=10, P=4, m=4),
    "cgro.thm4.1": {
        "scaling": (50, 100, 200, 400),
        "counts": (1, 2, 4, 8),
        "many": (16, 20),
        "steps": 30,
    },
    "cgro.lemmas": {
        "counts": (2, 10),
        "sizes": (50,),
        "etas": (0.3,),
        "large": (50,),
        "many": (160,),
        "square": (9,),
        "long": (2,),
        "steps_factor": 0.02,
    },
    "cgro.setting": dict(d=12, n=6, m=3),
    "cgro.dynamics": dict(steps=40, swept=(), many=(9,)),
    "cgro.signal": dict(patience=0.001, swept=("α",)),
    "boat.published": dict(sizes=((6, 500, 8.0, 0.1),), steps=3, m=8, wide=(12,), smooth=2),
    "boat.theory": dict(
        rungs=(2, 3, 4),
        until=2,
        long=2,
        etas=(1.0,),
        omegas=(0.1, 0.2, 0.4, 0.8),
        arms=("d",),
    ),
    "boat.lower": dict(
        laws=("Gauss", "quartic", "skew"),
        mus=(1.0, 2.0),
        betas=(0.1,),
        spreads=(1,),
        steps=2,
        points=20,
        draws=200,
    ),
    "boat.rates": dict(
        rungs=(8,), shares=(0.1, 1.0), many=(16,), counts=(28, 56), draws=20, until=2
    ),
    "boat.fig1": dict(
        sizes=(50, 100, 200),
        mus=(1.0, 3.0, 8.0),
        fine_sizes=(50, 100, 200),
        fine_mus=(1.0, 3.0, 8.0),
        m=8,
        steps=3,
        points=10,
    ),
    "boat.design": dict(
        sizes=(50, 100, 200),
        mus=(1.0, 3.0, 8.0),
        variant_dims=(50, 100, 200),
        reading_dims=(50, 100, 200),
        design=(50, 100, 200),
        m=8,
        steps=3,
        points=10,
    ),
    "boat.fig2": dict(m=8, steps=3, points=10),
    "boat.fig4": dict(sides=(3, 4, 5), mus=(0.5, 1.0, 2.0), m=8, steps=3),
    "boat.fig5": dict(sides=(3, 4), ratios=(0.05, 0.2, 0.45), m=8, steps=3),
    "boat.fig6": dict(m=8, steps=3),
    "boat.fig3": dict(sizes=(50, 100), ratios=(0.05, 0.2, 0.45), m=8, steps=3, points=10),
    "boat.events": dict(rungs=(2,), arms=(), draws=3),
    "boat.inequalities": dict(tries=1, draws=500),
    "conv.capacity": dict(
        sizes=(2, 3),
        most=6,
        splits=((3, 1),),
        tried=((2, 2),),
        fitted=((4, 2),),
        tries=2,
        steps=200,
        pool=10,
    ),
    "conv.kinks": dict(widths=(64, 128, 256, 512), radii=(0.1,), depths=(), circles=(64,), R=4.0),
    "conv.definitions": dict(widths=(16,), segments=1),
    "conv.two_layer": dict(
        widths=(16, 64), sizes=(16, 32, 64, 128), alpha=(0.4,), runs=(16,), climbs=3
    ),
    "conv.parity": dict(widths=(16, 64), sizes=(4,), most=15, draws=20, trained=(16,), steps=2),
    "conv.descents": dict(
        widths=(16,),
        matrix_attacks=("exact",),
        widest=(1024,),
        alphas=(0.4,),
        attacks=("exact",),
        rules=("exact",),
        variant_widths=(),
        exit_radii=(0.1,),
        exit_sizes=((16, 1.0),),
        compared=(16,),
        members=(2, 4),
        eps=(0.3,),
        starts=1,
        frequency_starts=1,
        transfer_widths=(1024,),
        radii=(0.2,),
        nested_widths=(16,),
        steps=20,
    ),
    "conv.paths": dict(
        free=(16,),
        deep=(16,),
        m=16,
        radii=(0.5,),
        widths=(64, 256),
        depths=(2, 3),
        rules=("exact",),
        steps=3,
    ),
    "conv.deep": dict(
        sizes=((64, 1.0, 0.6),),
        attacks=("exact", "identity"),
        sets=(),
        depths=(1, 2),
        layers=(1, 2),
        widths=(16, 32),
        logistic=(16,),
    ),
    "conv.quadratic": dict(
        eps=(0.5,),
        draws=1,
        counts=(4, 8, 16),
        dims=(2,),
        few=(0.2,),
        starts=1,
        often=1,
        arcs=(),
        steps=8,
    ),
    "conv.questions": dict(
        eps=(0.3,),
        sets=((3, 2),),
        latent=(2,),
        ambient=(5,),
        counts=(2,),
        samples=(3,),
        widths=(2, 4),
        steps=2,
    ),
    "conv.features": dict(
        counts=(8, 16),
        kinds=("any",),
        draws=1,
        more=(5,),
        eps=(0.2,),
        width_factors=(1.0,),
        wide=(8, 16),
        fits=(0.3,),
        radii=(0.1,),
        sharp=(2.0,),
        caps=(4,),
    ),
    "conv.norms": dict(widths=(16, 32), depths=(1, 2), draws=10),
    "conv.eq16": {
        "m": (16, 1024),
        "rules": ("exact", "random"),
        "steps": 4,
        "along": ("exact",),
        "best": (3.0,),
    },
    "rnrf.setting": dict(points=10),
    "rnrf.recursions": dict(steps=20, m=4, d=40),
    "rnrf.phases": dict(
        steps=40, m=4, d=10, sizes=(8, 10, 12, 16), classes=(2, 4), early=((12, 0.3),), patience=1
    ),
    "rnrf.dimension": dict(
        plain=(8, 10, 12, 16),
        noisy=(6, 8, 10, 12),
        attacked=(6, 8, 10, 12),
        quiet=(6, 8, 10, 12),
        at_one=6,
        m=4,
        classes=(2, 4),
    ),
    "rnrf.theorems": dict(
        places=((2, 8), (3, 10)), attacked=((2, 8),), printed=((2, 8),), m=3, turns=1, least=False
    ),
    "cgro.constructions": dict(
        built=((4, 2),), stages=(1, 2), sizes=(1, 2), shattered=(3,), steps=1, widths=(1, 2)
    ),
    "cgro.flatness": dict(sets=1, fresh=10, draws=20, repeats=(1, 1)),
    "cgro.phases": dict(ratios=(0.25, 1.0), gap=(0.2, 0.15), longest=20),
    "cgro.variations": dict(steps=2, points=10, attacked=2, ascent=1),
    "cgrm.constructions": dict(D=5, n=10, grid=61),
    "cgrm.linear": {
        "d": 20,
        "counts": (5, 60),
        "dims_n_tenth": (20, 40),
        "many": (5,),
        "dims_n_double": (5,),
        "draws": 2,
        "trained": ((20, 10),),
        "steps": 20,
    },
    "cgrm.modified": dict(
        points=(50, 100),
        draws=1,
        samples=(50, 100),
        spread=(32,),
        cells=(16,),
        steps=3,
        others=(),
        wide=(50,),
        far=(50,),
    ),
    "cgrm.tab1": dict(n=8, epochs=2, width=2, n_eval=4, n_test=4, batch=4, precision="float32"),
    "cgrm.tab1.digits": dict(n=40, epochs=1, width=2, n_test=20, batch=20),
    "cgro.digits": dict(
        n=40,
        epochs=4,
        width=2,
        points=2,
        search=(1, 1),
        doubled=(1, 1),
        checkpoints=4,
        n_test=20,
        batch=20,
    ),
    "cgro.mnist": dict(
        n=20,
        few=20,
        epochs=4,
        points=2,
        search=(1, 1),
        last_search=(1, 1),
        doubled=(1, 1),
        checkpoints=4,
        n_eval=5,
        n_test=5,
        batch=10,
    ),
    "cgro.cifar10": dict(
        n=8,
        epochs=4,
        width=2,
        points=2,
        search=(1, 1),
        last_search=(1, 1),
        doubled=(1, 1),
        n_eval=4,
        n_test=4,
        batch=4,
        precision="float32",
    ),
    "rnrf.digits": dict(n=60, epochs=4, width=2, n_sets=4, inversion=1, n_test=80, batch=20),
    "images.record": dict(
        plans={"fastest": (2, 2), "fast": (1, 2), "longest": (1, 2)},
        n=8,
        n_test=4,
        n_suite=2,
        restarts=1,
        batch=4,
        precision="float32",
    ),
    "rnrf.images": dict(
        sets=("cifar10",),
        n=512,
        epochs=2,
        width=2,
        n_test=60,
        n_sets=4,
        inversion=1,
        precision="float32",
    ),
}
DATA = Path(__file__).parents[3] / "shared" / "data"  # where the official images may lie
SHORT = {"steps": 1, "restarts": 1, "shares": 2, "n": 60}  # of measuring attacks, and test points
VARIES = ("level", "ordering", "exponent", "inequality")


def test_every_experiment_has_a_toy_size():
    assert set(TOY) == set(experiments())


def shortened(value):
    """Return probes with short attacks on few points, under the same names."""
    if isinstance(value, tuple):
        return tuple(shortened(one) for one in value)
    if not is_dataclass(value):
        return value
    held = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
    made = {
        name: min(old, SHORT[name]) if name in SHORT else shortened(old)
        for name, old in held.items()
    }
    return replace(value, **made) if made != held else value


def toy_jobs(id):
    """Return the plan at toy size; the probes are not part of a run's key."""
    for task in planned(load(id), "quick", TOY[id]):
        if isinstance(task, Run):
            kinds = ("probes", "final", "folds")
            task = replace(task, **{kind: shortened(getattr(task, kind)) for kind in kinds})
        yield resolve(task)


@pytest.mark.parametrize("id", TOY)
def test_an_experiment_runs_judges_and_draws_at_toy_size(id, tmp_path, monkeypatch):
    if DATA.is_dir():
        monkeypatch.setenv("ADVERSARIUM_DATA", str(DATA))
    experiment, jobs = load(id), list(toy_jobs(id))
    if lost := next((message for job in jobs if (message := lacks(job))), ""):
        pytest.skip(lost)
    reader = Reader(Store(tmp_path / "store.sqlite"), id)
    assert run_missing(experiment, jobs, SEEDS, reader) == []
    rows = evidence(reader, jobs, SEEDS)
    assert rows is not None and len(rows) == len(jobs)
    for claim, check in experiment.checks.items():
        verdict, whole = (replace(one, kind="") for one in (judged(check, rows), check.judge(rows)))
        there = all(len(rows.where(need.where)) for need in check.needs)
        same = verdict == whole if there else verdict.outcome == whole.outcome
        assert same, f"{claim} reads more than it says it needs"
        if claims()[claim].kind in VARIES:
            assert verdict.verdict != "holds", "two seeds decide nothing that varies"
    formats = ("svg", "pdf", "png")
    for figure in experiment.figures:
        files = draw(figure, rows, tmp_path, formats=formats)
        if isinstance(figure, (Phase, Powers)) and not files:
            continue  # its runs are a longer plan's; drawn in tests/report
        assert files and all(file.stat().st_size > 20 for file in files)
        assert files[0].with_suffix(".csv").stat().st_size > 20
        formats = ("svg",)  # the others are written alike
