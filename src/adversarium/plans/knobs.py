"""Read the descriptions, symbols, fields and limits of plan parameters (knobs), without torch."""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from adversarium.digest import Json
from adversarium.plans.papers import paper_of


@dataclass(frozen=True, kw_only=True)
class Knob:
    """A parameter of a plan (knob) or a field of a run: its description and symbols, the fields of
    a run that it sets, and its limits."""

    name: str
    says: str = ""
    symbols: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    low: float = -math.inf
    above: float = -math.inf
    even: bool = False

    @property
    def limits(self) -> str:
        """Return the limits as text, such as '>= 1'; empty if there are none.

        >>> knob("m").limits, knob("eta").limits, knob("sets").limits
        ('>= 1', '> 0', '')
        """
        ends = [f"> {self.above:g}"] * (self.above > -math.inf)
        ends += [f">= {self.low:g}"] * (self.low > -math.inf)
        return " and ".join((["even"] if self.even else []) + ends)

    def refuses(self, value: object) -> str:
        """Explain why a value is not allowed; empty if it is allowed.

        >>> knob("m").refuses(0)
        'm (width: number of filters or hidden units) needs a finite number >= 1, got 0.'
        """
        wrong = [v for v in _numbers(value) if not self._takes(v)]
        if not wrong:
            return ""
        meaning = f" ({self.says})" if self.says else ""
        limits = f" {self.limits}" if self.limits else ""
        return f"{self.name}{meaning} needs a finite number{limits}, got {wrong[0]}."

    def _takes(self, value: float) -> bool:
        finite = math.isfinite(value) or self.name in _INFINITE
        odd = self.even and value % 2
        return finite and value >= self.low and value > self.above and not odd


_INFINITE = ("p",)  # p = ∞ is the maximum norm


def _numbers(value: Any) -> Iterable[float]:
    if isinstance(value, (tuple, list)):
        return (n for v in value for n in (_numbers(v) if not isinstance(v, (tuple, list)) else ()))
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (value,) if number else ()


@cache
def _shared() -> Json:
    text = (files("adversarium.plans") / "knobs.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _of_paper(folder: Path) -> Json:
    """Return the knobs that a paper describes; empty if it describes none."""
    path = folder / "knobs.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (ValueError, RecursionError) as fault:
        raise ValueError(f"{path} cannot be read: {fault}.") from fault


def _tables(experiment: str) -> Iterator[Json]:
    """Yield the tables that may describe a knob: the experiment's, its paper's, the shared one."""
    paper = paper_of(experiment)
    if paper is not None:
        known = _of_paper(paper.folder)
        yield known.get(experiment, {})
        yield known
    yield _shared()


def knob(name: str, experiment: str = "") -> Knob:
    """Return a knob of an experiment, without a description if no table describes it."""
    entries = (table.get(name, {}) for table in _tables(experiment))
    entry: Mapping[str, Any] = next((one for one in entries if "says" in one), {})
    several = {k: tuple(entry.get(k, ())) for k in ("symbols", "fields")}
    plain = {k: v for k, v in entry.items() if k not in several}
    return Knob(name=name, symbols=several["symbols"], fields=several["fields"] or (name,), **plain)


def knob_of_symbol(symbol: str, knobs: Iterable[str], experiment: str = "") -> str:
    """Return which of the given knobs a symbol stands for; empty if it is none of them.

    >>> knob_of_symbol("η", ("d", "eta"))
    'eta'
    """
    return next((k for k in knobs if symbol in knob(k, experiment).symbols), "")


def name_of_symbol(symbol: str) -> str:
    """Return the knob that a symbol stands for in all experiments, or else the symbol itself.

    >>> name_of_symbol("η"), name_of_symbol("N")
    ('eta', 'n')
    """
    named = (n for n, entry in _shared().items() if symbol in entry.get("symbols", ()))
    return next(named, symbol)


_KINDS = {bool: "yes or no", int: "whole number", float: "number", str: "word"}


def kind(value: object) -> str:
    """Return the kind of value that a knob takes, inferred from one of its values.

    >>> kind((2, 3)), kind(0.5), kind(((2, 25), (2, 50)))
    ('whole numbers', 'number', 'tuples')
    """
    if isinstance(value, (tuple, list)):
        kinds = {kind(v) for v in value} or {"word"}
        single = next(iter(kinds)) if len(kinds) == 1 else "number"
        return "tuples" if single == "tuples" or single.endswith("s") else f"{single}s"
    return _KINDS.get(type(value), "number or none")
