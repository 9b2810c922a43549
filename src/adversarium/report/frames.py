"""Rows as parquet and netCDF files."""

from pathlib import Path
from typing import Any

from adversarium.plans.evidence import Evidence
from adversarium.plans.frames import dataset, extra, frame


def write_parquet(path: Path, rows: Evidence) -> None:
    """All rows of an experiment, one line a number: run, probe, seed, t, places, value."""
    extra("pyarrow", "frames")
    pandas = extra("pandas", "frames")
    frames = []
    for run in rows:
        made = frame(run)
        made.insert(0, "run", run.label)
        frames.append(made)
    pandas.concat(frames, ignore_index=True).to_parquet(path)


def write_netcdf(path: Path, rows: Evidence) -> None:
    """Every number of every run as a variable `run/probe` over its own axes."""
    xarray = extra("xarray", "xarray")
    whole: dict[str, Any] = {}
    if max(rows.seeds) >= 2**31:
        raise ValueError(
            f"netcdf holds seeds below 2^31, got {max(rows.seeds)}; use csv or parquet."
        )
    for i, run in enumerate(rows):
        made = dataset(run)
        dims = {dim: f"{dim}.{i}" for dim in made.dims}
        label = run.label or "run"
        named = made.rename({**dims, **{name: f"{label}: {name}" for name in made.data_vars}})
        whole |= dict(named.data_vars)
    xarray.Dataset(whole).to_netcdf(path, engine="scipy")
