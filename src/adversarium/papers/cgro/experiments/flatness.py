"""Flatness and robust generalisation (App. E and F of CGRO; Theorem 6.3, Prop. 6.4 of CGRM).

Paper: L_adv ≤ L̂_adv + N^{−1/(D+2)} O(global flatness), by a kernel density estimate with bias
O(δ²) and fluctuation O(N^{−1/2}δ^{−D/2}), and L_adv − L_clean = Ω(δ E‖∇L‖).
Reading: l_inf balls of radius δ = N^{−1/(D+2)} (the choice of the proof), l1 gradient norms,
Gaussian inputs, labels with a smooth boundary, and the logistic loss. Networks are random smooth
features, fixed or fitted to S. The maximum over a ball is taken on a grid with corners, refined
twice. C(D, L) = 1 and Δ = 0.05, 0.1, 0.25.
Cost: quick 25 s (2 cores).
"""

import math

from adversarium.plans import (
    AtMost,
    CountedAs,
    Each,
    Every,
    Existence,
    Frequency,
    Level,
    Parts,
    Profile,
    Read,
    Reading,
    Table,
    Trial,
    last,
    where,
)

from ..theory.densities import density_powers, unbounded_loss
from ..theory.flatness import constant_gaps, first_order, flatness_factors, flatness_gaps, taylor
from ..theory.smooth import GRID

quick = dict(dimensions=(1, 2), sets=6, fresh=500, draws=2000, repeats=(20, 4), seeds=5)
paper = dict(sets=24, seeds=60)


def plan(dimensions=(1, 2, 3), sets=40, fresh=2000, draws=4000, repeats=(40, 8)):
    if not set(dimensions) <= set(GRID) or len(repeats) != 2:
        raise ValueError(
            f"the plan needs dimensions among {', '.join(map(str, GRID))} and two repeats (for "
            f"D = 1 and 2), got {dimensions} and {repeats}."
        )
    at = {"D": Read("D")}
    for D in dimensions:
        parameters = dict(D=D, sets=_CHEAP * sets if D == 1 else sets, fresh=fresh)
        yield Trial(family="gap", at=at, function=flatness_gaps, parameters=parameters, version=4)
    for D in (1, 2):
        parameters = dict(D=D, draws=draws, repeats=repeats[D - 1])
        yield Trial(
            family="density", at=at, function=density_powers, parameters=parameters, version=3
        )
    for delta in (0.05, 0.1, 0.2):
        at = {"δ": Read("delta")}
        parameters = dict(delta=delta)
        yield Trial(
            family="unbounded", at=at, function=unbounded_loss, parameters=parameters, exact=True
        )
    yield Trial(family="taylor", function=taylor, version=2)
    yield Trial(family="first order", function=first_order, version=3)
    yield Trial(family="factors", function=flatness_factors)
    yield Trial(family="constant", function=constant_gaps)


_CHEAP = 4  # training sets in one dimension, which cost little, per set in two and three
SAMPLES = 200  # samples of `constant_gaps` per seed


def _powers(family, name, low, high):
    """Require a fitted power within a range, in every dimension."""
    return Each(where(family), lambda trial: Level(last(name, trial), low, high, kind="exponent"))


def _no_growth(name):
    """Require that c(N) does not grow with N, in every dimension; the axis of c(N) says which N."""
    slope = f"{name}_slope"
    reading = Reading(slope, lambda run: run.last(slope), (slope, name))
    return Each(
        where("gap"), lambda trial: Level(reading.on(trial), -math.inf, 0.1, kind="exponent")
    )


def _finite(name):
    """Require a finite integral of E_S p_S L (infinite: beyond 10⁶ times that of p_D L)."""

    def finite(rows):
        return (rows.last("smoothed") < 1e6 * rows.last("mean")).astype(float)

    reading = Reading(name, finite, ("smoothed", "mean"))
    return CountedAs("exponent", Each(where("unbounded"), lambda t: Existence(reading.on(t))))


checks = {
    "cgro.thmE.1": CountedAs("exponent", Frequency(last("kept", "constant"), SAMPLES, 0.95)),
    "cgro.thmE.1.corrected": Every(
        _no_growth("fixed"),
        _no_growth("fitted"),
    ),
    "cgro.thmF.1.I": _finite("term (I) is finite"),
    "cgro.thmF.1.II": _finite("term (II) is finite"),
    "cgro.thmF.1.I.corrected": _powers("density", "bias", 1.8, 2.2),
    "cgro.thmF.1.II.corrected": Every(
        _powers("density", "in_N", -0.6, -0.4), _powers("density", "in_delta", -0.1, 0.1)
    ),
    "cgro.thmF.1.taylor": AtMost(last("ratio", "taylor"), 1.0),
    "cgro.propE.2": Parts(
        {
            "as δ → 0, and at every δ for a convex loss": Every(
                AtMost(last("short_at_0", "first order"), 0.05),
                AtMost(last("convex_short", "first order"), 1e-9),
            ),
            "at δ = 1, with one constant for any loss": Level(
                last("in_frequency", "first order"), -0.1, math.inf, kind="exponent"
            ),
        }
    ),
}

_shares = {"fixed": "c(N), fixed networks", "fitted": "c(N), fitted to S"}
_ratios = {"smooth": "smooth network", "convex": "loss convex in x", "oscillating": "oscillating"}
_exponents = {
    "rise_slope": "L_adv − L_clean",
    "claimed_slope": "−1/(D + 2)",
    "fixed_slope": "c(N), fixed",
    "fitted_slope": "c(N), fitted",
}

figures = (
    Profile(
        name="gaps",
        title="Robust gap over N^(−1/(D+2))·(flatness + C/√Δ), 95 % quantile over S",
        y=tuple(_shares),
        runs=(where("gap"),),
        names=_shares,
        x_label="N",
        y_label="c(N)",
        caption="Mean and range (band) over seeds; by the theorem, c(N) does not grow.",
    ),
    Profile(
        name="first_order",
        title="(L_adv − L_clean)/(δ E‖∇L‖₁)",
        y=tuple(_ratios),
        runs=(where("first order"),),
        names=_ratios,
        log_x=True,
        x_label="δ",
        y_label="ratio",
        caption="At least 1 as δ → 0, and at every δ if the loss is convex in x; for an "
        "oscillating loss it is smaller.",
    ),
    Table(
        name="exponents",
        title="Exponents in N at δ = N^(−1/(D+2))",
        y=tuple(_exponents),
        runs=(where("gap"),),
        names=_exponents,
        caption="Mean over seeds with its 99 % interval.",
    ),
    Table(
        name="factors",
        title="The factor N^(−1/(D+2)): vacuous for images",
        y=("MNIST", "CIFAR-10", "D = 2, N = 512"),
        runs=(where("factors"),),
    ),
)
