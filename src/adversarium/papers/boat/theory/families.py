"""Define the runs on which BOAT's lemmas are tested.

FAMILIES give sizes for any constant C of the theorems; ARMS vary one size at a time. The runs
sample Gram matrices instead of points, so any dimension is cheap.
"""

import math
from dataclasses import dataclass
from typing import Any

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import ReLU, SmoothedLeakyReLU, TwoLayer
from adversarium.plans import Read, Run

DELTA = 0.1
SMOOTH, SHARP = "smoothed leaky ReLU", "ReLU"
ACTIVATIONS: dict[str, Any] = {SHARP: ReLU(), SMOOTH: SmoothedLeakyReLU(gamma=0.5, H=1.0)}


PRINTED = "printed η"


def named(family: str, step: str) -> str:
    """Return the name of a family of runs with the printed η, or with η = n/d if `step` is
    empty."""
    return f"{family}, {step}" if step else family


@dataclass(frozen=True)
class Sizes:
    """n, m, d, ‖μ‖ and the ratio α/‖μ‖ of a run."""

    n: int
    m: int
    d: int
    mu: float
    ratio: float


def _counts(C: float) -> tuple[int, int]:
    """Return the smallest n, and the smallest even m, with n ≥ C log(m/δ) and m ≥ C log(n/δ)."""
    n = m = 2
    while n < C * math.log(m / DELTA) or m < C * math.log(n / DELTA):
        n += 1
        m = n + n % 2
    return n, m


def small_attack(C: float) -> Sizes:
    """Return the sizes of the family L: the smallest ones that satisfy Assumption 1 and (A), (B) of
    BOAT with constant C, except the condition on η.

    The attack has α/‖μ‖ = ½C^{−3/2}, half of the largest ratio in item 3 of Theorem 3.1 of BOAT.
    """
    n, m = _counts(C)
    per = 1.0  # d/n
    for _ in range(100):
        per = C**4 * math.log(m / DELTA * max(per, 1.0))
    d = math.ceil(1.01 * n * per)
    return Sizes(n, m, d, math.sqrt(d / (1.001 * C * n)), 0.5 * C**-1.5)


def large_attack(C: float) -> Sizes:
    """Return the sizes of the family A: as `small_attack`, but with α = ‖μ‖, for which
    d ≥ Cn²(log(n/δ) + α²) requires a larger d."""
    n, m = _counts(C)
    per, square = 1.0, 1.0
    for _ in range(200):
        square = 1.01 * C * math.sqrt(per * math.log(m / DELTA * max(per, 1.0)))
        per = 1.01 * C * n * (math.log(n / DELTA) + square)
    return Sizes(n, m, math.ceil(n * per), math.sqrt(square), 1.0)


def relaxed(C: float) -> Sizes:
    """Return the sizes of the family R: those of `small_attack` with α = ‖μ‖, which violates
    d ≥ Cn²(log(n/δ) + α²) only through α."""
    plain = small_attack(C)
    return Sizes(plain.n, plain.m, plain.d, plain.mu, 1.0)


FAMILIES = {"L": small_attack, "A": large_attack, "R": relaxed}

# Each arm varies one size; every condition except the one on η holds with C = 8 or more. The ratio
# α/‖μ‖ is ½·8^{−3/2} unless it is varied.
_SMALL = 0.5 * 8**-1.5
ARMS: dict[str, tuple[Sizes, ...]] = {
    "n": tuple(
        Sizes(n, 72, 110_000_000, math.sqrt(110_000_000 / (8 * n)), _SMALL)
        for n in (56, 112, 224, 448)
    ),
    "d": tuple(
        Sizes(50, 50, d, math.sqrt(d / 400), _SMALL)
        for d in (3_700_000, 14_800_000, 59_200_000, 236_800_000)
    ),
    "‖μ‖": tuple(
        Sizes(50, 50, 30_000_000_000, mu, _SMALL) for mu in (1010.0, 2050.0, 4170.0, 8490.0)
    ),
    "m": tuple(Sizes(70, m, 7_000_000, 111.0, _SMALL) for m in (56, 112, 224, 448)),
    "α/‖μ‖": tuple(
        Sizes(s.n, s.m, s.d, s.mu, ratio)
        for s in (large_attack(8),)
        for ratio in (0.01, 0.05, 0.25, 1.0)
    ),
}
LETTERS: dict[str, Any] = {
    "n": Read("n"),
    "d": Read("data.d"),
    "‖μ‖": Read("data.mu"),
    "m": Read("network.m"),
}


def largest_eta(sizes: Sizes, C: float) -> float:
    """Return the printed step size 1/(Cd²), reduced by a thousandth against rounding."""
    return 1 / (1.001 * C * float(sizes.d) ** 2)


def theory(
    family: str,
    at: dict[str, Any],
    sizes: Sizes,
    steps: int,
    activation: str = SHARP,
    eta: float | None = None,
    omega: float = 1.0,
    beta: float | None = None,
    flip: Any = "independent",
    **recorded: Any,
) -> Run:
    """Return a run of Algorithm 1 of BOAT that samples Gram matrices instead of points.

    η is n/d unless given; `omega` is ω√(md)/η; β is min(0.1, 1/C) unless given; the first step is
    not attacked (x̃⁰ = x).
    """
    eta = sizes.n / sizes.d if eta is None else eta
    radius, C = sizes.ratio * sizes.mu, float(at.get("C", 8.0))
    return Run(
        family=family,
        at={**at, "φ": activation},
        data=Clusters(
            d=sizes.d, mu=sizes.mu, beta=min(0.1, 1 / C) if beta is None else beta, flip=flip
        ),
        network=TwoLayer(
            m=sizes.m,
            omega=omega * eta / math.sqrt(sizes.m * float(sizes.d)),
            activation=ACTIVATIONS[activation],
        ),
        attack=PGD(p=2, radius=radius, steps=20, step=radius / 5, after=1),
        n=sizes.n,
        steps=steps,
        eta=eta,
        engine="law",
        **recorded,
    )
