"""The suite of strong attacks with which robustness is evaluated."""

from typing import Any

from adversarium.attacks.far import Crossings, FarSide
from adversarium.attacks.gradient import APGD, PGD
from adversarium.attacks.nearest import DDN, FAB
from adversarium.attacks.search import RandomSearch
from adversarium.attacks.sparse import SparseAscent
from adversarium.attacks.units import PatchMaximiser, UnitSteps

Member = (
    APGD | PGD | UnitSteps | PatchMaximiser | Crossings | FarSide | FAB | DDN | SparseAscent
    | RandomSearch
)  # fmt: skip


def strong_attacks(
    p: float,
    radius: float,
    k: int,
    box: tuple[float, float] | None = None,
    steps: int = 50,
    targets: int = 9,
) -> tuple[Member, ...]:
    """Return the suite, cheap attacks first, so that others run only on points that withstand them.

    It consists of ascents on the logit difference and towards each of the `targets` strongest wrong
    classes; attacks on units and patches, if the network provides them; attacks that start beyond
    the decision boundary; searches for the nearest misclassified point; and a random search.

    >>> [type(attack).__name__ for attack in strong_attacks(2, 0.5, k=2)][:4]
    ['APGD', 'UnitSteps', 'PatchMaximiser', 'FarSide']
    """
    ball: dict[str, Any] = dict(p=p, radius=radius, box=box)
    own: dict[str, Any] = dict(radius=radius, box=box)
    ranks = [f"targeted:{rank}" for rank in range(1, min(k - 1, targets) + 1 if k > 2 else 1)]
    sparse = (SparseAscent(**own, steps=steps),) if p == 1 else ()
    nearest = (DDN(**own, steps=2 * steps),) if p == 2 else ()
    return (
        APGD(**ball, steps=max(1, steps // 2), restarts=1),
        UnitSteps(**ball),
        PatchMaximiser(**ball),
        FarSide(**ball, steps=max(1, steps // 2)),
        *sparse,
        *nearest,
        APGD(**ball, steps=steps, restarts=3),
        *(APGD(**ball, steps=steps, restarts=1, loss=loss) for loss in ranks),
        FAB(**ball, steps=steps),
        *(FAB(**ball, steps=steps, restarts=1, loss=loss) for loss in ranks),
        Crossings(**ball),
        PGD(**ball, steps=steps, start="uniform", restarts=2),
        RandomSearch(**ball, queries=4 * steps),
    )
