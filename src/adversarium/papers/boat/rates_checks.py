"""The checks of BOAT's test errors over attacks and sizes."""

import itertools
import math

import numpy as np

from adversarium.papers.boat.families import SHARP, SMOOTH
from adversarium.plans import (
    Check,
    Reading,
    Rows,
    counted_as,
    every,
    exponent,
    ladder,
    last,
    no_decay,
    ordering,
    parts,
    where,
)

BOTH = (SHARP, SMOOTH)
Q = 0.3  # 1/C of item 3 as one constant, below the mean margin/(‖W‖₂√(n/d)‖μ‖²) of C ≥ 8
SHARES = (0.1, 0.325, 0.55, 0.775, 1.0)  # of the largest α/‖μ‖ that item 3 admits
BASE = {  # n, d, α/‖μ‖: one thing at a time
    "n": tuple((n, 200_000, 0.05) for n in (50, 100, 200)),
    "d": tuple((100, d, 0.05) for d in (100_000, 200_000, 400_000)),
    "ratio": tuple((100, 200_000, ratio) for ratio in (0.025, 0.05, 0.1, 0.2)),
    "both": tuple((n, 2000 * n, 0.05) for n in (25, 50, 100, 200)),
}


def _reach(run: Rows) -> float:
    """q‖μ‖²√(n/d) − α."""
    one = run.run
    return float(Q * one.data.mu**2 * math.sqrt(one.n / one.data.d) - one.attack.radius)


robust_rate = Reading(
    "−log of the robust error over (q‖μ‖²√(n/d) − α)²",
    lambda run: -run.last("log_unproven") / _reach(run) ** 2,
    ("log_unproven",),
)


robust_promise = Reading(
    "½(q‖μ‖²√(n/d) − α)² over −log of the robust error",
    lambda run: max(_reach(run), 0.0) ** 2 / 2 / -run.last("log_unproven"),
    ("log_unproven",),
)


kept = Reading(
    "−log of the robust error ≥ ½(q‖μ‖²√(n/d) − α)²",
    lambda run: (robust_promise.of(run) <= 1).astype(float),
    robust_promise.names,
)


def per_K(name: str, told: str) -> Reading:
    """−log of an error over K."""

    def of(run: Rows) -> np.ndarray:
        return np.asarray(-run.last(name) / run.task.coordinates["K"], dtype=float)

    return Reading(f"−log of the {told} error over K", of, (name,))


clean_per_K, robust_per_K = per_K("log_error", "clean"), per_K("log_unproven", "robust")


def steady(number: Reading, family: str, along: str, fixed: str, places) -> Check:
    """No decay along one coordinate, at every value of another."""
    return every(
        *(
            no_decay(f"power of {along} in {number.name} ({fixed} = {at:g}, {phi})", number, along,
                     where(family, φ=phi, **{fixed: at}))
            for at in places
            for phi in BOTH
        )
    )  # fmt: skip


def _falls_with_K(name: str, proven: str = "") -> Check:
    """At n = 56, ‖μ‖² = 32K(1 + α)², α = 1: every step of K lowers the error."""
    return every(
        *(
            ordering(last(name, where("K, n", n=56, K=a, φ=phi)),
                     than=last(proven or name, where("K, n", n=56, K=b, φ=phi)))
            for a, b in ((16, 64),)
            for phi in BOTH
        )
    )  # fmt: skip


def _sorted(family: str, rising: bool) -> Check:
    """The robust error along a family: every step one way, paired by seed; what an attack finds at
    the worse place against what is proven at the better one."""
    steps = []
    for phi in BOTH:
        places = [where(family, n=n, d=d, φ=phi, **{"α/‖μ‖": r}) for n, d, r in BASE[family]]
        for before, after in itertools.pairwise(places):
            worse, better = (after, before) if rising else (before, after)
            found, proven = last("log_robust_error", worse), last("log_unproven", better)
            steps.append(ordering(found, than=proven))
    return every(*steps)


checks: dict[str, Check] = {
    "boat.thm3.1.robust_error": counted_as(
        "level",
        parts(
            {
                "−log of the robust error ≥ ½(q‖μ‖²√(n/d) − α)², q = 0.3": every(
                    *(
                        ladder(
                            f"{kept.name} (share = {share:g}, {phi})",
                            kept,
                            "C",
                            where("gate", φ=phi, share=share),
                            always=True,
                        )
                        for share in SHARES
                        for phi in BOTH
                    )
                ),
                "one constant up to the gate": steady(robust_rate, "gate", "share", "C", (8, 16)),
            }
        ),
    ),
    "boat.sec3.4.sample_complexity": counted_as(
        "exponent",
        parts(
            {
                "the clean error falls with K": _falls_with_K("log_error"),
                "the robust error falls with K": _falls_with_K("log_robust_error", "log_unproven"),
                **{
                    f"{told}, along {along} at fixed K": steady(
                        number, f"K, {along}", along, "K", (16, 64)
                    )
                    for told, number in (("clean", clean_per_K), ("robust", robust_per_K))
                    for along in ("n", "‖μ‖", "α")
                },
            }
        ),
    ),
    "boat.sec3.4.monotone": counted_as(
        "ordering",
        parts(
            {
                "falls with n": _sorted("n", rising=False),
                "rises with d": _sorted("d", rising=True),
                "rises with α/‖μ‖": _sorted("ratio", rising=True),
                "n and d together, at fixed n/d: no trend": every(
                    *(
                        exponent(
                            f"power of n in −log of the robust error ({phi})",
                            Reading(
                                "−log of the robust error",
                                lambda run: -run.last("log_unproven"),
                                ("log_unproven",),
                            ),
                            "n",
                            where("both", φ=phi),
                            0.0,
                            0.1,
                        )
                        for phi in BOTH
                    )
                ),
            }
        ),
    ),
}
