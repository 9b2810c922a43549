"""Lemmas A.5 and A.6 of CONV: the nonlinearity of a ReLU layer within B(R), over all weights.

Paper: within R/√m of the initialisation, at most m τ^{2/3}H units flip, τ = R/√m + δ; gradients
change by τ^{1/3}H²√(m log m); the loss is convex up to |W₂ − W₁|(mR)^{1/3}H^{5/2}√log m.
Reading: for H = 1, the suprema over all W in B(R) are knapsack problems or have concave duals; for
H = 2 and 4, so are those over the last layer. Widths satisfy τH⁶(log m)³ ≤ 1, the hypothesis of the
lemmas with constant 1. An order holds if its quotient has a slope of at most 0.03; powers are
tested to within 0.01 to 0.03. The contribution of lower layers (H², H^{5/2}) is undecided: no
supremum over them is known, and if the m × m layers fit in memory, too few units flip to show it.
Cost: quick 6 s (one core).
"""

import itertools

from adversarium.plans import (
    Check,
    CountedAs,
    Every,
    Exponent,
    Hypothesis,
    Open,
    Parts,
    Powers,
    Read,
    Trial,
    Where,
    end,
    last,
    where,
)

from ..theory.kinks import kink_suprema, kinks_over_circle
from ..theory.orders import bounded
from ..theory.regime import gates as gates

WIDTHS, RADII, MOVES = tuple(2**k for k in (13, 15, 17, 19, 21)), (0.0125, 0.025, 0.05, 0.1), (1, 3)
WIDE = tuple(2**k for k in (20, 21, 22, 23))
DEPTHS = {2: 0.005, 4: 5e-5}  # H → R such that the hypothesis holds for m ≥ 2^20

quick = dict(seeds=5, widths=WIDTHS[:3], radii=RADII, depths=(), circles=())
paper = dict(seeds=40, widths=WIDTHS, radii=RADII, depths=(2, 4),
             circles=(2048, 4096, 8192, 16384, 32768))  # fmt: skip


def plan(widths, radii, depths, circles, R=0.1):
    m_and_R = {"m": Read("m"), "R": Read("R")}

    def trial(family, at, **parameters):
        return Trial(family=family, at=at, function=kink_suprema, parameters=parameters)

    for m in widths:
        yield trial("widths", m_and_R, m=m, R=R)
    for radius in radii:
        yield trial("radii", m_and_R, m=max(widths), R=radius)
    for m, delta in itertools.product(widths, MOVES):
        at = {**m_and_R, "δ√m/R": Read("delta")}
        yield trial("moved inputs", at, m=m, R=R / 4, delta=float(delta))
    for H, m in itertools.product(depths, WIDE):
        yield trial("depths", {**m_and_R, "H": Read("H")}, m=m, R=DEPTHS.get(H, 0.3 / H**6), H=H)
    for m in circles:
        yield Trial(family="circle", at=m_and_R, function=kinks_over_circle,
                    parameters=dict(m=m, R=R))  # fmt: skip


MAX_SLOPE = 0.03  # largest slope at which a quotient of an exact supremum counts as not growing
FAMILIES = {"H = 1": where("widths"), **{f"last of {H} layers": where("depths", H=H)
                                          for H in DEPTHS}}  # fmt: skip


def _orders(number: str, moved: bool = True):
    """Return checks that a quotient does not grow with m or R, also if the input moves."""
    by_case: dict[str, Check] = {
        name: bounded(number, "m", runs, MAX_SLOPE) for name, runs in FAMILIES.items()
    }
    by_case["over R"] = bounded(number, "R", where("radii"), MAX_SLOPE)
    for delta in MOVES if moved else ():
        runs = where("moved inputs", **{"δ√m/R": delta})
        by_case[f"x moved by {delta} R/√m"] = bounded(number, "m", runs, MAX_SLOPE)
    return by_case


def _power(name: str, number: str, along: str, runs: Where, claimed: float, tolerance=0.01):
    """Check that the fitted power of a coordinate in a quantity is the claimed one."""
    return Exponent(f"power of {along} in {name}", number, along, runs, claimed, tolerance)


