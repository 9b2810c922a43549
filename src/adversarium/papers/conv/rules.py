"""The attacks that CONV's plans take by name."""

from collections.abc import Iterable

from adversarium.attacks import FiniteAttack


def refuse_unknown(rules: Iterable[str]) -> None:
    """Raises where a name is neither `identity`, which leaves the points, nor a rule of §3."""
    for rule in set(rules) - {"identity"}:
        FiniteAttack(rule=rule)  # type: ignore[arg-type]
