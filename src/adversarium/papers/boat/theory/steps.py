"""Judge statements with η = n/d and with the printed η ≤ 1/(Cd²).

With the printed η, the loss leaves its start only after about 4Cnd steps; everything that does not
depend on the scale of the weights can be measured at once.
"""

from collections.abc import Callable, Mapping

from adversarium.plans import Check, CountedAs, Parts

from .families import PRINTED, named


def at_both_steps(parts: Mapping[str, Callable[..., Check]]) -> dict[str, Check]:
    """Return every part twice: with η = n/d, and with the printed η ≤ 1/(Cd²)."""
    return {
        named(name, step): make(step=step) for name, make in parts.items() for step in ("", PRINTED)
    }


def both_steps(make: Callable[..., Check], kind: str = "inequality") -> Check:
    """Return a check in two parts: with η = n/d, and with the printed η ≤ 1/(Cd²)."""
    return CountedAs(kind, Parts({"η = n/d": make(step=""), PRINTED: make(step=PRINTED)}))
