"""Checks of CONV's questions in §7."""

import itertools

import numpy as np

from adversarium.plans import (
    Check,
    CountedAs,
    Each,
    Every,
    Evidence,
    Hypothesis,
    Level,
    Need,
    Ordering,
    Parts,
    last,
    quantity,
    where,
)

from .plan import AMBIENT, COUNTS, LATENT, TEACHERS


def _independent_of_d(n: int, k: int) -> Check:
    """Check that R in larger ambient dimensions agrees with that in the smallest to a tenth."""
    smallest = where("latent", n=n, k=k, d=AMBIENT[0])

    def one(d: int) -> Check:
        larger = where("latent", n=n, k=k, d=d)

        def ratio(rows: Evidence) -> np.ndarray:
            quotient: np.ndarray = rows.one(larger).last("R") / rows.one(smallest).last("R")
            return quotient

        name = f"R in d = {d} over R in d = {AMBIENT[0]}, k = {k}, n = {n}"
        return Level(
            quantity(name, ratio, *(Need(w, ("R",)) for w in (larger, smallest))), 0.9, 1.1
        )

    return Every(*(one(d) for d in AMBIENT[1:]))


checks: dict[str, Check] = {
    "conv.sec7.R": CountedAs(
        "level",
        Parts(
            {
                "the least R with L_* ≤ ε is below |g|_RF/2": Each(
                    where("needed"), lambda run: Level(last("2 high/|g|_RF", run), high=1.0)
                ),
                "the least R with L_* ≤ ε over |g|_RF, at most 1 by construction": Hypothesis(
                    "level",
                    *(
                        last("high/|g|_RF", where("needed", d=d, n=4, **{"1/ε": 80}))
                        for d in (2, 3, 5)
                    ),
                ),
                "both ends of the least R, circle, ε = 0.05, reported": Hypothesis(
                    "level",
                    *(
                        last(end, where("needed", d=2, n=4, **{"1/ε": 20}))
                        for end in ("low", "high")
                    ),
                ),
                "the smallest R/|g|_RF at ε = 0.2 and 0.0125, d = 10, n = 16": Hypothesis(
                    "level",
                    *(
                        last("high/|g|_RF", where("needed", d=10, n=16, **{"1/ε": k}))
                        for k in (5, 80)
                    ),
                ),
                "the least R at ε = 0.05, n = 8, d = 5 and 10, reported": Hypothesis(
                    "level",
                    *(last("high", where("needed", d=d, n=8, **{"1/ε": 20})) for d in (5, 10)),
                ),
            }
        ),
    ),
    "conv.sec7.lowdim": CountedAs(
        "ordering",
        Parts(
            {
                "largest violation at which cutting planes end, reported": Hypothesis(
                    "ordering", last("violation", where("latent", n=COUNTS[0], k=3, d=10))
                ),
                **{
                    f"R does not depend on d, k = {k}, n = {n}": _independent_of_d(n, k)
                    for n, k in itertools.product(COUNTS, LATENT)
                },
                **{
                    f"R rises from k = {a} to {b}, n = {n}": Ordering(
                        last("R", where("latent", n=n, k=b, d=20)),
                        than=last("R", where("latent", n=n, k=a, d=20)),
                    )
                    for n in COUNTS
                    for a, b in itertools.pairwise(LATENT)
                },
            }
        ),
    ),
    "conv.sec7.gen": CountedAs(
        "ordering",
        Parts(
            {
                f"{teacher} teacher, {n} arcs: the training loss falls by more": Ordering(
                    last("fall of train", where("widening", teacher=teacher, n=n)),
                    than=last("fall of test", where("widening", teacher=teacher, n=n)),
                )
                for teacher in TEACHERS
                for n in (10, 40)
            }
        ),
    ),
}  # fmt: skip
