"""Checks of Theorem 4.1 of CONV and of its proof."""

from collections.abc import Sequence

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Given,
    Hypothesis,
    Open,
    Parts,
    Quantity,
    Reading,
    Where,
    last,
    where,
)

from ...theory.orders import bounded, share
from ..descents.checks import certified
from .plan import DEPTHS, SIZES

# Sizes at which ε is smaller than the possible decrease in at least five seeds. Under a weak attack
# the initial loss is small.
WEAK_SIZES = {"identity": SIZES[2:5], "cycle": SIZES[2:5], "anti": SIZES[3:4]}


def _informative(runs: Where) -> Quantity:
    """Return 1 in the seeds in which ε is smaller than the possible decrease, else 0."""
    known = Reading("ε says something", lambda run: (run.last("room") > 0).astype(float), ("room",))
    return share(known.on(runs))


_gap_to_upper_end = Reading(
    "(smallest L_A − upper end)/ε",
    lambda run: run.last("gap/ε") - (run.last("high") - run.last("low")) / run.parameter("eps"),
    ("gap/ε", "high", "low"),
)


def _gap_within_eps(runs: Where) -> Check:
    """Check that the gap is at most ε in the seeds in which ε says something.

    The gap to the lower end of the optimum proves it; only the gap to the upper end, which weights
    of B(R) attain, can refute it.
    """
    return Each(
        runs,
        lambda run: Given(
            _informative(run),
            AtMost(_gap_to_upper_end.on(run), 1.0, proof=last("gap/ε", run)),
        ),
    )


def _sizes(rule: str, sizes: Sequence[tuple[int, float, float]]) -> Check:
    """Check the gap of one attack at several sizes."""
    return Every(*(_gap_within_eps(where("one layer", A=rule, R=R, ε=e)) for _, R, e in sizes))


NO_OPTIMUM = (
    "no certified optimum is known for H ≥ 2; a bound of the linearisation error over all layers "
    "of B(R) would give one (H = 2, m of order 10⁶: hours of one GPU)"
)


def _bounded_growth(number: str, along: str, family: str, most: float = 0.03) -> Check:
    """Check that a quantity grows at most like the power `most` of a coordinate."""
    return bounded(number, along, where(family), most)


checks: dict[str, Check] = {
    "conv.thm4.1": CountedAs(
        "level",
        Parts(
            {
                **{f"H = 1, {rule} attack": _sizes(rule, SIZES) for rule in ("exact", "fgsm")},
                "H = 1, R = 1 and 2, weaker attacks (none, cyclic, weakest)": Every(
                    *(_sizes(rule, sizes) for rule, sizes in WEAK_SIZES.items())
                ),
                "H = 1, R = 1, ε = 0.2, other n and d": _gap_within_eps(where("other sets")),
                "T = Θ(R²/(mεα)) for every H": _bounded_growth("t mεα/R²", "H", "depths", 0.05),
                "H ≥ 2: within ε of the optimum": Open("level", NO_OPTIMUM),
                "with H times as many steps (ours), reported": Hypothesis(
                    "level", *(last("t mεα/(HR²)", where("depths", H=H)) for H in DEPTHS)
                ),
            }
        ),
    ),
    "conv.thm4.1.proof": CountedAs(
        "inequality",
        Parts(
            {
                "two weights of B(R) are O(R/√m) apart, for every H": _bounded_growth(
                    "diameter²", "H", "proof over H"
                ),
                "‖W⁽⁰⁾ − W_*‖² ≤ R²/m": Each(
                    where("proof over H"), lambda run: AtMost(last("radius²", run), 1 + 1e-9)
                ),
                "last display, its sign: L_*(W_*) − L_A(W_t) ≤ ε": Each(
                    where("printed sign"), lambda run: AtMost(last("L_*(W_*)/ε", run), 1.0)
                ),
                "‖∇L_A‖² = O(mH²)": Open(
                    "exponent",
                    "measured at three weights only; a supremum over the weights of all layers "
                    "would decide it, and none is known",
                ),
                "‖∇L_A‖²/(mH²) at three weights, over H, reported": Hypothesis(
                    "exponent",
                    *(last("gradient²/(mH²)", where("gradients over H", H=H)) for H in DEPTHS),
                ),
            }
        ),
    ),
    "conv.fn4": CountedAs(
        "level",
        Parts(
            {
                "logistic loss in Theorem 4.1, H = 1": _gap_within_eps(where("logistic")),
                "logistic loss in Theorem 4.1, H ≥ 2": Open("level", NO_OPTIMUM),
                "logistic loss in Theorem 5.1": certified(where("logistic, two layers")),
            }
        ),
    ),
    "conv.sec7.depth": CountedAs(
        "exponent",
        Parts(
            {
                "a layer's gradient norm² over m: power of H ≤ 1": _bounded_growth(
                    "layer²/m", "H", "gradients over H", 1.05
                ),
                "all layers' gradient norm²: power of H ≤ 2": _bounded_growth(
                    "gradient²/(mH²)", "H", "gradients over H", 0.05
                ),
                "flips and linearisation: powers of H ≤ 1 and 3": Open(
                    "exponent",
                    "no unit flips where the hypothesis holds at these widths (m = 256), and the "
                    "linearisation error is measured in a tiny ball only; suprema over all layers "
                    "would decide it, and none is known",
                ),
                "the linearisation error in the tiny ball, divided by R^{4/3}m^{−1/6}": Hypothesis(
                    "exponent", *(last("bend", where("proof over H", H=H)) for H in DEPTHS[1:])
                ),
                "the time to ε over the printed T, reported": Hypothesis(
                    "exponent", *(last("t mεα/R²", where("depths", H=H)) for H in DEPTHS)
                ),
            }
        ),
    ),
}  # fmt: skip
