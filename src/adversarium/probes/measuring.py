"""What makes a function a probe: the names, symbols and axes of the numbers that it returns."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Generic, TypeVar

from torch import Tensor

from adversarium.sockets import Measure, Rows, Scene_contra, State_contra

State_ = TypeVar("State_")
Scene_ = TypeVar("Scene_")
R = TypeVar("R", bound=Tensor | Rows)
R_co = TypeVar("R_co", bound=Tensor | Rows, covariant=True)

Measuring = Callable[[State_, Scene_], Tensor | Rows]


@dataclass(frozen=True, repr=False)
class Measured(Generic[State_contra, Scene_contra, R_co]):
    """A function of a state and its scene as a probe."""

    function: Callable[[State_contra, Scene_contra], R_co]
    measures: tuple[Measure, ...]

    def __post_init__(self) -> None:
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):  # as functools.wraps
            object.__setattr__(self, name, getattr(self.function, name))
        object.__setattr__(self, "__wrapped__", self.function)  # so that doctest finds it

    def __call__(self, state: State_contra, scene: Scene_contra) -> R_co:
        return self.function(state, scene)

    def __repr__(self) -> str:
        return self.function.__qualname__

    def __reduce__(self) -> str:
        """Pickled by its name, under which the module holds this probe, not the function."""
        return self.function.__qualname__


def measures(
    symbol: str = "", /, *, axes: tuple[str, ...] = (), share: bool = False, **symbols: str
) -> Callable[[Callable[[State_, Scene_], R]], Measured[State_, Scene_, R]]:
    """Names what a probe measures: one number under the function's own name, with its symbol, or
    several, each by name. `share`: they lie in [0, 1].

    >>> @measures(r"$\\|W\\|_F$")
    ... def length(state, scene):
    ...     "The length of the weights."
    ...     return state.W.flatten(1).norm(dim=-1)
    >>> length.measures[0].name, length.measures[0].sentence
    ('length', 'The length of the weights.')
    """

    def named(function: Callable[[State_, Scene_], R]) -> Measured[State_, Scene_, R]:
        every = symbols or {function.__name__: symbol}
        return Measured(function, described(every, function.__doc__, axes, share=share))

    return named


def described(
    symbols: Mapping[str, str],
    doc: str | None,
    axes: tuple[str, ...] = (),
    points: int = 0,
    share: bool = False,
) -> tuple[Measure, ...]:
    """Measures by name and symbol; a docstring says what each of them is."""
    return tuple(
        Measure(name, symbol, sentence(doc, name), axes, points, share)
        for name, symbol in symbols.items()
    )


@lru_cache(maxsize=4096)
def sentence(doc: str | None, name: str = "") -> str:
    """What a docstring says of a name: the line that begins with `name:` and those indented under
    it, or else the first paragraph.

    >>> sentence("Two halves of w.\\n\\nleft: the first\\n    m/2 filters.", "left")
    'the first m/2 filters.'
    >>> sentence("Two halves of w.\\n\\nleft: the first\\n    m/2 filters.")
    'Two halves of w.'
    """
    text = inspect.cleandoc(doc or "")
    line = re.search(rf"^{re.escape(name)}: (.*(?:\n +.*)*)", text, re.MULTILINE)
    return " ".join((line[1] if line else text.partition("\n\n")[0]).split())


def measured(probe: object) -> tuple[Measure, ...]:
    """What a probe or a fold measures; a plain function measures one number under its own name."""
    known = getattr(probe, "measures", None)
    if known is not None:
        return tuple(known)
    plain = probe.func if isinstance(probe, partial) else probe
    name = getattr(plain, "__name__", type(plain).__name__)
    return (Measure(name, name, sentence(plain.__doc__)),)
