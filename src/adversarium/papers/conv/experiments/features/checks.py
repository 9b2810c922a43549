"""Checks of CONV's random features."""

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Frequency,
    Hypothesis,
    Identity,
    Parts,
    Where,
    last,
    where,
)

from ...theory.orders import bounded
from .plan import EPS, KINDS, WIDTH_FACTORS


def _succeeds(runs: Where, least: float, of: str = "draws") -> Check:
    """Check that the success rate is at least `least` in every run."""
    return Each(runs, lambda run: Frequency(last("kept", run), of, least))


def _built(eps: float) -> Check:
    """Check that the network of Theorem 5.2 has L_* ≤ ε in 99 of 100 starts, and that the quadratic
    programme of its target is solved."""
    runs = where("networks", **{"1/ε": round(1 / eps), "mε²/R⁴": 1.0})
    return Every(
        _succeeds(runs, 0.99, "starts"),
        Identity(last("violation", runs), 1e-6),
        Identity(last("gap", runs), 1e-4),
    )


checks: dict[str, Check] = {
    "conv.lemC.1": CountedAs(
        "inequality",
        Parts(
            {
                "E[⟨u, x⟩s'] = Σβ_t K(·, x_t)": Each(
                    where("sections"), lambda run: AtMost(last("function", run), 1e-5)
                ),
                "E|u|² = |h|²": Each(
                    where("sections"), lambda run: AtMost(last("norm", run), 1e-5)
                ),
                "|u| at |w| = 10⁴ over |w| < 40, smoothed ReLU and quadratic ReLU, reported": (
                    Hypothesis(
                        "inequality",
                        last("growth", where("sections", s="smoothed ReLU", d=2)),
                        last("growth", "unbounded"),
                    )
                ),
            }
        ),
    ),
    "conv.propC.1": CountedAs(
        "frequency",
        Parts(
            {
                **{
                    f"at p = 0.01 on the whole circle, h: {kind}": _succeeds(
                        where("circle", h=kind), 0.99
                    )
                    for kind in KINDS
                },
                "its order, √M sup|ĥ − h| over M": bounded(
                    "scaled", "M", where("circle", h="any"), 0.05
                ),
                "the proof's c_i, divided by the bound with C2 alone and with both": Hypothesis(
                    "frequency",
                    *(
                        last(name, where("one letter", b=b))
                        for b in (0.01, 2.0)
                        for name in ("C2 alone", "both")
                    ),
                ),
                "d = 5 and 20, on random points, reported": Hypothesis(
                    "frequency",
                    *(last("quotient", where("spheres", d=d, M=512)) for d in (5, 20)),
                ),
            }
        ),
    ),
    "conv.propC.1.proof": CountedAs(
        "inequality",
        Parts(
            {
                "the contraction lemma at fixed w_i = τe, τ = 0.01": AtMost(
                    last("left/right", where("contraction", **{"1/τ": 100})), 1.0
                ),
                "the tail with ξ, at |h|_RF = 1000": AtMost(
                    last("printed", where("tail", **{"|h|_RF": 1000})), 1.0
                ),
                "the tail with ξ² in its place, P over it, reported": Hypothesis(
                    "inequality",
                    *(last("with ξ²", where("tail", **{"|h|_RF": size})) for size in (1, 1000)),
                ),
                "|h|_RF is the same for two representers of one h": Every(
                    Identity(last("h", where("representers")), 1e-10),
                    AtMost(last("|h|_RF", where("representers")), 1.0),
                ),
            }
        ),
    ),
    "conv.thm5.2": CountedAs(
        "existence",
        Parts(
            {
                "m = R⁴/ε²: L_* ≤ ε within 1.1 R in 99 of 100 starts, ε = 0.2, 0.1, 0.05": Every(
                    *(_built(eps) for eps in EPS)
                ),
                "the linearisation error over its bound C2|g|²_RF/(2√m), reported": Hypothesis(
                    "existence",
                    *(last("linearisation/bound", where("errors", m=m)) for m in (64, 256)),
                ),
                "L_*/ε at m = R²(R² + d)/ε² on one cap, as far as an attack sees": Hypothesis(
                    "existence", *(last("R²(R² + d)/ε²", where("wide cap", d=d)) for d in (8, 32))
                ),
                "smaller widths: starts that serve, reported": Hypothesis(
                    "existence",
                    *(
                        last("kept", where("networks", **{"1/ε": round(1 / eps), "mε²/R⁴": room}))
                        for eps in EPS
                        for room in WIDTH_FACTORS[:2]
                    ),
                ),
            }
        ),
    ),
    "conv.thm5.2.proof": CountedAs(
        "inequality",
        Parts(
            {
                "the move without the sign a_r has L_* ≤ ε": Every(
                    *(
                        AtMost(
                            last("printed", where("networks", **{"1/ε": n, "mε²/R⁴": 1.0})), 1 / n
                        )
                        for n in (round(1 / eps) for eps in EPS)
                    )
                ),
                "the tolerance 1/(3 Lip) gives L_* ≤ ε at ε = 0.02": AtMost(
                    last("L_*/ε", where("coarse fit", **{"1/ε": 50})), 1.0
                ),
                "the network lies within |g|_RF/2": AtMost(
                    last("distance/(|g|_RF/2)", where("wide cap", d=32)), 1.0
                ),
                "m = R⁴/ε² and R = |g|_RF serve on one cap of R^2048": AtMost(
                    last("R⁴/ε²", where("wide cap", d=2048)), 1.0
                ),
                "some W of B(|g|_RF) has L_* ≤ ε at m = R⁴/ε² on one cap of R^6500": AtMost(
                    last("least L_*/ε", where("all weights")), 1.0
                ),
            }
        ),
    ),
}
