"""The checks of CONV's remark on projection."""

import numpy as np

from adversarium.papers.conv.orders import bounded
from adversarium.plans import (
    Check,
    Reading,
    Rows,
    Where,
    at_most,
    counted_as,
    each,
    every,
    last,
    level,
    ordering,
    parts,
    where,
)

SHARES = (0.5, 1.0, 2.0)  # of the free path, projected onto
RADII = (0.5, 1.0, 2.0, 4.0, 8.0)
DEPTHS = (1, 2, 3)
CAPS = [dict(A="exact", m=m, H=H) for m in (64, 128, 256, 512) for H in DEPTHS] + [
    dict(A=rule, m=m, H=3) for rule in ("identity", "fgsm") for m in (64, 128)
]  # of the deep network on six caps


def _in_half(run: Rows) -> np.ndarray:
    made: np.ndarray = run.last("free − projected")[..., 0]
    return made


def _free(meant: Where) -> Check:
    """In half of the free path's ball; in balls as large as the path both are one descent."""
    half = Reading("free − projected, half", _in_half, ("free − projected",))
    return each(meant, lambda run: at_most(half.on(run), 1e-9))


def _lower(held: Where, free: Where) -> Check:
    return ordering(last("least L_A", held), than=last("least L_A", free))


checks: dict[str, Check] = {
    "conv.rem5.1.proj": counted_as(
        "level",
        parts(
            {
                "two layers: free descent ends no higher than projected": _free(where("free")),
                "two layers, m = 1024: free ends lower than in B(½), B(1) and B(2)": every(
                    *(_lower(where("by time, held", R=R), where("by time")) for R in RADII[:3])
                ),
                "deep, in half of the free path's ball: free ends lower": each(
                    where("deep"), lambda run: level(last("free − projected, half", run), high=0.0)
                ),
                "deep, six caps of R⁵, three attacks: free ends lower than in B(½)": every(
                    *(
                        _lower(where("six caps, held", R=0.5, **at), where("six caps", **at))
                        for at in CAPS
                    )
                ),
                **{
                    f"deep: the free path does not grow with m, H = {H}": bounded(
                        "path", "m", where("deep", H=H), 0.05
                    )
                    for H in (1, 2, 4)
                },
                "deep: no descent diverges": each(
                    where("deep"), lambda run: at_most(last("last/first", run), 1.0)
                ),
            }
        ),
    ),
}  # fmt: skip
