"""Check how BOAT's test errors depend on attacks and sizes."""

import itertools
import math
from functools import partial

import numpy as np

from adversarium.plans import (
    Check,
    CountedAs,
    Every,
    Exponent,
    NoDecay,
    Ordering,
    Parts,
    Reading,
    Rows,
    last,
    where,
)

from ...theory.families import SHARP, SMOOTH, named
from ...theory.ladder import Ladder
from ...theory.steps import at_both_steps, both_steps
from .plan import BASE, LONG, SHARES

BOTH = (SHARP, SMOOTH)
Q = 0.3  # q, in place of 1/C in item 3; below the mean of margin/(‖W‖₂√(n/d)‖μ‖²) for C ≥ 8


def _reach(run: Rows) -> float:
    """Return q‖μ‖²√(n/d) − α."""
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


promise_holds = Reading(
    "−log of the robust error ≥ ½(q‖μ‖²√(n/d) − α)²",
    lambda run: (robust_promise.of(run) <= 1).astype(float),
    robust_promise.names,
)


def per_K(name: str, kind: str) -> Reading:
    """Return (−log of an error)/K."""

    def of(run: Rows) -> np.ndarray:
        return np.asarray(-run.last(name) / run.task.coordinates["K"], dtype=float)

    return Reading(f"−log of the {kind} error over K", of, (name,))


clean_per_K, robust_per_K = per_K("log_error", "clean"), per_K("log_unproven", "robust")


def steady(number: Reading, family: str, along: str, fixed: str, places, step="") -> Check:
    """Require that a reading does not decay along one coordinate, at several values of another."""
    family = named(family, step)
    return Every(
        *(
            NoDecay(f"power of {along} in {number.name} ({fixed} = {at:g}, {phi})", number, along,
                     where(family, φ=phi, **{fixed: at}))
            for at in places
            for phi in BOTH
        )
    )  # fmt: skip


def _falls_with_K(name: str, proven: str = "", step="") -> Check:
    """Require that the error falls from K = 256 to 512 to 1024, at n = 56, ‖μ‖² = 32K(1 + α)² and
    α = 1."""
    family = named("K, n", step)
    return Every(
        *(
            Ordering(last(name, where(family, n=56, K=K, φ=phi)),
                     than=last(proven or name, where(family, n=56, K=larger, φ=phi)))
            for K, larger in itertools.pairwise((256, 512, 1024))
            for phi in BOTH
        )
    )  # fmt: skip


def _monotone(family: str, rising: bool, step="") -> Check:
    """Require that the robust error changes in one direction along a family, paired by seed: the
    error that an attack finds in the worse setting exceeds the certified error in the better
    one."""
    comparisons = []
    for phi in BOTH:
        settings = [
            where(named(family, step), n=n, d=d, φ=phi, **{"α/‖μ‖": r}) for n, d, r in BASE[family]
        ]
        for before, after in itertools.pairwise(settings):
            worse, better = (after, before) if rising else (before, after)
            found, proven = last("log_robust_error", worse), last("log_unproven", better)
            comparisons.append(Ordering(found, than=proven))
    return Every(*comparisons)


def _promised(family: str, shares, step="") -> Check:
    """Require the bound of item 3 in most draws at the two largest C."""
    return Every(
        *(
            Ladder(
                f"{promise_holds.name} (share = {share:g}, {phi})",
                promise_holds,
                "C",
                where(named(family, step), φ=phi, share=share),
            )
            for share in shares
            for phi in BOTH
        )
    )


def _both_move(step="") -> Check:
    """Require that −log of the robust error has no trend along n at fixed n/d."""
    number = Reading(
        "−log of the robust error", lambda run: -run.last("log_unproven"), ("log_unproven",)
    )
    return Every(
        *(
            Exponent(
                f"power of n in {number.name} ({phi})",
                number,
                "n",
                where(named("both", step), φ=phi),
                0.0,
                0.1,
            )
            for phi in BOTH
        )
    )


def _along_K(number: Reading, step="") -> Check:
    """Require that a reading does not decay along n, ‖μ‖ or α at fixed K."""
    return Every(
        *(
            steady(number, f"K, {along}", along, "K", (256, 1024), step)
            for along in ("n", "‖μ‖", "α")
        )
    )


checks: dict[str, Check] = {
    "boat.thm3.1.robust_error": CountedAs(
        "level",
        Parts(
            at_both_steps(
                {
                    "−log of the robust error ≥ ½(q‖μ‖²√(n/d) − α)², q = 0.3": partial(
                        _promised, "gate", SHARES
                    ),
                    "the same after the long run": partial(_promised, LONG, SHARES[-1:]),
                    "one constant up to the gate": partial(
                        steady, robust_rate, "gate", "share", "C", (8, 16)
                    ),
                }
            )
        ),
    ),
    "boat.sec3.4.sample_complexity": CountedAs(
        "exponent",
        Parts(
            at_both_steps(
                {
                    "the clean error falls with K": partial(_falls_with_K, "log_error"),
                    "the robust error falls with K": partial(
                        _falls_with_K, "log_robust_error", "log_unproven"
                    ),
                    "clean, along n, ‖μ‖ and α at fixed K": partial(_along_K, clean_per_K),
                    "robust, along n, ‖μ‖ and α at fixed K": partial(_along_K, robust_per_K),
                }
            )
        ),
    ),
    "boat.sec3.4.monotone": CountedAs(
        "ordering",
        Parts(
            at_both_steps(
                {
                    "falls with n": partial(_monotone, "n", rising=False),
                    "rises with d": partial(_monotone, "d", rising=True),
                    "rises with α/‖μ‖": partial(_monotone, "ratio", rising=True),
                }
            )
        ),
    ),
    "boat.sec3.4.fixed_n_over_d": both_steps(_both_move, "level"),
}
