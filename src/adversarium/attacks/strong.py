"""The suite of strong attacks: what a verdict of robustness has to survive."""

from adversarium.attacks.gradient import APGD, PGD


def strong_attacks(
    p: float,
    radius: float,
    k: int,
    box: tuple[float, float] | None = None,
    steps: int = 50,
    targets: int = 9,
) -> tuple[APGD | PGD, ...]:
    """The evaluation suite: an adaptive ascent on the logit difference, one on each of the
    `targets` strongest wrong classes, and an independent plain ascent as the second opinion.

    >>> [type(attack).__name__ for attack in strong_attacks(2, 0.5, k=3)]
    ['APGD', 'APGD', 'APGD', 'PGD']
    """
    first = APGD(p=p, radius=radius, steps=steps, restarts=3, box=box)
    ranks = range(1, min(k - 1, targets) + 1 if k > 2 else 1)
    targeted = (
        APGD(p=p, radius=radius, steps=steps, restarts=1, loss=f"targeted:{rank}", box=box)
        for rank in ranks
    )
    plain = PGD(p=p, radius=radius, steps=steps, start="uniform", restarts=2, box=box)
    return (first, *targeted, plain)
