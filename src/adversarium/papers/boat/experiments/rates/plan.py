"""The dependence of BOAT's test errors on the attack and on n, d and ‖μ‖.

Paper: for α/‖μ‖ ≤ (1/C)√(n‖μ‖²/d) the robust error is β + 2exp(−cλ‖μ‖²(‖μ‖√(n/d)/C − α/‖μ‖)²)
(Theorem 3.1, item 3); n ≫ d/‖μ‖⁴ ensures a small clean error, n ≫ d(1 + α)²/‖μ‖⁴ a small robust
error; the robust error falls with n/d and rises with α/‖μ‖ (§3.4).
Reading: the family `gate` has sizes at which all assumptions except that on η hold with C = 4, 8,
16, and attacks of 0.1 to 1 times the largest that item 3 permits, for 60 steps and, under the
largest attack, also for 2,000 (with the printed η 250). The families `K` have K =
n‖μ‖⁴/(d(1 + α)²) = 256 and 1024 and vary n, ‖μ‖ and α at fixed K, with ‖μ‖² = 32K(1 + α)² or more
(K = 512 at one size only, between the two); the assumptions hold with C = 2. The families `n`, `d`,
`ratio` and `both` vary one quantity (`both`: n and d at fixed n/d) around n = 112, d = 10⁹, ‖μ‖² =
300,000, where they hold with C = 8. Every family is run with η = n/d and with the largest printed η
= 1/(Cd²). Errors with respect to the clean label come from importance sampling near the decision
boundary; robust errors are certified. The noise is Gaussian; Gram matrices are sampled, not points.
Cost: quick 14 s (2 cores).
"""

import math

from adversarium.measure.errors import risk
from adversarium.plans import Curves, where

from ...theory.cluster_constants import margin_share
from ...theory.cluster_errors import RareError
from ...theory.families import (
    PRINTED,
    SHARP,
    SMOOTH,
    Sizes,
    largest_eta,
    named,
    small_attack,
    theory,
)
from ...theory.regime import gates as gates

SHARES = (0.1, 0.325, 0.55, 0.775, 1.0)  # shares of the largest α/‖μ‖ that item 3 permits
BASE = {  # (n, d, α/‖μ‖) of the families that vary one quantity
    "n": tuple((n, 10**9, 0.02) for n in (56, 112, 224)),
    "d": tuple((112, d, 0.02) for d in (5 * 10**8, 10**9, 2 * 10**9)),
    "ratio": tuple((112, 10**9, ratio) for ratio in (0.005, 0.01, 0.02, 0.04)),
    "both": tuple((n, 10**9 // 112 * n, 0.02) for n in (56, 112, 224, 448)),
}
LENGTH = math.sqrt(300_000)  # ‖μ‖ of these families
LONG = "gate, long"  # the largest attack of `gate`, more steps


quick = dict(
    seeds=5, rungs=(8,), shares=(0.1, 1.0), many=(256,), between=(), counts=(28, 56),
    lengths=(1.0,), radii=(1.0,), moved=("n",), phis=(SMOOTH,), draws=200, until=20, long=0,
    steps=("",),
)  # fmt: skip
paper = dict(seeds=80, phis=(SHARP, SMOOTH))


def plan(
    rungs=(4, 8, 16), shares=SHARES, many=(256, 1024), between=(512,),
    counts=(28, 56, 112, 224), lengths=(1.0, 4.0, 16.0, 64.0), radii=(0.5, 1.0, 2.0, 4.0),
    moved=tuple(BASE), phis=(SHARP, SMOOTH), draws=1000, until=60,
    long=2000, steps=("", PRINTED),
):  # fmt: skip
    def runs(family, at, sizes, phi, until=until, printed=until):
        rare = RareError(radius=sizes.ratio * sizes.mu, draws=draws)
        recorded: dict = dict(probes=(risk,), final=(rare, margin_share))
        for step in steps:
            eta = largest_eta(sizes, at.get("C", 8.0)) if step else None
            last = printed if step else until
            more = dict(recorded, eta=eta, record=(1, last))
            yield theory(named(family, step), at, sizes, last, phi, **more)

    for phi in phis:
        for C in rungs:
            one = small_attack(C)
            for share in shares:
                sizes = Sizes(one.n, one.m, one.d, one.mu, share * C**-1.5)
                yield from runs("gate", {"C": C, "share": share}, sizes, phi)
            if long:
                at = {"C": C, "share": share}
                yield from runs(LONG, at, sizes, phi, until=long, printed=long // 8)
        for K in between:  # at one size, for the fall with K
            yield from runs("K, n", {"K": K, "n": 56}, _sized(K, 56, 1.0, 1.0), phi)
        for K in many:
            for n in counts:
                yield from runs("K, n", {"K": K, "n": n}, _sized(K, n, 1.0, 1.0), phi)
            for length in lengths:
                sizes = _sized(K, 56, length, 1.0)
                yield from runs("K, ‖μ‖", {"K": K, "‖μ‖": sizes.mu}, sizes, phi)
            for radius in radii:
                yield from runs("K, α", {"K": K, "α": radius}, _sized(K, 56, 1.0, radius), phi)
        for family in moved:
            for n, d, ratio in BASE[family]:
                coordinates = {"n": n, "d": d, "α/‖μ‖": ratio}
                yield from runs(family, coordinates, Sizes(n, 72, d, LENGTH, ratio), phi)


def _sized(K, n, length, radius):
    """Return sizes with n‖μ‖⁴/(d(1 + α)²) = K and ‖μ‖² = 32K(1 + α)²·length."""
    reach = (1 + radius) ** 2
    square = 32 * K * reach * length
    return Sizes(n, 72, round(n * square**2 / (K * reach)), math.sqrt(square), radius / square**0.5)


figures = (
    Curves(
        name="gate",
        title="The robust training loss under attacks up to the largest that item 3 permits",
        y=("risk",),
        runs=(where("gate", C=8, φ=SMOOTH),),
        log_x=True,
        x_label="step t",
        y_label="robust training loss",
    ),
)
