"""Write rows as parquet and netCDF files."""

from pathlib import Path
from typing import Any

from adversarium.plans.evidence import Evidence
from adversarium.plans.frames import dataset, extra, frame


def write_parquet(path: Path, rows: Evidence) -> None:
    """Write all rows of an experiment as a table: run, probe, seed, t, axis coordinates, value."""
    extra("pyarrow", "frames")
    pandas = extra("pandas", "frames")
    frames = []
    for run in rows:
        table = frame(run)
        table.insert(0, "run", run.label)
        frames.append(table)
    pandas.concat(frames, ignore_index=True).to_parquet(path)


def write_netcdf(path: Path, rows: Evidence) -> None:
    """Write every quantity of every run as a variable `run: probe` with its axes."""
    xarray = extra("xarray", "xarray")
    variables: dict[str, Any] = {}
    if max(rows.seeds) >= 2**31:
        raise ValueError(
            f"netcdf needs seeds below 2^31, got {max(rows.seeds)}; use csv or parquet."
        )
    for i, run in enumerate(rows):
        data = dataset(run)
        dims = {dim: f"{dim}.{i}" for dim in data.dims}
        label = run.label or "run"
        names = {name: f"{label}: {name}" for name in data.data_vars}
        variables |= dict(data.rename({**dims, **names}).data_vars)
    xarray.Dataset(variables).to_netcdf(path, engine="scipy")
