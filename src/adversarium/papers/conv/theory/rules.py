"""Check the names of the attacks in CONV's plans."""

from collections.abc import Iterable

from adversarium.attacks import FiniteAttack


def refuse_unknown(rules: Iterable[str]) -> None:
    """Raise ValueError unless every name is `identity` (no attack) or a rule of `FiniteAttack`.

    The rules are perturbation functions in the sense of Def. 3.2 of CONV.
    """
    for rule in set(rules) - {"identity"}:
        FiniteAttack(rule=rule)  # type: ignore[arg-type]
