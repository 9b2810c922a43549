"""Checks of Theorem 5.1 of CONV and its consequences."""

import itertools
import math

import numpy as np

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Exponent,
    Frequency,
    Given,
    Hypothesis,
    InRegime,
    Level,
    Ordering,
    Parts,
    Reading,
    Rows,
    Where,
    last,
    where,
)

from ...theory.orders import share
from .plan import ATTACKS, MEMBERS, RULES

STRONGER = ("exact", "random", "cycle", "fgsm")  # attacks stronger than identity and anti


def _eps_is_informative(run: Rows) -> np.ndarray:
    """Return 1 if ε is smaller than the possible decrease from the initial loss, else 0."""
    informative: np.ndarray = (run.last("room") > 0).any(-1).astype(float)
    return informative


def _gap(name: str) -> Reading:
    """Return the largest value over all R at which ε is smaller than the possible decrease."""

    def largest(run: Rows) -> np.ndarray:
        informative = np.where(run.last("room") > 0, run.last(name), -math.inf)
        largest_gap: np.ndarray = informative.max(-1)
        return largest_gap

    return Reading(f"largest {name} over R", largest, (name, "room"))


eps_is_informative = Reading("ε says something", _eps_is_informative, ("room",))


def _share_of_guarantee(run: Rows) -> np.ndarray:
    """Return the smallest L_A over (upper end of the optimum + ε), the largest over informative R.

    Weights of B(R) attain the upper end, so a value above 1 contradicts the theorem. The smallest
    L_A includes t = 0, where L_A is above the denominator if ε says something.
    """
    promised = np.where(run.last("room") > 0, run.last("promised"), math.inf)
    shares: np.ndarray = (run.last("least L_A")[:, None] / promised).max(-1)
    return shares


share_of_guarantee = Reading(
    "smallest L_A/(upper end + ε)", _share_of_guarantee, ("least L_A", "promised", "room")
)


def certified(runs: Where) -> Check:
    """Check that the gap is at most ε in the seeds in which ε says something.

    The gap to the lower end of the optimum proves it; only the gap to the upper end, which weights
    of B(R) attain, can refute it.
    """

    def one(run: Where) -> Check:
        gap = AtMost(share_of_guarantee.on(run), 1.0, proof=_gap("gap/ε").on(run))
        return Given(share(eps_is_informative.on(run)), gap)

    return Each(runs, one)


def _steep(**at: float) -> Check:
    """Check the gap of a network whose activation has unbounded slope; R⁴/ε² ≤ m must hold."""
    run = where("unbounded slopes", **at)
    return Every(InRegime(last("mε²/R⁴", run), 1.0), AtMost(last("gap/ε", run), 1.0))


def _over_radii(name: str, reduce) -> Reading:
    """Return a reading of a quantity, reduced over R by a function such as np.max."""
    return Reading(
        f"{reduce.__name__} {name}", lambda run: reduce(run.last(name), axis=-1), (name,)
    )


WIDTHS, RADII = (64, 256, 1024), (0.1, 0.2, 0.4)


def _weak_training(rule: str) -> Check:
    """Check that L_* is larger after training against a weak attack than against stronger ones, and
    that this training reaches L_A < 0.001, at every width and radius."""

    def one(**at: float) -> Check:
        weak = where("transfer", A=rule, **at)
        return Every(
            Level(last("L_A", weak), high=1e-3),
            *(Ordering(last("L_*", weak), than=last("L_*", where("transfer", A=other, **at)))
              for other in STRONGER),
        )  # fmt: skip

    return Every(*(one(m=m, radius=radius) for m, radius in itertools.product(WIDTHS, RADII)))


def _more_members(few: int, many: int) -> Check:
    """Check that L_* does not increase if the training attack may use more points of every set.

    Equality in every seed is accepted.
    """
    return Every(
        *(
            Level(
                last("L_*", where("nested", m=m, K=few))
                - last("L_*", where("nested", m=m, K=many)),
                0.0,
            )
            for m in WIDTHS
        )
    )


def _after_exit(number: str, family: str = "leaving") -> Check:
    """Check that a quantity is at most 1 in every run that leaves B(3R)."""
    return Each(
        where(family),
        lambda run: Given(share(last("left", run)), AtMost(last(number, run), 1.0)),
    )


