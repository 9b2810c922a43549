"""The result of a finished computation: arrays by probe and name, and their origin."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adversarium.plans.evidence import Series

TRIAL = ""  # a trial returns all its numbers at once, without a probe


@dataclass(frozen=True)
class StoredSeries:
    """A recorded probe or fold: the requested times (None for a fold or a trial) and its series by
    name."""

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
    """The blocks of a computation, and the reasons of its failures by key."""

    blocks: tuple[Block, ...]
    failures: Mapping[str, str]
