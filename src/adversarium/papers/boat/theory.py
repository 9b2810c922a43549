"""BOAT's theorem and lemmas where their assumptions hold: ladders of C, arms over n, d, ‖μ‖, m, α.

Paper: for a constant C large enough, small symmetric initialisation, η ≤ 1/(Cd²) and noisy
clusters, adversarial training fits every training point with its ball and generalises.
Reading: "C large enough" is a ladder C = 2, 4, 8, 16 with every gate at C or more. L has a small
attack (α/‖μ‖ = ½C^{−3/2}), A has α = ‖μ‖, R has α = ‖μ‖ at L's sizes; `near` and `far` flip the
labels of the nearest or farthest points; arms change one size at C = 8; signs of units are judged
up to C = 24. The printed step takes about 4Cnd steps to a margin of 1: "first step" runs have it,
the others have η = n/d (beside it η down to n/8d at equal ηT, unjudged). Gaussian noise, in law: d
is free.
Cost: quick 14 s (2 cores).
"""

from adversarium.papers.boat.families import (
    ARMS,
    FAMILIES,
    LETTERS,
    SHARP,
    SMOOTH,
    small_attack,
    theory,
)
from adversarium.papers.boat.regime import gates
from adversarium.papers.boat.theory_checks import checks
from adversarium.papers.boat.theory_figures import figures
from adversarium.plans import Read
from adversarium.probes import (
    CertifiedError,
    ClusterConstants,
    NeededConstant,
    RareError,
    Worst,
    attack_angle,
    attack_turn,
    loss_ratio,
    margin_share,
    risk,
    robust_train_error,
    weight_norm,
)

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

RUNGS = (2, 4, 8, 16)
ETAS, OMEGAS = (1.0, 0.5, 0.25, 0.125), (0.01, 0.1, 0.3, 1.0)

quick = dict(
    seeds=5, rungs=(2, 4, 8), families=("L", "A"), flips=(), arms=(), etas=(), omegas=(), until=10,
    long=0, signs=(),
)  # fmt: skip
paper = dict(seeds=40)


def plan(
    rungs=RUNGS, families=tuple(FAMILIES), flips=("near", "far"), arms=tuple(ARMS), etas=ETAS,
    omegas=OMEGAS, until=60, long=2000, signs=(2, 4, 8, 16, 24),
):  # fmt: skip
    whole = _recorded(until)
    for family in families:
        for C in rungs:
            sizes = FAMILIES[family](C)
            rare = (RareError(radius=sizes.ratio * sizes.mu if family == "L" else 0.0),)
            turned = {**whole, "probes": (*whole["probes"], attack_turn)}
            kept = whole if family == "R" else turned
            for phi in (SHARP, SMOOTH):
                yield theory(family, {"C": C}, sizes, until, phi, **kept, final=rare)
                yield theory(
                    f"first step, {family}",
                    {"C": C},
                    sizes,
                    1,
                    phi,
                    eta=1 / (1.001 * C * float(sizes.d) ** 2),
                    **_recorded(1),
                )
    for flip in flips:
        for C in rungs:
            sizes = small_attack(C)
            rare = (RareError(radius=sizes.ratio * sizes.mu),)
            yield theory(flip, {"C": C}, sizes, until, SHARP, flip=flip, **whole, final=rare)
    for arm in arms:
        for sizes in ARMS[arm]:
            at = {arm: LETTERS.get(arm, sizes.ratio)}
            for phi in (SHARP, SMOOTH):
                yield theory(f"arm {arm}", at, sizes, until, phi, **whole, final=(RareError(),))
    sizes = small_attack(8)
    for omega in omegas:
        at = {"ω√(md)/η": omega}
        yield theory("arm ω", at, sizes, until, SHARP, omega=omega, **whole)
    for share in etas:  # at equal ηT
        at, eta = {"η": Read("eta")}, share * sizes.n / sizes.d
        longer = round(until / share)
        yield theory("arm η", at, sizes, longer, SHARP, eta=eta, **_recorded(longer))
    for family in ("L", "A"):
        for C in signs:
            yield theory(
                f"signs, {family}",
                {"C": C},
                FAMILIES[family](C),
                until,
                folds=(ClusterConstants(), NeededConstant()),
            )
    if long:
        curves: dict = dict(probes=(loss_ratio, risk, weight_norm))
        for phi in (SHARP, SMOOTH):
            rare = (RareError(radius=sizes.ratio * sizes.mu),)
            yield theory("long", {"C": 8}, sizes, long, phi, **curves, final=rare)
            yield theory("long", {"C": 2}, small_attack(2), 20 * long, phi, **curves)


def _recorded(steps):
    """What every run keeps: the extremes over all steps, and curves at a few times."""
    proof = CertifiedError()
    return dict(
        probes=(risk, margin_share, attack_angle, loss_ratio, proof),
        record=tuple(sorted({1, *(t for t in (6, 12, 20, 30, 60) if t < steps), steps})),
        folds=(
            ClusterConstants(),
            Worst(robust_train_error, after=1),
            Worst(proof, after=1),
        ),
    )
