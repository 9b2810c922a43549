"""Changed runs and sweeps of a store are compared with the published runs."""

import numpy as np

from adversarium.plans.evidence import Series
from adversarium.plans.loading import load
from adversarium.report.site.changed import changed_page, changed_runs
from adversarium.report.site.folder import SiteFolder
from adversarium.runs.audit import planned_jobs
from adversarium.runs.blocks import Block, StoredSeries
from adversarium.runs.store import Store

BOAT = "boat.published"


def stored(store, key, config, value):
    """Store a run of two seeds with one quantity."""
    one = Series(np.array([9]), np.array([[value], [value + 0.1]]))
    kept = {"p": StoredSeries((9,), {"robust_train_error": one})}
    provenance = {"cpu": "c", "cores": 1, "device": "cpu", "torch": "2", "dtype": "float64"}
    store.write(Block(key, BOAT, config, "gram", {}, (0, 1), 0.5, provenance, kept))


def filled(path, changes):
    """Return a store with the published runs, and with others whose fields differ."""
    store = Store(path)
    jobs = planned_jobs(load(BOAT), "quick")
    for job in jobs:
        stored(store, job.key, job.task.dynamics, 0.0)
        stored(store, f"older {job.key}", job.task.dynamics, 0.0)  # of an older engine
    for i, change in enumerate(changes):
        config = dict(jobs[0].task.dynamics)
        for name, value in change.items():
            head, _, rest = name.partition(".")
            config[head] = {**config[head], rest: value} if rest else value
        stored(store, f"changed {i}", config, 0.1 * i)
    return store, jobs[0].task.dynamics


def test_only_runs_that_differ_from_every_plan_are_changed(tmp_path):
    store, published = filled(tmp_path / "s.sqlite", [{"n": 3}, {"data.mu": 2.0, "n": 3}])
    one, two = changed_runs(store)
    assert one.differs == {"n": (published["n"], 3)} and one.seeds == (0, 1)
    assert set(two.differs) == {"n", "data.mu"}
    assert two.numbers["robust_train_error"].tolist() == [0.1, 0.2]


def test_a_sweep_has_a_table_and_a_picture_marked_as_changed(tmp_path):
    values = (1.0, 2.0, 4.0)
    plane = [{"data.mu": mu, "eta": eta} for mu in values for eta in values]
    line = [{"n": n} for n in (3, 5, 7)]
    store, _ = filled(tmp_path / "s.sqlite", [*plane, *line])
    page, drawn = changed_page(store)
    assert page.count('class="word changed">changed<') == 2
    assert "12 runs of this store" in page and "n (published" in page
    assert len(drawn) == 2
    SiteFolder(tmp_path / "site").update({"changed.html": page}, drawn, "x")
    for one in drawn:
        svg, csv = (tmp_path / "site" / path for path in one.paths)
        assert svg.stat().st_size > 1000 and csv.read_text().count("\n") in (4, 10)


def test_a_store_without_changes_says_so(tmp_path):
    page, drawn = changed_page(Store(tmp_path / "none.sqlite", readonly=True))
    assert "No run of this store was changed" in page and drawn == []
