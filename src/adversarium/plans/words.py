"""What knobs are: a sentence, symbols, fields, limits; read without torch."""

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Word:
    """A knob or a field: what it is, the symbols that mean it, the fields of a run that it names,
    and its limits."""

    name: str
    says: str = ""
    symbols: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    low: float = -math.inf
    above: float = -math.inf
    even: bool = False

    @property
    def limits(self) -> str:
        """The limits in words, such as '>= 1'; nothing where there are none.

        >>> word("m").limits, word("eta").limits, word("sets").limits
        ('>= 1', '> 0', '')
        """
        ends = [f"> {self.above:g}"] * (self.above > -math.inf)
        ends += [f">= {self.low:g}"] * (self.low > -math.inf)
        return " and ".join((["even"] if self.even else []) + ends)

    def refuses(self, value: Any) -> str:
        """Why a value is none for it; nothing where it is.

        >>> word("m").refuses(0)
        'm (width: number of filters or hidden units) needs a finite number >= 1, got 0.'
        """
        wrong = [v for v in _numbers(value) if not self._takes(v)]
        if not wrong:
            return ""
        told = f" ({self.says})" if self.says else ""
        limits = f" {self.limits}" if self.limits else ""
        return f"{self.name}{told} needs a finite number{limits}, got {wrong[0]}."

    def _takes(self, value: float) -> bool:
        finite = math.isfinite(value) or self.name in _INFINITE
        odd = self.even and value % 2
        return finite and value >= self.low and value > self.above and not odd


def counted(count: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "run"), counted(0, "cell")
    ('1 run', '0 cells')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


_INFINITE = ("p",)  # the norm of a ball may be the maximum


def _numbers(value: Any) -> Iterable[float]:
    if isinstance(value, (tuple, list)):
        return (n for v in value for n in (_numbers(v) if not isinstance(v, (tuple, list)) else ()))
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (value,) if number else ()


@cache
def _table() -> dict[str, Any]:
    text = (files("adversarium.plans") / "words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def word(name: str, experiment: str = "") -> Word:
    """What a knob is in an experiment; a bare word where nothing is said of it."""
    told = _table().get(experiment, {}).get(name) or _table().get(name, {})
    told = told if "says" in told else {}
    several = {k: tuple(told.get(k, ())) for k in ("symbols", "fields")}
    plain = {k: v for k, v in told.items() if k not in several}
    return Word(name=name, symbols=several["symbols"], fields=several["fields"] or (name,), **plain)


def meant(symbol: str, knobs: Iterable[str], experiment: str = "") -> str:
    """The knob that a symbol means among those that there are; nothing where none is meant.

    >>> meant("λ", ("d", "lam"))
    'lam'
    """
    return next((k for k in knobs if symbol in word(k, experiment).symbols), "")


def word_of(symbol: str) -> str:
    """The laboratory's word for a symbol; the symbol where it has none.

    >>> word_of("η"), word_of("N")
    ('eta', 'n')
    """
    named = (n for n, told in _table().items() if symbol in told.get("symbols", ()))
    return next(named, symbol)


_KINDS = {bool: "yes or no", int: "whole number", float: "number", str: "word"}


def kind(value: Any) -> str:
    """What a knob takes, told by a value that it has.

    >>> kind((2, 3)), kind(0.5), kind(((2, 25), (2, 50)))
    ('whole numbers', 'number', 'tuples')
    """
    if isinstance(value, (tuple, list)):
        kinds = {kind(v) for v in value} or {"word"}
        single = next(iter(kinds)) if len(kinds) == 1 else "number"
        return "tuples" if single == "tuples" or single.endswith("s") else f"{single}s"
    return _KINDS.get(type(value), "number or none")
