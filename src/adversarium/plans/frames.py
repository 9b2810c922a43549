"""Convert rows to pandas frames and xarray datasets; only this module imports the two."""

from importlib import import_module
from typing import Any

import numpy as np

from adversarium.plans.evidence import Rows, Series


def extra(module: str, name: str) -> Any:
    """Import an optional dependency; if it is missing, raise an error with the install command."""
    try:
        return import_module(module)
    except ImportError as fault:
        raise ValueError(
            f"this needs {module}; install adversarium with its extra: "
            f"pip install 'adversarium[{name}]'."
        ) from fault


def frame(rows: Rows) -> Any:
    """Return a pandas frame with one row per value: probe, seed, t, axis coordinates, value."""
    pandas = extra("pandas", "frames")
    tables = [
        pandas.DataFrame({"probe": name, **_columns(rows, series)})
        for name, series in rows.series.items()
    ]
    return pandas.concat(tables, ignore_index=True) if tables else pandas.DataFrame()


def _columns(rows: Rows, series: Series) -> dict[str, np.ndarray]:
    """Return the values of a series, and the coordinates of each, as flat columns."""
    coordinates = {"seed": np.array(rows.seeds), "t": series.t}
    coordinates |= {axis: np.array(at) for axis, at in series.axes.items()}
    grids = np.meshgrid(*coordinates.values(), indexing="ij")
    flat = {name: grid.ravel() for name, grid in zip(coordinates, grids, strict=True)}
    return {**flat, "value": series.values.ravel()}


def dataset(rows: Rows) -> Any:
    """Return an xarray dataset: every recorded quantity by seed, record time and its axes."""
    xarray = extra("xarray", "xarray")
    arrays = {}
    times: dict[tuple[int, ...], str] = {}
    for name, series in rows.series.items():
        # quantities recorded at the same times share a time axis; others have a separate one
        t = times.setdefault(tuple(series.t), f"t_{len(times)}" if times else "t")
        places = {axis: list(at) for axis, at in series.axes.items()}
        arrays[name] = xarray.DataArray(
            series.values,
            dims=("seed", t, *(f"{name}.{axis}" for axis in places)),
            coords={
                "seed": list(rows.seeds),
                t: series.t,
                **{f"{name}.{axis}": at for axis, at in places.items()},
            },
        )
    return xarray.Dataset(arrays, attrs={"run": rows.label})
