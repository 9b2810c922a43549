"""Define the result of a finished computation: arrays by probe and name, and their origin."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adversarium.plans.evidence import Series

TRIAL = ""  # stands for the probe in the rows of a trial, which returns all its numbers at once


@dataclass(frozen=True)
class StoredSeries:
    """What a probe, fold or trial recorded: the requested times (None for a fold or a trial) and
    the series by name."""

    times: tuple[int, ...] | None
    series: Mapping[str, Series]


@dataclass(frozen=True)
class Block:
    """The result of one finished block of seeds."""

    key: str
    experiment: str
    config: Mapping[str, Any]
    engine: str
    refused: Mapping[str, str]
    seeds: tuple[int, ...]
    seconds: float  # per seed
    provenance: Mapping[str, Any]
    kept: Mapping[str, StoredSeries]  # by the digest of the probe


@dataclass(frozen=True)
class UnitResult:
    """The blocks of a unit, and the reason of every failed run by its key."""

    blocks: tuple[Block, ...]
    failures: Mapping[str, str]
