"""Checks of Theorem 4.1 of CONV and of its proof."""

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Given,
    Hypothesis,
    InRegime,
    Open,
    Parts,
    Reading,
    Where,
    last,
    where,
)

from ...theory.orders import bounded
from ..descents.checks import certified
from .plan import DEPTHS, SETS, SIZES

# Sizes at which ε is smaller than the possible decrease in at least five seeds. Under a weak attack
# the initial loss is small.
JUDGED_SIZES = {"exact": SIZES, "fgsm": SIZES, "identity": SIZES[2:5], "cycle": SIZES[2:5],
          "anti": SIZES[3:4]}  # fmt: skip

_eps_is_informative = Reading(
    "ε says something", lambda run: (run.last("room") > 0).astype(float), ("room",)
)
_regime_factor = Reading("ε⁷m/(R⁹H¹⁶)", lambda run: 1 / run.last("gate"), ("gate",))


def _gap_within_eps(runs: Where) -> Check:
    """Check that the certified gap is at most ε, under the hypothesis of Theorem 4.1 of CONV.

    A run is judged if ε is smaller than the possible decrease from the initial loss.
    """
    return Each(
        runs,
        lambda run: Every(
            InRegime(_regime_factor.on(run), 1.0),
            Given(_eps_is_informative.on(run), AtMost(last("gap/ε", run), 1.0)),
        ),
    )


def _in_regime(runs: Where) -> Check:
    """Check that the hypothesis on m holds in every run."""
    return Each(runs, lambda run: InRegime(_regime_factor.on(run), 1.0))


def _bounded_growth(number: str, along: str, family: str, most: float = 0.03) -> Check:
    """Check that a quantity grows at most like the power `most` of a coordinate."""
    return bounded(number, along, where(family), most)


checks: dict[str, Check] = {
    "conv.thm4.1": CountedAs(
        "level",
        Parts(
            {
                **{
                    f"H = 1, {rule} attack": Every(
                        *(_gap_within_eps(where("one layer", A=rule, R=R, ε=eps))
                          for _, R, eps in sizes)
                    )
                    for rule, sizes in JUDGED_SIZES.items()
                },
                **{f"H = 1, {label}": _gap_within_eps(where("other sets", data=name))
                   for name, label in SETS.items()},
                "T = Θ(R²/(mεα)) for every H (R = 10⁻⁵)": Every(
                    _in_regime(where("depths")), _bounded_growth("t mεα/R²", "H", "depths", 0.05)
                ),
                "H ≥ 2: within ε of the optimum": Open(
                    "level", "no certified optimum is known for H ≥ 2"
                ),
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
                "‖∇L_A‖² = O(mH²), over H": _bounded_growth("gradient²/(mH²)", "H", "proof over H"),
                "‖∇L_A‖² = O(mH²), over m": _bounded_growth(
                    "gradient²/(mH²)", "m", "proof over m", 0.05
                ),
            }
        ),
    ),
    "conv.fn4": CountedAs(
        "level",
        Parts(
            {
                "logistic loss in Theorem 4.1, H = 1": _gap_within_eps(where("logistic")),
                "logistic loss in Theorem 4.1, H ≥ 2": Open(
                    "level", "no certified optimum is known for H ≥ 2"
                ),
                "logistic loss in Theorem 5.1": certified(where("logistic, two layers")),
            }
        ),
    ),
    "conv.sec7.depth": CountedAs(
        "exponent",
        Parts(
            {
                "a layer's gradient norm² over m: power of H ≤ 1": _bounded_growth(
                    "layer²/m", "H", "proof over H", 1.0
                ),
                "all layers' gradient norm²: power of H ≤ 2": _bounded_growth(
                    "gradient²/(mH²)", "H", "proof over H", 0.0
                ),
                "flips and linearisation: powers of H ≤ 1 and 3": Open(
                    "exponent",
                    "flips are not measured, and the linearisation error only in a tiny ball",
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
