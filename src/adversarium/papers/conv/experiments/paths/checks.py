"""Checks of CONV's remark on projection."""

import numpy as np

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Level,
    Ordering,
    Parts,
    Reading,
    Rows,
    Where,
    last,
    where,
)

from ...theory.orders import bounded
from .plan import DEPTHS, RADII

DEEP_RUNS = [dict(A="exact", m=m, H=H) for m in (64, 128, 256, 512) for H in DEPTHS] + [
    dict(A=rule, m=m, H=3) for rule in ("identity", "fgsm") for m in (64, 128)
]  # runs of the deep network on six caps


def _difference_in_half_ball(run: Rows) -> np.ndarray:
    """Return the smallest L_A of free descent minus that in the ball of half its distance."""
    difference: np.ndarray = run.last("free − projected")[..., 0]
    return difference


def _not_higher(runs: Where) -> Check:
    """Check that free descent reaches an L_A no larger than in the ball of half its distance.

    In balls that contain the free descent, the two descents are identical.
    """
    half = Reading("free − projected, half", _difference_in_half_ball, ("free − projected",))
    return Each(runs, lambda run: AtMost(half.on(run), 1e-9))


def _free_lower(held: Where, free: Where) -> Check:
    """Check that free descent reaches a smaller L_A than projected descent."""
    return Ordering(last("least L_A", held), than=last("least L_A", free))


checks: dict[str, Check] = {
    "conv.rem5.1.proj": CountedAs(
        "level",
        Parts(
            {
                "two layers: free descent ends no higher than projected": _not_higher(
                    where("free")
                ),
                "two layers, m = 1024: free ends lower than in B(½), B(1) and B(2)": Every(
                    *(_free_lower(where("by time, held", R=R), where("by time")) for R in RADII[:3])
                ),
                "deep, in half of the free path's ball: free ends lower": Each(
                    where("deep"), lambda run: Level(last("free − projected, half", run), high=0.0)
                ),
                "deep, six caps of R⁵, H = 1, 2, 3: free ends lower than in B(½)": Every(
                    *(
                        _free_lower(where("six caps, held", R=0.5, **at), where("six caps", **at))
                        for at in DEEP_RUNS
                    )
                ),
                **{
                    f"deep: the free path does not grow with m, H = {H}": bounded(
                        "path", "m", where("deep", H=H), 0.05
                    )
                    for H in (1, 2, 4)
                },
                "deep: no descent diverges": Each(
                    where("deep"), lambda run: AtMost(last("last/first", run), 1.0)
                ),
            }
        ),
    ),
}  # fmt: skip
