"""The checks of CONV's App. C for the quadratic ReLU."""

import math

from adversarium.papers.conv.orders import bounded, pooled
from adversarium.plans import (
    Check,
    Reading,
    Where,
    at_most,
    counted_as,
    each,
    every,
    exponent,
    frequency,
    in_regime,
    last,
    level,
    parts,
    setting,
    where,
)

SIZES = (2, 3, 4)
DRAWS = 7  # a seed and ε: 560 of twenty seeds and four ε
FEW = (0.2, 0.1, 0.05)
STARTS = 27  # a seed, where a frequency of 0.99 is judged
# (data, ε): R; some W of B(R) has L_* ≤ ε/2
NEEDED = {
    ("circle", 0.2): 0.98,
    ("circle", 0.1): 1.23,
    ("circle", 0.05): 1.41,
    ("odd points", 0.2): 1.91,
    ("odd points", 0.1): 2.4,
    ("odd arcs", 0.4): 1.44,
}


def _short(d: int) -> Check:
    return each(where("ridge", d=d), lambda run: level(last("MΣ|c|²", run), high=math.exp(d)))


def _order(d: int) -> Check:
    """M^(1/(d+1)) times the sup error does not grow."""
    return bounded("error", "M", where("uniform", d=d), 0.0, lambda M: M ** (-1 / (d + 1)))


_given = Reading("(ε/2)/L_* of a W of B(R)", lambda run: 1 / run.last("reference"), ("reference",))


def _reached(place: Where) -> Check:
    return each(
        place,
        lambda run: every(in_regime(_given.on(run), 1.0), at_most(last("least/ε", run), 1.0)),
    )


_kept = pooled("draws with squared error at most ε", where("ridge"), "kept")
_often = pooled(
    "starts that reach ε = 0.2",
    where("reaching", A="exact", **{"1/ε": 5.0}),
    "reached",
    STARTS,
)

checks: dict[str, Check] = {
    "conv.lemC.2": counted_as(
        "level",
        parts(
            {
                "squared L2 error ≤ ε with probability 0.99, all d and ε together": frequency(
                    _kept, DRAWS, 0.99
                ),
                "MΣ|c_r|² ≤ e^d": every(*(_short(d) for d in SIZES)),
                "squared error/ε at ε = 0.0001, told": setting(
                    "level", *(last("error²/ε", where("ridge", d=d, **{"1/ε": 10000}))
                               for d in SIZES),
                ),
            }
        ),
    ),
    "conv.thmC.1": counted_as(
        "exponent",
        parts(
            {
                **{
                    f"sup error of order M^(−1/{d + 1}), d = {d}": _order(d)
                    for d in SIZES
                },
                **{
                    f"MΣ|c_r|² does not grow, d = {d}": exponent(
                        f"power of M in MΣ|c_r|², d = {d}", "MΣ|c|²/|h|²", "M",
                        where("uniform", d=d), 0.0, 0.05,
                    )
                    for d in SIZES
                },
                "change to the next point of the circle over the sup, M = 8192, told": setting(
                    "exponent", last("to the next", where("uniform", d=2, M=8192))
                ),
            }
        ),
    ),
    "conv.corC.1.corrected": counted_as(
        "level",
        parts(
            {
                "no antipodal contact: every ε is reached within 4R²/(εα)": _reached(
                    where("reaching", data="circle")
                ),
                "contact of different labels alone: the same, points": _reached(
                    where("reaching", data="odd points")
                ),
                "contact of different labels alone: the same, arcs": _reached(
                    where("reaching", data="odd arcs")
                ),
                "with probability 0.99 at ε = 0.2, with and without contact together": frequency(
                    _often, STARTS, 0.99
                ),
                **{
                    f"L_A < 0.001 in the end, {data}": level(
                        last("L_A", where("ends", data=data)), high=1e-3
                    )
                    for data in ("odd points", "lifted")
                },
            }
        ),
    ),
}  # fmt: skip