def _certified_increase(run: Rows) -> np.ndarray:
    """Return the largest certified increase of the optimum from one R to the next."""
    increase: np.ndarray = (run.last("low")[..., 1:] - run.last("high")[..., :-1]).max(-1)
    return increase


certified_increase = Reading(
    "largest certified rise from R to the next", _certified_increase, ("low", "high")
)
given_radius = Reading(
    "(ε/2)/L_* of a W of B(R)", lambda run: 1 / run.last("reference"), ("reference",)
)


def reaches(runs: Where) -> Check:
    """Check Corollary 5.1 of CONV: ε is reached if some W in B(R) has L_* ≤ ε/2."""
    return Each(
        runs,
        lambda run: Every(InRegime(given_radius.on(run), 1.0), AtMost(last("least/ε", run), 1.0)),
    )


starts_reaching = Reading(
    "starts that reach ε",
    lambda run: run.parameter("starts") * run.last("reached"),
    ("reached",),
)

DESCENTS = ("circle", "activations", "caps", "start on a sphere")


def _largest_excess(k: int) -> Reading:
    """Return the largest left minus right side of eq. (16) or (17) of CONV over t and R."""
    name = f"({k}) left − right"
    return Reading(f"largest {name} over t and R", lambda run: run.last(name).max(-1), (name,))


def _inequality_holds(k: int, family: str) -> Check:
    """Check eq. (16) or (17) of CONV in every run of a family, up to rounding."""
    return Each(where(family), lambda run: AtMost(_largest_excess(k).on(run), 1e-8))


def _step(k: int) -> Reading:
    """Return the step t with the largest left minus right side of eq. (16) or (17) of CONV."""
    names = (f"({k}) left − right", f"({k}) its t")

    def step_of_largest(run: Rows) -> np.ndarray:
        largest = run.last(names[0]).argmax(-1)[:, None]
        step: np.ndarray = np.take_along_axis(run.last(names[1]), largest, -1)[:, 0]
        return step

    return Reading(f"t of the largest ({k}) left − right", step_of_largest, names)


