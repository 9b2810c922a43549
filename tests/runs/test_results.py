"""Row files: shipped rows are those that a plan needs, and each occurs once."""

import numpy as np

from adversarium.plans.evidence import Series
from adversarium.runs.blocks import Block, StoredSeries
from adversarium.runs.results import read_rows, thinned, write_rows


def block(seeds, times=(0, 1, 2), probes=("risk",), start=0.0):
    """Return a block whose values encode their seed and time."""
    values = start + np.array([[10.0 * seed + t for t in times] for seed in seeds])
    kept = {p: StoredSeries(tuple(times), {p: Series(np.array(times), values)}) for p in probes}
    return Block("key", "toy", {}, "full", {}, tuple(seeds), 0.1, {}, kept)


def test_a_seed_is_shipped_once_the_first_blocks():
    first, second = block((0, 1)), block((1, 2), start=100.0)
    made = list(thinned((first, second), {"key": {"risk": (0, 1, 2)}}))
    assert [one.seeds for one in made] == [(0, 1), (2,)]
    assert made[1].kept["risk"].series["risk"].values.tolist() == [[120.0, 121.0, 122.0]]


def test_only_the_probes_and_times_of_the_plan_are_shipped():
    (made,) = thinned((block((3,), probes=("risk", "old")),), {"key": {"risk": (0, 2)}})
    assert set(made.kept) == {"risk"} and made.kept["risk"].times == (0, 2)
    assert made.kept["risk"].series["risk"].values.tolist() == [[30.0, 32.0]]


def test_rows_that_lack_a_time_or_belong_to_no_run_are_left_out():
    assert list(thinned((block((0,)),), {"key": {"risk": (0, 5)}})) == []
    assert list(thinned((block((0,)),), {"other": {"risk": (0,)}})) == []


def test_a_row_file_is_read_as_it_was_written(tmp_path):
    write_rows(tmp_path / "rows.npz", [block((0, 4))])
    (again,) = read_rows(tmp_path / "rows.npz")
    assert again.seeds == (0, 4)
    assert (again.kept["risk"].series["risk"].values == [[0, 1, 2], [40, 41, 42]]).all()
