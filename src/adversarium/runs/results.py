"""Read-only row files: gzipped JSON lines, nine digits, as `results/` ships them."""

import gzip
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.plans.catalogue import papers
from adversarium.plans.evidence import Series
from adversarium.runs.blocks import Block, Kept


def write_rows(path: Path, blocks: Iterable[Block]) -> None:
    """Writes blocks as a row file."""
    with gzip.GzipFile(path, "wb", mtime=0) as raw, io.TextIOWrapper(raw, "utf-8") as file:
        for block in blocks:
            kept = {
                probe: {
                    "times": None if one.times is None else list(one.times),
                    "series": {name: _plain(series) for name, series in one.series.items()},
                }
                for probe, one in block.kept.items()
            }
            line = {**vars(block), "kept": kept, "seeds": list(block.seeds)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


Asked = Mapping[str, Mapping[str, tuple[int, ...] | None]]  # by key and probe: the times


def thinned(blocks: Iterable[Block], asked: Asked) -> Iterator[Block]:
    """The blocks with what is asked for and nothing else: its probes, its times, and every seed's
    once, the first block's."""
    seen: set[tuple[str, str, int]] = set()
    for block in blocks:
        wanted = asked.get(block.key, {})
        apart: dict[tuple[int, ...], dict[str, Kept]] = {}
        for probe, kept in block.kept.items():
            new = [i for i, s in enumerate(block.seeds) if (block.key, probe, s) not in seen]
            if probe not in wanted or not new or not _covers(kept.times, wanted[probe]):
                continue
            seen |= {(block.key, probe, block.seeds[i]) for i in new}
            apart.setdefault(tuple(new), {})[probe] = _cut(kept, new, wanted[probe])
        for places, told in apart.items():
            yield replace(block, seeds=tuple(block.seeds[i] for i in places), kept=told)


def _covers(times: tuple[int, ...] | None, wanted: tuple[int, ...] | None) -> bool:
    return wanted is None or (times is not None and set(wanted) <= set(times))


def _cut(kept: Kept, places: Sequence[int], times: tuple[int, ...] | None) -> Kept:
    """Some of the seeds, at some of the times (None: a fold has none)."""
    series = {}
    for name, one in kept.series.items():
        at = slice(None) if times is None else np.isin(one.t, times)
        t = one.t if times is None else one.t[at]
        series[name] = Series(t, one.values[list(places)][:, at], one.axes)
    return Kept(times, series)


def _plain(series: Series) -> dict[str, object]:
    nine = [float(f"{v:.9g}") for v in series.values.ravel()]
    return {"t": series.t.tolist(), "axes": {k: list(v) for k, v in series.axes.items()},
            "values": nine}  # fmt: skip


def read_rows(path: Path) -> list[Block]:
    """The blocks of a row file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(text) for text in file]
    return [Block(**{**line, "seeds": tuple(line["seeds"]), "kept": _kept(line)}) for line in lines]


def _kept(line: Mapping[str, Any]) -> dict[str, Kept]:
    made = {}
    for probe, one in line["kept"].items():
        series = {}
        for name, told in one["series"].items():
            axes = {k: tuple(v) for k, v in told["axes"].items()}
            shape = (len(line["seeds"]), len(told["t"]), *(len(v) for v in axes.values()))
            values = np.array(told["values"], dtype=float).reshape(shape)
            series[name] = Series(np.array(told["t"]), values, axes)
        times = None if one["times"] is None else tuple(one["times"])
        made[probe] = Kept(times, series)
    return made


@cache
def shipped(experiment: str) -> tuple[Block, ...]:
    """The row file that ships with an experiment: the package's, or one in its paper's folder."""
    name = f"{experiment}.jsonl.gz"
    paper = papers().get(experiment.partition(".")[0])
    places = [Path(str(files("adversarium"))), *([paper.folder] if paper else [])]
    paths = [place / "results" / name for place in places]
    return tuple(block for path in paths if path.is_file() for block in read_rows(path))