checks: dict[str, Check] = {
    "conv.thm5.1": CountedAs(
        "inequality",
        Parts(
            {
                "smoothed ReLU, nine attacks": certified(where("circle")),
                "quadratic ReLU, erf, shifted smoothed ReLU": certified(where("activations")),
                "caps in R⁵ (n = 8) and R¹⁰ (n = 16)": certified(where("caps")),
                "unbounded slopes, d = 500 m": _steep(d=32_000, sphere=0),
                "t = 0 … T − 1, as the proof has it, reported": Hypothesis(
                    "inequality",
                    _gap("gap/ε, proved").on(where("circle", A="exact", m=1024, α=0.1)),
                ),
            }
        ),
    ),
    "conv.thm5.1.corrected": CountedAs(
        "inequality",
        Parts(
            {
                **{f"{rule} attack": certified(where("circle", A=rule)) for rule in ATTACKS},
                "erf, shifted smoothed ReLU, quadratic ReLU": certified(where("activations")),
                "caps in R⁵ (n = 8) and R¹⁰ (n = 16)": certified(where("caps")),
                "unbounded slopes, d = m": _steep(d=64, sphere=0),
            }
        ),
    ),
    "conv.thm5.1.proof": CountedAs(
        "inequality",
        Parts(
            {
                **{
                    f"eq. ({k}) at every step, against the certified upper end's W": Every(
                        *(_inequality_holds(k, family) for family in DESCENTS)
                    )
                    for k in (16, 17)
                },
                "the order R² is attained (orthogonal sets): power of R² in t": Exponent(
                    "power of R² in the time to ε", "t", "K", where("orthogonal", A="cycle"),
                    1.0, 0.1,
                ),
                "the step with the least room in (16) and (17), from t = 0, reported": Hypothesis(
                    "inequality",
                    *(reading.on(where("circle", A="exact", m=m, α=0.1))
                      for m in (1024, 16384) for k in (16, 17)
                      for reading in (_largest_excess(k), _step(k))),
                ),
            }
        ),
    ),
    "conv.thm5.1.case2": CountedAs(
        "inequality",
        Parts(
            {
                "the gap is at most αG²/2 when the descent has left B(3R)": _after_exit("gap"),
                "the same, three activations, m from 64 to 4096, α to 3": _after_exit(
                    "gap", "leaving, more"
                ),
                "2R − d and R² − d²/S there, below 0 by the triangle inequality": Hypothesis(
                    "inequality",
                    *(last(name, where("leaving", R=0.1, A=rule))
                      for name in ("2R − d", "R² − d²/S") for rule in ("exact", "identity")),
                ),
                "share of seeds that leave B(3R), R = 0.1": Hypothesis(
                    "inequality",
                    *(share(last("left", where("leaving", R=0.1, A=rule)))
                      for rule in ("exact", "identity")),
                ),
            }
        ),
    ),
    "conv.fn13": CountedAs(
        "inequality",
        Parts(
            {
                "quadratic ReLU, d = 2": certified(where("start on a sphere")),
                "quadratic ReLU, d = 500 m": _steep(d=32_000, sphere=1),
            }
        ),
    ),
    "conv.fn13.corrected": CountedAs(
        "inequality",
        Parts(
            {
                "quadratic ReLU, d = 2": certified(where("start on a sphere")),
                "quadratic ReLU, d = m": _steep(d=64, sphere=1),
            }
        ),
    ),
    "conv.rem4.1b": Hypothesis(
        "inequality", *(certified_increase.on(where(f)) for f in ("radii", "radii, ReLU"))
    ),
    "conv.rem4.1b.strict": CountedAs(
        "inequality",
        Parts(
            {
                f"{name}: each larger R has a smaller optimum, certified": AtMost(
                    certified_increase.on(where(family)), 0.0,
                    proof=_over_radii("step", np.max).on(where(family)),
                )
                for name, family in (
                    ("two layers, R = 1, 2, 3", "radii"), ("ReLU, R = ½, 1, 2", "radii, ReLU"),
                )
            }
        ),
    ),
    "conv.rem4.1a": CountedAs(
        "ordering",
        Parts(
            {
                f"{many} members against {few}": _more_members(few, many)
                for few, many in itertools.pairwise(MEMBERS)
            }
        ),
    ),
    "conv.sec7.transfer": CountedAs(
        "ordering",
        Parts(
            {
                **{
                    f"L_* is larger after {rule} training than after {', '.join(STRONGER)}": (
                        _weak_training(rule)
                    )
                    for rule in ("identity", "anti")
                },
                **{
                    f"L_* is larger after {rule} training than after worst_of and pgd, m = 1024, "
                    "radius 0.2": Every(
                        *(
                            Ordering(
                                last("under exact", where("matrix", A=rule)),
                                than=last("under exact", where("matrix", A=other)),
                            )
                            for other in ("worst_of", "pgd")
                        )
                    )
                    for rule in ("identity", "anti")
                },
                "whole arcs: more found by 100 steps of ascent than on nine members": Hypothesis(
                    "ordering",
                    *(last(f"under {attack}", where("matrix", A=rule))
                      for rule in ("exact", "identity") for attack in ("exact", "pgd-100")),
                ),
            }
        ),
    ),
    "conv.cor5.1": CountedAs(
        "exponent",
        Parts(
            {
                **{
                    f"ε is reached within 4R²/(εα) steps, {rule} attack": reaches(
                        where("reaching", A=rule)
                    )
                    for rule in RULES
                },
                "with probability 0.99 at ε = 0.3, exact attack": Frequency(
                    starts_reaching.on(where("often")), "starts", 0.99
                ),
                "t ∝ R² on orthogonal sets, exact attack": Exponent(
                    "power of R² in the time to ε", "t", "K", where("orthogonal", A="exact"),
                    1.0, 0.05,
                ),
                "t εα/R² as ε falls, identity attack, reported": Hypothesis(
                    "exponent",
                    *(last("t εα/R²", where("reaching", A="identity", **{"1/ε": k}))
                      for k in (3.333, 5, 6.667, 10)),
                ),
            }
        ),
    ),
}  # fmt: skip
