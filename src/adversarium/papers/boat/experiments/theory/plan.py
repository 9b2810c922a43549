"""BOAT's theorem and lemmas under their assumptions: C increases, or one of n, d, ‖μ‖, m, α varies.

Paper: for a constant C large enough, small symmetric initialisation, η ≤ 1/(Cd²) and noisy
clusters, adversarial training fits every training point with its ball and generalises.
Reading: "C large enough" is tested with C = 2, 4, 8 and 16, with every hypothesis except that on η
satisfied with constant C. The family L has a small attack (α/‖μ‖ = ½C^{−3/2}), A has α = ‖μ‖, and R
has α = ‖μ‖ at L's sizes; `near` and `far` flip the labels of the nearest or farthest points; an arm
varies one size at C = 8; the signs of units are judged up to C = 24. With the paper's η, a margin
of 1 takes about 4Cnd steps, so statements about the loss need η = n/d. All others are judged with
η = n/d and, in the families “printed η”, with the largest printed step (the arms with ReLU only);
runs with η down to n/8d at equal ηT are reported without a verdict. The noise is Gaussian; Gram
matrices are sampled instead of points, so the cost does not depend on d.
Cost: quick 14 s (2 cores).
"""

from adversarium.measure.bracket import CertifiedError
from adversarium.measure.errors import risk, robust_train_error
from adversarium.measure.folds import Worst
from adversarium.plans import Read

from ...theory.cluster_constants import (
    ClusterConstants,
    attack_angle,
    attack_turn,
    loss_ratio,
    margin_share,
    weight_norm,
)
from ...theory.cluster_errors import RareError
from ...theory.families import (
    ARMS,
    FAMILIES,
    LETTERS,
    PRINTED,
    SHARP,
    SMOOTH,
    largest_eta,
    named,
    small_attack,
    theory,
)
from ...theory.needed_constant import NeededConstant
from ...theory.regime import gates as gates

RUNGS = (2, 4, 8, 16)
ETAS, OMEGAS = (1.0, 0.5, 0.25, 0.125), (0.01, 0.1, 0.3, 1.0)

quick = dict(
    seeds=5, rungs=(2, 4, 8), families=("L", "A"), flips=(), arms=(), etas=(), omegas=(), until=10,
    long=0, signs=(), printed=False,
)  # fmt: skip
paper = dict(seeds=40)


def plan(
    rungs=RUNGS, families=tuple(FAMILIES), flips=("near", "far"), arms=tuple(ARMS), etas=ETAS,
    omegas=OMEGAS, until=60, long=2000, signs=(2, 4, 8, 16, 24), printed=True,
):  # fmt: skip
    recorded = _recorded(until)
    curves: dict = dict(probes=(loss_ratio, risk, weight_norm))

    def run(family, at, sizes, steps, phi=SHARP, both=True, **more):
        """Yield a run with η = n/d and, if `both` and `printed` are on, one with the printed η."""
        yield theory(family, at, sizes, steps, phi, **more)
        if both and printed:
            eta = largest_eta(sizes, at.get("C", 8))
            yield theory(named(family, PRINTED), at, sizes, steps, phi, eta=eta, **more)

    for family in families:
        for C in rungs:
            sizes = FAMILIES[family](C)
            rare = (RareError(radius=sizes.ratio * sizes.mu if family == "L" else 0.0),)
            with_angle = {**recorded, "probes": (*recorded["probes"], attack_turn)}
            recordings = recorded if family == "R" else with_angle
            for phi in (SHARP, SMOOTH):
                yield from run(family, {"C": C}, sizes, until, phi, **recordings, final=rare)
                yield theory(
                    f"first step, {family}",
                    {"C": C},
                    sizes,
                    1,
                    phi,
                    eta=largest_eta(sizes, C),
                    **_recorded(1),
                )
    for flip in flips:
        for C in rungs:
            sizes = small_attack(C)
            rare = (RareError(radius=sizes.ratio * sizes.mu),)
            yield from run(flip, {"C": C}, sizes, until, flip=flip, **recorded, final=rare)
    for arm in arms:
        for sizes in ARMS[arm]:
            at = {arm: LETTERS.get(arm, sizes.ratio)}
            for phi in (SHARP, SMOOTH):
                more = dict(**recorded, final=(RareError(),), both=phi == SHARP)
                yield from run(f"arm {arm}", at, sizes, until, phi, **more)
    sizes = small_attack(8)
    for omega in omegas:
        at = {"ω√(md)/η": omega}
        yield from run("arm ω", at, sizes, until, omega=omega, **recorded)
    for share in etas:  # at equal ηT
        at, eta = {"η": Read("eta")}, share * sizes.n / sizes.d
        longer = round(until / share)
        yield theory("arm η", at, sizes, longer, SHARP, eta=eta, **_recorded(longer))
    for family in ("L", "A"):
        for C in signs:
            folds = (ClusterConstants(), NeededConstant())
            yield from run(f"signs, {family}", {"C": C}, FAMILIES[family](C), until, folds=folds)
    if long:
        for phi in (SHARP, SMOOTH):
            rare = (RareError(radius=sizes.ratio * sizes.mu),)
            long_run = dict(**curves, final=rare)
            yield theory("long", {"C": 8}, sizes, long, phi, **long_run)
            if printed:
                family, eta = named("long", PRINTED), largest_eta(sizes, 8)
                yield theory(family, {"C": 8}, sizes, long // 8, phi, eta=eta, **long_run)
            yield theory("long", {"C": 2}, small_attack(2), 20 * long, phi, **curves)


def _recorded(steps):
    """Return the recordings of every run: extremes over all steps, and curves at a few times."""
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
