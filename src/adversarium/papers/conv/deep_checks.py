"""The checks of CONV's Theorem 4.1 and of its proof."""

from adversarium.papers.conv.descents_checks import certified
from adversarium.papers.conv.orders import bounded
from adversarium.plans import (
    Check,
    Reading,
    Where,
    at_most,
    counted_as,
    each,
    every,
    given,
    in_regime,
    last,
    parts,
    present,
    setting,
    where,
)

#  m, R, ε with R⁹/(ε⁷m) ≤ 1
SIZES = ((1280, 0.5, 0.15), (4608, 1.0, 0.3), (78336, 1.0, 0.2), (589824, 1.0, 0.15),
         (65536, 2.0, 0.5), (18432, 2.0, 0.6))  # fmt: skip
ATTACKS = ("exact", "identity", "anti", "cycle", "fgsm")
SETS = {"one arc": "n = 1, d = 2", "two arcs": "n = 2, d = 2", "d = 8": "n = 2, d = 8",
        "d = 32": "n = 4, d = 32"}  # fmt: skip
DEPTHS = (1, 2, 4, 8, 16)
LOGISTIC = (256, 1024)
# where five seeds have more than ε to gain: what a weak attack sees is small from the start
JUDGED = {"exact": SIZES, "fgsm": SIZES, "identity": SIZES[2:5], "cycle": SIZES[2:5],
          "anti": SIZES[3:4]}  # fmt: skip

_says = Reading("ε says something", lambda run: (run.last("room") > 0).astype(float), ("room",))
_factor = Reading("ε⁷m/(R⁹H¹⁶)", lambda run: 1 / run.last("gate"), ("gate",))


def _within(meant: Where) -> Check:
    """In regime; the certified gap is at most ε where that says something."""
    return each(
        meant,
        lambda run: every(
            in_regime(_factor.on(run), 1.0),
            given(_says.on(run), at_most(last("gap/ε", run), 1.0)),
        ),
    )


def _met(meant: Where) -> Check:
    return each(meant, lambda run: in_regime(_factor.on(run), 1.0))


def _grows(number: str, along: str, family: str, most: float = 0.03) -> Check:
    return bounded(number, along, where(family), most)


checks: dict[str, Check] = {
    "conv.thm4.1": counted_as(
        "level",
        parts(
            {
                **{
                    f"H = 1, {rule} attack": every(
                        *(_within(where("one layer", A=rule, R=R, ε=eps)) for _, R, eps in some)
                    )
                    for rule, some in JUDGED.items()
                },
                **{f"H = 1, {told}": _within(where("other sets", data=name))
                   for name, told in SETS.items()},
                "T = Θ(R²/(mεα)) for every H (R = 10⁻⁵)": every(
                    _met(where("depths")), _grows("t mεα/R²", "H", "depths", 0.05)
                ),
                "H ≥ 2: within ε of the optimum": present(
                    "level", lambda rows: (), "no certified optimum is known for H ≥ 2"
                ),
                "with H times as many steps (ours), told": setting(
                    "level", *(last("t mεα/(HR²)", where("depths", H=H)) for H in DEPTHS)
                ),
            }
        ),
    ),
    "conv.thm4.1.proof": counted_as(
        "inequality",
        parts(
            {
                "two weights of B(R) are O(R/√m) apart, for every H": _grows(
                    "diameter²", "H", "proof over H"
                ),
                "‖W⁽⁰⁾ − W_*‖² ≤ R²/m": each(
                    where("proof over H"), lambda run: at_most(last("radius²", run), 1 + 1e-9)
                ),
                "last display, its sign: L_*(W_*) − L_A(W_t) ≤ ε": each(
                    where("printed sign"), lambda run: at_most(last("L_*(W_*)/ε", run), 1.0)
                ),
                "‖∇L_A‖² = O(mH²), over H": _grows("gradient²/(mH²)", "H", "proof over H"),
                "‖∇L_A‖² = O(mH²), over m": _grows("gradient²/(mH²)", "m", "proof over m", 0.05),
            }
        ),
    ),
    "conv.fn4": counted_as(
        "level",
        parts(
            {
                "logistic loss in Theorem 4.1, H = 1": _within(where("logistic")),
                "logistic loss in Theorem 4.1, H ≥ 2": present(
                    "level", lambda rows: (), "no certified optimum is known for H ≥ 2"
                ),
                "logistic loss in Theorem 5.1": certified(where("logistic, two layers")),
            }
        ),
    ),
    "conv.sec7.depth": counted_as(
        "exponent",
        parts(
            {
                "a layer's gradient norm² over m: power of H ≤ 1": _grows(
                    "layer²/m", "H", "proof over H", 1.0
                ),
                "all layers' gradient norm²: power of H ≤ 2": _grows(
                    "gradient²/(mH²)", "H", "proof over H", 0.0
                ),
                "flips and linearisation: powers of H ≤ 1 and 3": present(
                    "exponent", lambda rows: (), "flips are not measured; the linearisation error "
                    "in a tiny ball alone, where it is told"
                ),
                "the linearisation error in the tiny ball over R^{4/3}m^{−1/6}, told": setting(
                    "exponent", *(last("bend", where("proof over H", H=H)) for H in DEPTHS[1:])
                ),
                "the time to ε over the printed T, told": setting(
                    "exponent", *(last("t mεα/R²", where("depths", H=H)) for H in DEPTHS)
                ),
            }
        ),
    ),
}  # fmt: skip
