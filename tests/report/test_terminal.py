"""What the commands print of a run."""

from dataclasses import replace

import numpy as np

from adversarium.data import Clusters
from adversarium.measure.errors import train_error
from adversarium.networks import TwoLayer
from adversarium.plans import Curves, Evidence, Level, Rows, Run, last, where
from adversarium.plans.evidence import Series
from adversarium.plans.experiment import Experiment
from adversarium.plans.run import changed
from adversarium.report.terminal import print_run
from adversarium.runs.jobs import resolve
from adversarium.runs.planning import Plan

TASK = Run(
    family="clusters", data=Clusters(d=4, mu=2.0), network=TwoLayer(m=2), n=4, steps=9, eta=0.1,
    probes=(train_error,),
)  # fmt: skip


def plan():
    yield TASK


SMALL = Experiment(
    "mine.thm1",
    "a small theorem",
    plan,
    {"quick": {}},
    {
        "mine.small": Level(last("train_error", "clusters"), 0, 0.5),
        "mine.other": Level(last("train_error", where("clusters", mu=2.0)), 0, 0.5),
    },
    (Curves(name="errors", y=("train_error",)),),
)


def rows(values, task=TASK):
    """Return rows of five seeds: a value at the end, twice it before, and one with a class axis."""
    ends = np.array(values)
    curve = Series(np.array([0, 9]), np.stack([2 * ends, ends], axis=1))
    classes = Series(np.array([9]), ends[:, None, None] * np.array([1.0, 3.0]), {"class": (0, 1)})
    return Evidence((Rows(task, tuple(range(5)), {"train_error": curve, "feature": classes}),))


def printed(capsys, tmp_path, under=None, whole=True, claims=("mine.small",)):
    task = TASK if under is None else changed(TASK, "data.mu", 3.0)
    made = rows([0.1, 0.2, 0.1, 0.2, 0.1], task)
    tasks = (task,) if whole else (task, replace(task, family="lost"))
    changes = {"data.mu": 3.0} if under is not None else {}
    jobs = tuple(resolve(one) for one in tasks)
    asked = Plan(SMALL, "quick", jobs, (TASK, None)[: len(jobs)], claims, changes)
    print_run(asked, made, tmp_path / "mine.thm1" / asked.folder, under)
    return capsys.readouterr().out


def test_a_run_is_told_with_last_values_places_verdicts_and_figures(capsys, tmp_path):
    out = printed(capsys, tmp_path)
    assert "mine.thm1: a small theorem\n" in out and "changed" not in out
    assert "clusters, 5 seeds" in out and "minus published" not in out
    (line,) = [line for line in out.splitlines() if line.strip().startswith("train_error")]
    assert "0.14 [0.02" in " ".join(line.split())
    places = [line.split(")")[1].split()[0] for line in out.splitlines() if "(class" in line]
    assert places == ["0.14", "0.42"]
    assert "  ✓ holds  mine.small" in out
    assert (tmp_path / "mine.thm1" / "errors.svg").exists()


def test_against_sets_a_changed_run_beside_the_published_one_paired_by_seed(capsys, tmp_path):
    under = rows([0.0, 0.1, 0.0, 0.1, 0.0])
    out = printed(capsys, tmp_path, under)
    assert "(changed: data.mu = 3.0; excluded from the ledger)" in out
    assert "changed: data.mu 2 → 3" in out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    less = [line for line in lines if line.startswith("minus published")]
    # every seed is exactly 0.1 above its published twin, a class three times as much
    assert less == [f"minus published {gap} [{gap}, {gap}]" for gap in ("0.1", "0.1", "0.3")]
    (table,) = (file.read_text() for file in tmp_path.rglob("errors.csv"))
    assert '"clusters, published",train_error' in table


def test_where_a_run_failed_nothing_is_set_beside_the_others(capsys, tmp_path):
    out = printed(capsys, tmp_path, rows([0.0] * 5), whole=False)
    assert "minus published" not in out
    (table,) = (file.read_text() for file in tmp_path.rglob("errors.csv"))
    assert "published" not in table


def test_a_changed_run_leaves_the_published_figure_alone(capsys, tmp_path):
    printed(capsys, tmp_path)
    before = (tmp_path / "mine.thm1" / "errors.svg").read_bytes()
    printed(capsys, tmp_path, rows([0.0] * 5))
    assert (tmp_path / "mine.thm1" / "errors.svg").read_bytes() == before
    (own,) = (path for path in (tmp_path / "mine.thm1").iterdir() if path.is_dir())
    assert "data.mu" in own.name and (own / "errors.svg").exists()


def test_a_check_that_lacks_its_run_is_undecided(capsys, tmp_path):
    out = printed(capsys, tmp_path, rows([0.0] * 5), claims=("mine.other",))
    assert "? undecided  mine.other\n      out of regime: no such run in the plan (another" in out
