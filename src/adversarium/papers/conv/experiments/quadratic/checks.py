"""Checks of App. C of CONV for the quadratic ReLU."""

import math

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Frequency,
    Hypothesis,
    InRegime,
    Level,
    Open,
    Parts,
    Reading,
    last,
    where,
)

from ...theory.orders import bounded
from ..descents.checks import reaches, starts_reaching
from .plan import SIZES

NEEDED_STEPS = {"odd points": 3000, "lifted": 12000}  # steps that suffice for a loss below 0.001


def _coefficients_bounded(d: int) -> Check:
    """Check that MΣ|c_r|² ≤ e^d in every run of dimension d."""
    return Each(where("ridge", d=d), lambda run: Level(last("MΣ|c|²", run), high=math.exp(d)))


def _order(d: int) -> Check:
    """Check that M^{1/(d+1)} times the largest error does not grow with M."""
    return bounded("error", "M", where("uniform", d=d), 0.03, lambda M: M ** (-1 / (d + 1)))


def _least_integral(number: str) -> Check:
    """Check that the right side of eq. (25) over the least integral does not grow as c_L falls."""
    return Every(*(bounded(number, "1/c_L", where("least integral", d=d), 0.03) for d in SIZES))


_steps_suffice = Reading(
    "steps over those that are needed",
    lambda run: run.last("L_A") * 0 + run.parameter("steps") / NEEDED_STEPS[run.parameter("data")],
    ("L_A",),
)

checks: dict[str, Check] = {
    "conv.lemC.2": CountedAs(
        "level",
        Parts(
            {
                **{
                    f"squared L2 error ≤ ε = 0.01 with probability 0.99, d = {d}": Frequency(
                        last("kept", where("ridge, often", d=d)), "draws", 0.99
                    )
                    for d in SIZES[:2]
                },
                "squared L2 error ≤ ε in every draw, ε = 0.1 to 0.0001": Each(
                    where("ridge"), lambda run: AtMost(last("error²/ε", run), 1.0)
                ),
                "MΣ|c_r|² ≤ e^d": Every(*(_coefficients_bounded(d) for d in SIZES)),
                "MΣ|c_r|² ≤ 1.1 |h|² from ε = 0.01 on (its limit is |h|²)": Every(
                    *(
                        Each(
                            where("ridge", **{"1/ε": k}),
                            lambda run: Level(last("MΣ|c|²", run), high=1.1),
                        )
                        for k in (100, 1000, 10000)
                    )
                ),
                "squared error/ε at ε = 0.0001, reported": Hypothesis(
                    "level", *(last("error²/ε", where("ridge", d=d, **{"1/ε": 10000}))
                               for d in SIZES),
                ),
            }
        ),
    ),
    "conv.thmC.1": CountedAs(
        "exponent",
        Parts(
            {
                **{
                    f"h of five kernel sections, d = {d}: sup error of order M^(−1/{d + 1})": (
                        _order(d)
                    )
                    for d in SIZES[:1]
                },
                "every Lipschitz h of the RKHS, every d and δ": Open(
                    "exponent",
                    "only sums of five kernel sections are tried, with the sup of many points, "
                    "which is a lower bound for d ≥ 3; a proof would decide it",
                ),
                "h of five kernel sections, d = 3, 4: sup error at M = 8192, reported": (
                    Hypothesis(
                        "exponent",
                        *(last("error", where("uniform", d=d, M=8192)) for d in SIZES[1:]),
                    )
                ),
                "constants free of h, as printed: the least MΣ|c_r|² for th, over t": bounded(
                    "least MΣ|c|²", "t", where("scaled"), 0.03
                ),
                "MΣ|c_r|²/|h|² at M = 8192, whose mean is 1 at every M": Hypothesis(
                    "exponent", *(last("MΣ|c|²/|h|²", where("uniform", d=d, M=8192)) for d in SIZES)
                ),
                "change to the next point of the circle, relative to the sup, M = 8192": Hypothesis(
                    "exponent", last("to the next", where("uniform", d=2, M=8192))
                ),
            }
        ),
    ),
    "conv.thmC.1.proof": CountedAs(
        "exponent",
        Parts(
            {
                "eq. (25): right side over the least integral does not grow in 1/c_L, at each d": (
                    _least_integral("printed")
                ),
            }
        ),
    ),
    "conv.thmC.1.proof.corrected": CountedAs("exponent", _least_integral("power d − 1")),
    "conv.corC.1.corrected": CountedAs(
        "level",
        Parts(
            {
                "no antipodal contact: every ε is reached within 4R²/(εα)": reaches(
                    where("reaching", data="circle")
                ),
                "contact of different labels alone: the same, points": reaches(
                    where("reaching", data="odd points")
                ),
                "contact of different labels alone: the same, arcs": reaches(
                    where("reaching", data="odd arcs")
                ),
                "with probability 0.99 from a start on the sphere, ε = 0.2, no contact": Frequency(
                    starts_reaching.on(where("sphere", data="circle")), "starts", 0.99
                ),
                "with probability 0.99 from a start on the sphere, ε = 0.4, contact": Frequency(
                    starts_reaching.on(where("sphere", data="odd points")), "starts", 0.99
                ),
                **{
                    f"L_A < 0.001 in the end, {data}": Every(
                        InRegime(_steps_suffice.on(where("ends", data=data)), 1.0),
                        Level(last("L_A", where("ends", data=data)), high=1e-3),
                    )
                    for data in ("odd points", "lifted")
                },
            }
        ),
    ),
}  # fmt: skip
