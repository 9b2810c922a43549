"""Lemmas A.5 and A.6 of CONV: how much a ReLU layer bends within B(R), over all weights at once.

Paper: within R/√m of the initialisation at most m τ^{2/3}H units flip, τ = R/√m + δ, gradients
change by τ^{1/3}H²√(m log m), and the loss misses convexity by |W₂ − W₁|(mR)^{1/3}H^{5/2}√log m.
Reading: with H = 1 the suprema over all W in B(R) are a knapsack and a concave dual; for H = 2 and
4 the last layer's are. Widths where τH⁶(log m)³ ≤ 1, the lemmas' hypothesis with its constant 1.
Orders are judged by slopes of the quotient (≤ 0.03), and powers to 0.01. What lower layers add
(H², H^{5/2}) is open: no supremum over them is known, and where m × m layers can be held, so few
units flip that the order in H is not seen.
Cost: quick 6 s (one core).
"""

import itertools

from adversarium.papers.conv.orders import bounded
from adversarium.plans import (
    Powers,
    Read,
    Reading,
    Trial,
    Where,
    counted_as,
    each,
    end,
    every,
    exponent,
    in_regime,
    last,
    level,
    parts,
    present,
    where,
)
from adversarium.trials import kink_suprema, kinks_over_circle

WIDTHS, RADII, MOVES = tuple(2**k for k in (13, 15, 17, 19, 21)), (0.0125, 0.025, 0.05, 0.1), (1, 3)
WIDE = tuple(2**k for k in (20, 21, 22, 23))
DEPTHS = {2: 0.005, 4: 5e-5}  # H: R, so that the hypothesis holds from 2^20 on

quick = dict(seeds=5, widths=WIDTHS[:3], radii=RADII, depths=(), circles=())
paper = dict(seeds=40, widths=WIDTHS, radii=RADII, depths=(2, 4),
             circles=(2048, 4096, 8192, 16384, 32768))  # fmt: skip


def plan(widths, radii, depths, circles, R=0.1):
    place = {"m": Read("m"), "R": Read("R")}

    def trial(family, at, **parameters):
        return Trial(family=family, at=at, function=kink_suprema, parameters=parameters)

    for m in widths:
        yield trial("widths", place, m=m, R=R)
    for radius in radii:
        yield trial("radii", place, m=max(widths), R=radius)
    for m, delta in itertools.product(widths, MOVES):
        at = {**place, "δ√m/R": Read("delta")}
        yield trial("moved inputs", at, m=m, R=R / 4, delta=float(delta))
    for H, m in itertools.product(depths, WIDE):
        yield trial("depths", {**place, "H": Read("H")}, m=m, R=DEPTHS.get(H, 0.3 / H**6), H=H)
    for m in circles:
        yield Trial(family="circle", at=place, function=kinks_over_circle,
                    parameters=dict(m=m, R=R))  # fmt: skip


MOST = 0.03  # a slope of an exact supremum up to which a quotient does not grow
FAMILIES = {"H = 1": where("widths"), **{f"last of {H} layers": where("depths", H=H)
                                          for H in DEPTHS}}  # fmt: skip


def _order(number: str, moved: bool = True):
    """A quotient does not grow with m, R or the input's move, where the hypothesis is met."""
    told = {
        name: every(_met(meant), bounded(number, "m", meant, MOST))
        for name, meant in FAMILIES.items()
    }
    told["over R"] = every(_met(where("radii")), bounded(number, "R", where("radii"), MOST))
    for delta in MOVES if moved else ():
        meant = where("moved inputs", **{"δ√m/R": delta})
        told[f"x moved by {delta} R/√m"] = every(_met(meant), bounded(number, "m", meant, MOST))
    return told


def _met(meant: Where):
    inverse = Reading("1/(τH⁶ log³ m)", lambda run: 1 / run.last("gate"), ("gate",))
    return each(meant, lambda run: in_regime(inverse.on(run), 1.0))


def _power(name: str, number: str, along: str, meant: Where, claimed: float, tolerance=0.01):
    return exponent(f"power of {along} in {name}", number, along, meant, claimed, tolerance)


LOWER = present(
    "exponent",
    lambda rows: (),
    "no supremum over lower layers is known; whole layers inside τH⁶(log m)³ ≤ 1 flip 2 or 3 units",
)

checks = {
    "conv.eq10": counted_as(
        "exponent",
        parts(
            {
                **_order("flips"),
                "the power 2/3 is attained": every(
                    _power("flips/(m τ^{2/3})", "flips", "m", where("widths"), 0.0),
                    _power("flips/(m τ^{2/3})", "flips", "R", where("radii"), 0.0, 0.02),
                ),
                "lower layers": LOWER,
            }
        ),
    ),
    "conv.eq12": counted_as("exponent", parts({**_order("back, logs"), "H²": LOWER})),
    "conv.lemA.5": counted_as(
        "exponent",
        parts(
            {
                **_order("jump, logs"),
                "the power 1/3 is attained, the logarithm is to spare": every(
                    _power("jump/(τ^{1/3}√m)", "jump", "m", where("widths"), 0.0, 0.02),
                    _power("jump/(τ^{1/3}√m)", "jump", "R", where("radii"), 0.0, 0.02),
                ),
                "the greedy knapsack is exact": each(
                    where("widths"), lambda run: level(last("jump, gap", run), high=0.05)
                ),
                "H²": LOWER,
            }
        ),
    ),
    "conv.lemA.6": counted_as(
        "exponent",
        parts(
            {
                **{f"from W₀: {k}": v for k, v in _order("bend, logs", moved=False).items()},
                **{f"W₁ on the edge: {k}": v
                   for k, v in _order("edge, logs", moved=False).items()},
                "all x of a circle at once": bounded("bend", "m", where("circle"), 0.05),
                "the powers −1/6 and 4/3 are attained": every(
                    _power("the error", "error", "m", where("widths"), -1 / 6, 0.02),
                    _power("the error", "error", "R", where("radii"), 4 / 3, 0.03),
                ),
                "H^{5/2}": LOWER,
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
        title="Eq. (10): the largest number of flips, by m τ^{2/3}",
        number=end("flips"),
        sweeps={"m": where("widths"), "R": where("radii")},
        claimed={"m": 0, "R": 0},
        y_label="flips/(m τ^{2/3})",
        caption="One hidden layer, exact over all W of B(R), τ = R/√m.",
    ),
)
