"""Write and read row files, which papers ship in `results/`: one .npz file per experiment.

Values are stored as m·10^e, with seven significant digits for curves and nine for single numbers.
The arrays `mantissa` (int32, split into its four bytes, which compresses better) and `exponent`
(int16) contain the values of all series in sequence; `index` (JSON) describes the series in this
order. numpy.load opens a file.
"""

import json
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.plans.evidence import Series
from adversarium.plans.papers import paper_of
from adversarium.runs.blocks import Block, StoredSeries

DIGITS, CURVE_DIGITS = 9, 7
_SPECIAL = {1000: math.nan, 1001: math.inf, 1002: -math.inf}  # exponents that no number has


def write_rows(path: Path, blocks: Iterable[Block]) -> None:
    """Write blocks as a row file."""
    columns: list[np.ndarray] = []
    lines = [_line(block, columns) for block in blocks]
    rounded = [_decimal(values) for values in columns]
    mantissa = np.concatenate([np.empty(0, dtype=np.int32), *(m for m, _ in rounded)])
    exponent = np.concatenate([np.empty(0, dtype=np.int16), *(e for _, e in rounded)])
    planes = mantissa.view(np.uint8).reshape(-1, 4).T.copy()
    index = np.frombuffer(json.dumps(lines, ensure_ascii=False).encode(), dtype=np.uint8)
    arrays = {"index": index, "mantissa": planes, "exponent": exponent}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as file:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # no time stamp: equal rows give equal files
            entry.compress_type = zipfile.ZIP_LZMA
            with file.open(entry, "w") as out:
                np.lib.format.write_array(out, array, allow_pickle=False)


def _line(block: Block, columns: list[np.ndarray]) -> dict[str, object]:
    """Return a block without its values as JSON, and append the values to `columns`."""
    kept: dict[str, Any] = {}
    for probe, one in block.kept.items():
        series = {}
        for name, values in one.series.items():
            columns.append(values.values)
            axes = {k: list(v) for k, v in values.axes.items()}
            same = one.times is not None and values.t.tolist() == list(one.times)
            series[name] = {"t": None if same else values.t.tolist(), "axes": axes}
        kept[probe] = {"times": None if one.times is None else list(one.times), "series": series}
    return {**vars(block), "kept": kept, "seeds": list(block.seeds)}


def _decimal(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Round the values of a series (seed, t, …) to m·10^e, and return the integers m and e."""
    most = CURVE_DIGITS if values.shape[1] > 1 else DIGITS
    mantissa = np.zeros(values.size, dtype=np.int32)
    exponent = np.zeros(values.size, dtype=np.int16)
    for i, value in enumerate(values.ravel().tolist()):
        if value != value or value in (math.inf, -math.inf):
            exponent[i] = 1000 if value != value else 1001 if value > 0 else 1002
        elif value:
            digits, _, power = f"{value:.{most - 1}e}".partition("e")
            whole, shift = int(digits.replace(".", "")), int(power) - most + 1
            while whole % 10 == 0 and shift < 0:  # 0.5 is 5·10^−1, which compresses better
                whole, shift = whole // 10, shift + 1
            mantissa[i], exponent[i] = whole, shift
    return mantissa, exponent


def _floats(mantissa: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Return the numbers m·10^e, each rounded only once (powers of ten up to 10^22 are exact)."""
    m, e = mantissa.astype(float), exponent.astype(int)
    exact = np.abs(e) <= 22
    power = 10.0 ** np.abs(np.where(exact, e, 0))
    values = np.where(e < 0, m / power, m * power)
    for i in np.flatnonzero(~exact):
        special = _SPECIAL.get(int(e[i]))
        values[i] = float(f"{int(mantissa[i])}e{e[i]}") if special is None else special
    return values


def read_rows(path: Path) -> list[Block]:
    """Return the blocks of a row file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            lines = json.loads(file["index"].tobytes())
            mantissa = np.ascontiguousarray(file["mantissa"].T).view(np.int32).ravel()
            numbers = _floats(mantissa, file["exponent"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as fault:
        raise ValueError(f"{path} is not a row file ({fault}); restore it from a copy.") from fault
    blocks, begin = [], 0
    for line in lines:
        kept = {}
        for probe, one in line["kept"].items():
            times = None if one["times"] is None else tuple(one["times"])
            series = {}
            for name, stored in one["series"].items():
                t = np.array(times if stored["t"] is None else stored["t"])
                axes = {k: tuple(v) for k, v in stored["axes"].items()}
                shape = (len(line["seeds"]), len(t), *(len(v) for v in axes.values()))
                end = begin + math.prod(shape)
                series[name] = Series(t, numbers[begin:end].reshape(shape), axes)
                begin = end
            kept[probe] = StoredSeries(times, series)
        blocks.append(Block(**{**line, "seeds": tuple(line["seeds"]), "kept": kept}))
    return blocks


Asked = Mapping[str, Mapping[str, tuple[int, ...] | None]]  # the times, by key and probe


def thinned(blocks: Iterable[Block], asked: Asked) -> Iterator[Block]:
    """Yield the blocks reduced to the requested probes and times. If several blocks have the same
    probe and seed, only the first of them keeps it."""
    seen: set[tuple[str, str, int]] = set()
    for block in blocks:
        wanted = asked.get(block.key, {})
        by_seeds: dict[tuple[int, ...], dict[str, StoredSeries]] = {}
        for probe, kept in block.kept.items():
            new = [i for i, s in enumerate(block.seeds) if (block.key, probe, s) not in seen]
            if probe not in wanted or not new or not _covers(kept.times, wanted[probe]):
                continue
            seen |= {(block.key, probe, block.seeds[i]) for i in new}
            by_seeds.setdefault(tuple(new), {})[probe] = _cut(kept, new, wanted[probe])
        for places, recordings in by_seeds.items():
            yield replace(block, seeds=tuple(block.seeds[i] for i in places), kept=recordings)


def _covers(times: tuple[int, ...] | None, wanted: tuple[int, ...] | None) -> bool:
    return wanted is None or (times is not None and set(wanted) <= set(times))


def _cut(kept: StoredSeries, places: Sequence[int], times: tuple[int, ...] | None) -> StoredSeries:
    """Return the series of the seeds at `places`, at the given times (None: all, as for a fold)."""
    series = {}
    for name, one in kept.series.items():
        at = slice(None) if times is None else np.isin(one.t, times)
        t = one.t if times is None else one.t[at]
        series[name] = Series(t, one.values[list(places)][:, at], one.axes)
    return StoredSeries(times, series)


@cache
def shipped(experiment: str) -> tuple[Block, ...]:
    """Return the rows of an experiment that its paper ships in its folder `results`."""
    paper = paper_of(experiment)
    path = paper.folder / "results" / f"{experiment}.npz" if paper else None
    return tuple(read_rows(path)) if path is not None and path.is_file() else ()