LOWER_LAYERS = Open(
    "exponent",
    "no supremum over lower layers is known; whole layers inside τH⁶(log m)³ ≤ 1 flip 2 or 3 units "
    "at m = 2048; some hundred would flip at m = 10⁷, where a layer has too many weights to store",
)

checks = {
    "conv.eq10": CountedAs(
        "exponent",
        Parts(
            {
                **_orders("flips"),
                "the power 2/3 is attained": Every(
                    _power("flips/(m τ^{2/3})", "flips", "m", where("widths"), 0.0),
                    _power("flips/(m τ^{2/3})", "flips", "R", where("radii"), 0.0, 0.02),
                ),
                "lower layers": LOWER_LAYERS,
            }
        ),
    ),
    "conv.eq12": CountedAs(
        "exponent",
        Parts(
            {
                "over all W and x′": Open(
                    "exponent",
                    "the flips are those that are greedy for the change of the gradient, so the "
                    "change of the back-product is measured from below; the exact supremum, a "
                    "quadratic knapsack problem, would decide it, and no method for it is known",
                ),
                "the change over its bound, greedy flips, over m, reported": Hypothesis(
                    "exponent", *(last("back, logs", where("widths", m=m)) for m in WIDTHS)
                ),
                "the change over its bound, greedy flips, over R, reported": Hypothesis(
                    "exponent", *(last("back, logs", where("radii", R=R)) for R in RADII)
                ),
            }
        ),
    ),
    "conv.lemA.5": CountedAs(
        "exponent",
        Parts(
            {
                **_orders("jump, logs"),
                "the power 1/3 is attained, the logarithm is to spare": Every(
                    _power("jump/(τ^{1/3}√m)", "jump", "m", where("widths"), 0.0, 0.02),
                    _power("jump/(τ^{1/3}√m)", "jump", "R", where("radii"), 0.0, 0.02),
                ),
                "gap of the greedy knapsack to its upper bound, reported": Hypothesis(
                    "exponent", last("jump, gap", where("widths", m=WIDTHS[0]))
                ),
                "H²": LOWER_LAYERS,
                "the second half, ‖f′⁽ʰ⁾(W, x′)‖ = O(√(mH)) over all W and x′": Open(
                    "exponent",
                    "measured at three weights only (conv.sec7.depth); a supremum over W of all "
                    "layers would decide it, and none is known",
                ),
            }
        ),
    ),
    "conv.lemA.6": CountedAs(
        "exponent",
        Parts(
            {
                **{f"from W₀: {k}": v for k, v in _orders("bend, logs", moved=False).items()},
                **{f"W₁ on the edge: {k}": v
                   for k, v in _orders("edge, logs", moved=False).items()},
                "200 points of a circle at once": bounded("bend", "m", where("circle"), 0.05),
                "the powers −1/6 and 4/3 are attained": Every(
                    _power("the error", "error", "m", where("widths"), -1 / 6, 0.02),
                    _power("the error", "error", "R", where("radii"), 4 / 3, 0.03),
                ),
                "H^{5/2}": LOWER_LAYERS,
            }
        ),
    ),
}  # fmt: skip

figures = (
    Powers(
        name="error",
        title="Lemma A.6: the largest linearisation error over all weights of B(R)",
        number=end("error"),
        sweeps={"m": where("widths"), "R": where("radii")},
        claimed={"m": -1 / 6, "R": 4 / 3},
        y_label="largest error of f's linearisation",
        caption="One hidden layer, exact over all W of B(R): the proven powers are attained.",
    ),
    Powers(
        name="flips",
        title="Eq. (10): the largest number of sign changes, divided by m τ^{2/3}",
        number=end("flips"),
        sweeps={"m": where("widths"), "R": where("radii")},
        claimed={"m": 0, "R": 0},
        y_label="flips/(m τ^{2/3})",
        caption="One hidden layer, exact over all W of B(R), τ = R/√m.",
    ),
)
