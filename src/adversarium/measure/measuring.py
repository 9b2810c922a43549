"""Turn a function into a probe by declaring the names, symbols and axes of what it measures."""

import inspect
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, TypeVar

from torch import Tensor

from adversarium.sockets import Measure, Rows

F = TypeVar("F", bound=Callable[..., Any])
State_ = TypeVar("State_")
Scene_ = TypeVar("Scene_")

Measuring = Callable[[State_, Scene_], Tensor | Rows]  # a function that is a probe


def measures(
    symbol: str = "",
    /,
    *,
    axes: tuple[str, ...] = (),
    share: bool = False,
    version: int = 1,
    **symbols: str,
) -> Callable[[F], F]:
    """Turn a function into a probe of one quantity, named like it, or of several named quantities.

    The strings are the symbols of these quantities. `share`: the values lie in [0, 1]. `version`:
    increase it when the values change, so that stored values are not reused.

    >>> @measures(r"$\\|W\\|_F$")
    ... def length(state, scene):
    ...     "The length of the weights."
    ...     return state.W.flatten(1).norm(dim=-1)
    >>> length.measures[0].name, length.measures[0].sentence
    ('length', 'The length of the weights.')
    """

    def with_measures(function: F) -> F:
        named = symbols or {function.__name__: symbol}
        vars(function)["measures"] = described(named, function.__doc__, axes, share=share)
        vars(function)["version"] = version
        return function

    return with_measures


def described(
    symbols: Mapping[str, str],
    doc: str | None,
    axes: tuple[str, ...] = (),
    points: int = 0,
    share: bool = False,
) -> tuple[Measure, ...]:
    """Return measures with the given names and symbols, and with descriptions from a docstring."""
    return tuple(
        Measure(name, symbol, sentence(doc, name), axes, points, share)
        for name, symbol in symbols.items()
    )


@lru_cache(maxsize=4096)
def sentence(doc: str | None, name: str = "") -> str:
    """Return the description of a name in a docstring.

    This is the line that begins with `name:` and the lines indented under it, or else the first
    paragraph.

    >>> sentence("Two halves of w.\\n\\nleft: the first\\n    m/2 filters.", "left")
    'the first m/2 filters.'
    >>> sentence("Two halves of w.\\n\\nleft: the first\\n    m/2 filters.")
    'Two halves of w.'
    """
    text = inspect.cleandoc(doc or "")
    line = re.search(rf"^{re.escape(name)}: (.*(?:\n +.*)*)", text, re.MULTILINE)
    return " ".join((line[1] if line else text.partition("\n\n")[0]).split())


def measured(probe: object) -> tuple[Measure, ...]:
    """Return the measures of a probe or a fold; a plain function has one, named like itself."""
    known = getattr(probe, "measures", None)
    if known is not None:
        return tuple(known)
    plain = probe.func if isinstance(probe, partial) else probe
    name = getattr(plain, "__name__", type(plain).__name__)
    return (Measure(name, name, sentence(plain.__doc__)),)
