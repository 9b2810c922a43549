"""Checks of CONV's random features."""

from adversarium.plans import (
    Check,
    Where,
    at_most,
    counted_as,
    each,
    every,
    frequency,
    identity,
    last,
    level,
    parts,
    present,
    setting,
    where,
)

from ...theory.orders import bounded
from .plan import EPS, KINDS, WIDTH_FACTORS


def _succeeds(runs: Where, least: float, of: str = "draws") -> Check:
    """Check that the success rate is at least `least` in every run."""
    return each(runs, lambda run: frequency(last("kept", run), of, least))


checks: dict[str, Check] = {
    "conv.lemC.1": counted_as(
        "inequality",
        parts(
            {
                "E[⟨u, x⟩s'] = Σβ_t K(·, x_t)": each(
                    where("sections"), lambda run: at_most(last("function", run), 1e-5)
                ),
                "E|u|² = |h|²": each(
                    where("sections"), lambda run: at_most(last("norm", run), 1e-5)
                ),
                "u is bounded where s' is: |u| at |w| = 10⁴ over |w| < 40": each(
                    where("sections"), lambda run: at_most(last("growth", run), 1.1)
                ),
                "density": present(
                    "inequality", lambda rows: (), "a limit over all functions cannot be tested"
                ),
                "the same for the quadratic ReLU, told": setting(
                    "inequality", last("growth", "unbounded")
                ),
            }
        ),
    ),
    "conv.propC.1": counted_as(
        "frequency",
        parts(
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
                "the proof's contraction at fixed w_i = τe, τ = 0.01: left over right > 1": level(
                    last("left/right", where("contraction", **{"1/τ": 100})), 1.0
                ),
                "the proof's tail with ξ, as printed: P over it > 1 at |h|_RF = 1000": level(
                    last("printed", where("tail", **{"|h|_RF": 1000})), 1.0
                ),
                "with ξ²: P over it ≤ 1": each(
                    where("tail"), lambda run: level(last("with ξ²", run), high=1.0)
                ),
                "|h|_RF is one of the representer: two of one h, quotient > 1": every(
                    identity(last("h", where("representers")), 1e-10),
                    level(last("|h|_RF", where("representers")), 1.0),
                ),
                "the proof's c_i over the bound with C = C2 alone and with both, told": setting(
                    "frequency",
                    *(
                        last(name, where("one letter", b=b))
                        for b in (0.01, 2.0)
                        for name in ("C2 alone", "both")
                    ),
                ),
                "d = 5 and 20, on random points, told": setting(
                    "frequency",
                    *(last("quotient", where("spheres", d=d, M=512)) for d in (5, 20)),
                ),
            }
        ),
    ),
    "conv.thm5.2": counted_as(
        "existence",
        parts(
            {
                "the programme is solved: violation and duality gap": each(
                    where("networks"),
                    lambda run: every(
                        identity(last("violation", run), 1e-6), identity(last("gap", run), 1e-4)
                    ),
                ),
                **{
                    f"m = R⁴/ε², ε = {eps:g}: L_* ≤ ε within 1.1 R in 99 of 100 starts": _succeeds(
                        where("networks", **{"1/ε": round(1 / eps), "mε²/R⁴": 1.0}), 0.99, "starts"
                    )
                    for eps in EPS
                },
                "as printed, without a_r in the move, m = R⁴/ε²: L_* > 0.3 in every start": each(
                    where("networks", **{"mε²/R⁴": 1.0}),
                    lambda run: level(last("printed", run), 0.3),
                ),
                "the network misses its features by at most C2|g|²_RF/(2√m)": each(
                    where("errors"), lambda run: at_most(last("linearisation/bound", run), 1.0)
                ),
                "ε̄ = 1/(3 Lip), as printed: L_* > ε at ε = 0.02": level(
                    last("L_*/ε", where("coarse fit", **{"1/ε": 50})), 1.0
                ),
                "R = |g|_RF/2, as printed: a network of the proof is farther away": level(
                    last("distance/(|g|_RF/2)", where("wide cap", d=32)), 1.0
                ),
                "m = R⁴/ε², R = |g|_RF, one cap of R^2048: the proof's network has L_* > ε": level(
                    last("R⁴/ε²", where("wide cap", d=2048)), 1.0
                ),
                "the same at d = 6500: no W of B(R) has L_* ≤ ε": level(
                    last("least L_*/ε", where("all weights")), 1.0
                ),
                "m = R²(R² + d)/ε²: L_*/ε does not grow with d, as far as an attack sees": bounded(
                    "R²(R² + d)/ε²", "d", where("wide cap"), 0.1
                ),
                "smaller widths: starts that serve, told": setting(
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
}
