"""`adversarium export`: rows and figures; only an earlier export is overwritten."""

import csv
import sys

import numpy as np
import pytest

from tests.program import SHORT, one_sentence


def test_changed_runs_can_be_exported(call, own, tmp_path):
    words = ("./own.py", "--seeds", "2", "--set", "d=10")
    said = call("export", *words, status=2)
    one_sentence(said, "adversarium run ./own.py --preset quick --set 'd=10' --seeds 2` first")
    call("run", *words)
    call("export", *words)
    lines = (tmp_path / "own changed d=10.csv").read_text().splitlines()
    assert lines[0] == "run,seed,t,probe,at,value" and len(lines) > 10
    call("export", *words, "--to", "svg")
    assert (tmp_path / "export" / "own" / "changed d=10" / "risk.svg").exists()
    one_sentence(call("export", *words, "--to", "tex", status=2), "cannot show changed runs")


def test_a_formula_does_not_reach_a_spreadsheet(call, own, tmp_path):
    own.write_text(SHORT.replace("yield Run(", "yield Run(family='=cmd|x', "))
    call("run", "./own.py", "--seeds", "2")
    call("export", "./own.py", "--seeds", "2")
    with (tmp_path / "own.csv").open() as file:
        assert {row["run"] for row in csv.DictReader(file)} == {"'=cmd|x"}


def test_rows_are_exported_as_parquet_and_netcdf(call, own, tmp_path):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    pytest.importorskip("pyarrow")
    call("run", "./own.py", "--seeds", "2")
    for kind in ("parquet", "netcdf"):
        call("export", "./own.py", "--seeds", "2", "--to", kind)
    frame = pandas.read_parquet(tmp_path / "own.parquet")
    assert {"run", "probe", "seed", "t", "value"} == set(frame.columns)
    with xarray.open_dataset(tmp_path / "own.nc", engine="scipy") as whole:
        (risk,) = (whole[name] for name in whole.data_vars if name.endswith("risk"))
        values = frame[(frame.probe == "risk")].value.to_numpy()
        assert np.array_equal(risk.to_numpy().ravel(), values)


def test_seeds_that_netcdf_cannot_hold_are_refused(call, own):
    pytest.importorskip("xarray")
    call("run", "./own.py", "--seeds", "3000000000,1")
    asked = ("--seeds", "3000000000,1", "--to", "netcdf", "--out", "big.nc")
    one_sentence(call("export", "./own.py", *asked, status=2), "seeds below 2^31")


@pytest.mark.parametrize(("kind", "module"), (("parquet", "pyarrow"), ("netcdf", "xarray")))
def test_a_missing_extra_is_named(kind, module, call, own, monkeypatch):
    call("run", "./own.py", "--seeds", "2")
    monkeypatch.setitem(sys.modules, module, None)
    said = call("export", "./own.py", "--seeds", "2", "--to", kind, status=2)
    one_sentence(said, f"this needs {module}; install adversarium with its extra: pip install")


def test_an_export_never_replaces_a_store_a_plan_or_a_file_of_somebody_else(call, own, tmp_path):
    call("run", f"./{own.name}", "--store", "mine.sqlite")
    words = ("export", f"./{own.name}", "--store", "mine.sqlite", "--out")
    for kept in ("mine.sqlite", own.name):
        before = (tmp_path / kept).read_bytes()
        one_sentence(call(*words, kept, status=2), "which is never overwritten; choose another")
        (tmp_path / f"{kept}.csv").symlink_to(tmp_path / kept)
        one_sentence(
            call(*words, f"{kept}.csv", status=2), "which is never overwritten; choose another"
        )
        assert (tmp_path / kept).read_bytes()[:16] == before[:16]
    (tmp_path / "keep.txt").write_text("precious")
    one_sentence(call(*words, "keep.txt", status=2), "was not written by adversarium")
    assert (tmp_path / "keep.txt").read_text() == "precious"


def test_an_export_replaces_an_earlier_one_unless_it_was_edited(call, own, tmp_path):
    call("run", "./own.py")
    words = ("export", "./own.py", "--out", "deep/rows.csv")
    assert call(*words).stdout == call(*words).stdout
    target = tmp_path / "deep" / "rows.csv"
    target.write_text("name,mark\nAda,1\n")
    one_sentence(call(*words, status=2), "was edited after it was written")
    assert target.read_text().startswith("name,mark")


def test_an_export_into_a_file_as_if_it_were_a_folder_is_refused(call, own):
    call("run", f"./{own.name}", "--out", "figures")
    for words in (("--out", f"{own.name}/x"), ("--to", "svg", "--out", own.name)):
        said = call("export", f"./{own.name}", *words, status=2)
        one_sentence(said, f"--out needs a folder, but {own.name} is a file")


def test_a_verdict_of_a_users_file_belongs_to_that_file_as_it_stands(call, own, tmp_path):
    call("verify", "./own.py")
    assert "own.thm" in call("show", "./own.py").stdout
    first = call("export", "./own.py", "--to", "tex", "--out", "a.tex")
    assert (tmp_path / "a.tex").exists() and not first.stderr
    (tmp_path / "other.py").write_text(own.read_text().replace("eta=", "eta=0.5 * "))
    said = call("export", "./other.py", "--to", "tex", "--out", "b.tex", status=2)
    assert "has no verdict of ./other.py" in said.stderr
    own.write_text(own.read_text() + "\n# edited\n")
    said = call("export", "./own.py", "--to", "tex", "--out", "c.tex", status=2)
    assert "has no verdict of ./own.py" in said.stderr
