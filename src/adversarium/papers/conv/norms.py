"""CONV's deep ReLU network at its initialisation: Lemmas A.1 to A.4, eq. (9), (11) and (13).

Paper: with high probability ‖A‖₂, ‖W⁽ʰ⁾‖₂ = O(1), all features have norms in [2/3, 4/3], products
back to layer h are O(√(mH)); moving x is a rank-one move of W⁽¹⁾; features drift by
O(τH^{5/2}√log m), τ = R/√m + δ.
Reading: norms of one input in law (d drops out by rotation); whole networks elsewhere. Orders are
judged by slopes of quotients; drifts by an attack along leading singular vectors, for τ down to
10⁻¹⁰, where τH⁶(log m)³ ≤ 1 for every H.
Cost: quick 50 s (2 cores).
"""

import itertools
import math
from typing import Any

import numpy as np

from adversarium.plans import (
    Profile,
    Read,
    Reading,
    Table,
    Trial,
    Where,
    at_most,
    counted_as,
    each,
    every,
    exponent,
    frequency,
    identity,
    last,
    level,
    parts,
    setting,
    where,
)
from adversarium.trials import (
    back_products,
    deep_gradients,
    feature_drift,
    first_norm,
    moved_input,
    norm_events,
    norm_profile,
    spectral_norms,
)

DRAWS = 4000  # of the law, a seed
SHARES = (1 / 16, 1 / 4, 1)
PER_LAYER = (16, 32, 64, 128, 256)  # m/H
SMALL = 1e-8  # τ at which the hypothesis is met at every depth

quick = dict(seeds=5, widths=(32, 64, 128, 256), depths=(1, 2, 4, 8), draws=40)
paper = dict(seeds=20, widths=(64, 128, 256, 512, 1024), depths=(1, 2, 4, 8, 16), draws=200)


def plan(widths, depths, draws):
    place: dict[str, Any] = {"m": Read("m"), "H": Read("H")}
    at: dict[str, Any]

    def trial(family, function, at, exact=False, **parameters):
        return Trial(family=family, at=at, function=function, parameters=parameters, exact=exact)

    for m, share in itertools.product(widths, (*SHARES, 4)):
        at = {"m": Read("m"), "d/m": Read("share")}
        yield trial("spectral", spectral_norms, at, m=m, H=1, share=share, draws=4)
    for H in depths:
        yield trial("spectral, all layers", spectral_norms, place, m=128, H=H, share=0.25, draws=4)
    yield trial("spectral, often", spectral_norms, place, m=128, H=1, share=0.25, draws=draws)
    for m in (64, 256, 1024, 4096):
        yield trial("first norm", first_norm, {"m": Read("m")}, exact=True, m=m)
    for H, each_layer in itertools.product((1, 2, 4, 8, 16, 32), PER_LAYER):
        at = {"H": Read("H"), "m/H": each_layer}
        yield trial("norms", norm_events, at, m=each_layer * H, H=H, draws=DRAWS)
    for each_layer in PER_LAYER[:4]:
        at = {"H": Read("H"), "m/H": each_layer}
        yield trial("failures", norm_events, at, m=each_layer * 4, H=4, draws=10 * DRAWS)
    yield trial("one network", norm_profile, place, m=1024, H=8)
    for m in widths:
        yield trial("products", back_products, place, m=m, H=2, draws=20)
    for H in depths:
        yield trial("products over H", back_products, place, m=max(widths), H=H, draws=4)
    for m in (32, 64, 128, 256):
        yield trial("products, often", back_products, place, m=m, H=4, draws=5 * draws)
    for H in (1, 2, 4, 8):
        yield trial("gradients", deep_gradients, place, m=64, H=H)
    for m, (share, R) in itertools.product(widths, ((0.0, 0.0), (0.25, 0.25), (0.25, 1.0))):
        d = max(2, round(share * m))
        at = {"m": Read("m"), "d/m": share, "R/√m": Read("share")}
        yield trial("moved inputs", moved_input, at, m=m, d=d, H=2, share=R)
    for H in (1, 4):
        at = {**place, "R/√m": Read("share")}
        yield trial("moved inputs, depths", moved_input, at, m=128, d=32, H=H, share=0.25)
    at = {**place, "τ": Read("tau")}
    for m in widths:
        yield trial("drift", feature_drift, at, m=m, H=4, tau=SMALL, draws=8)
        yield trial("drift at the gate", feature_drift, place, m=m, H=1, draws=8)
    for H in depths:
        yield trial("drift over H", feature_drift, at, m=256, H=H, tau=SMALL, draws=4)
        yield trial("gate over H", feature_drift, place, m=256, H=H, draws=4)
    for tau in (1e-10, 1e-8, 1e-6, 1e-5):
        yield trial("drift over τ", feature_drift, at, m=256, H=2, tau=tau)
    yield trial("drift, outside", feature_drift, at, m=256, H=4, tau=1.0)


def _bounded(number: str, along: str, meant: Where, most: float, per=lambda size: 1.0):
    """A quotient by its printed order does not grow."""
    return exponent(f"power of {along} in {number} ({meant.told})", number, along, meant, 0.0,
                    (math.inf, most), per)  # fmt: skip


def _tail(meant: Where):
    over = Reading("frequency − 2e^{−s²m/2}", lambda r: r.last("over") - r.last("allowed"),
                   ("over", "allowed"))  # fmt: skip
    return at_most(over.on(meant), 0.0)


def _often(event: str, meant: Where, least: float):
    return each(meant, lambda run: frequency(last(event, run), DRAWS, least))


def _exponents(run) -> np.ndarray:
    """−log P(fail) a seed; a seed without a failure stands at one in twice the draws."""
    return -np.log(np.maximum(run.last("failed"), 1 / (20 * DRAWS)))


_rare = Reading("−log P(fail)", _exponents, ("failed",))

checks = {
    "conv.lemA.1": counted_as(
        "frequency",
        parts(
            {
                **{
                    f"‖A‖₂, d = {share:g} m": _bounded(
                        "A", "m", where("spectral", **{"d/m": share}), 0.05
                    )
                    for share in SHARES
                },
                "‖W⁽ʰ⁾‖₂": every(
                    *(_bounded("W", "m", where("spectral", **{"d/m": s}), 0.05) for s in SHARES)
                ),
                "the largest of H layers": _bounded("W", "H", where("spectral, all layers"), 0.05),
                "|a|/√m": _bounded("a", "m", where("spectral", **{"d/m": 1}), 0.05),
                "its probability, by the proof's own tail": _tail(where("spectral, often")),
                "m ≥ d matters: ‖A‖₂ at d = 4m, told": setting(
                    "level", last("A", where("spectral", m=64, **{"d/m": 4}))
                ),
            }
        ),
    ),
    "conv.lemA.2": counted_as(
        "frequency",
        parts(
            {
                "h = 0, exactly": each(
                    where("first norm", m=4096), lambda run: level(last("kept", run), 0.5)
                ),
                "before the activation": _often("before", where("norms", **{"m/H": 256}), 0.5),
                "after the activation": _often("after", where("norms", **{"m/H": 256}), 0.5),
            }
        ),
    ),
    "conv.lemA.2.corrected": counted_as(
        "frequency",
        parts(
            {
                "after the activation, m/H ≥ 128": every(
                    *(_often("corrected after", where("norms", **{"m/H": k}), 0.99)
                      for k in (128, 256))
                ),
                "before the activation, m/H ≥ 128": every(
                    *(_often("corrected before", where("norms", **{"m/H": k}), 0.99)
                      for k in (128, 256))
                ),
                "fails as e^{−Ω(m/H)}: no growth in H at m/H = 16": _bounded(
                    "failed", "H", where("norms", **{"m/H": 16}), 0.1
                ),
                "fails as e^{−Ω(m/H)}: power of m/H in −log P": exponent(
                    "power of m/H in −log P, H = 4", _rare, "m/H", where("failures"),
                    0.875, 0.225,
                ),
            }
        ),
    ),
    "conv.lemA.3": counted_as(
        "level",
        parts(
            {
                "its order, over m": _bounded("product", "m", where("products"), 0.05),
                "its order, over H": _bounded(
                    "product", "H", where("products over H"), 0.05, per=math.sqrt
                ),
                "its probability: P(> 1.5 √m) at m/H = 64": each(
                    where("products, often", m=256),
                    lambda run: level(last("failed", run), high=0.01),
                ),
            }
        ),
    ),
    "conv.eq9": counted_as(
        "identity",
        each(
            where("gradients"),
            lambda run: every(
                identity(last("autograd", run), 1e-10),
                identity(last("Euler", run), 1e-10),
                identity(last("difference", run), 1e-6),
            ),
        ),
    ),
    "conv.lemA.4": counted_as(
        "identity",
        parts(
            {
                "equal features and patterns": every(
                    *(
                        each(
                            where(family),
                            lambda run: every(
                                identity(last("features", run), 1e-10),
                                identity(last("patterns", run), 0.0),
                            ),
                        )
                        for family in ("moved inputs", "moved inputs, depths")
                    )
                ),
                **{
                    f"the move is O(δ), R = {R:g} √m, d = {share:g} m": _bounded(
                        "move", "m", where("moved inputs", **{"d/m": share, "R/√m": R}), 0.05
                    )
                    for share, R in ((0.0, 0.0), (0.25, 0.25), (0.25, 1.0))
                },
            }
        ),
    ),
    "conv.eq11": counted_as(
        "exponent",
        parts(
            {
                "over τ": _bounded("drift", "τ", where("drift over τ"), 0.03),
                "over m": _bounded(
                    "drift", "m", where("drift"), 0.05, per=lambda m: math.sqrt(math.log(m))
                ),
                "over H": _bounded(
                    "drift", "H", where("drift over H"), 0.05, per=lambda H: H**2.5
                ),
            }
        ),
    ),
    "conv.eq13": counted_as(
        "level",
        parts(
            {
                "no growth in m": _bounded("norm", "m", where("drift at the gate"), 0.03),
                "no growth in H": _bounded("norm", "H", where("gate over H"), 0.03),
                "outside the hypothesis (τ = 1) norms grow, told": setting(
                    "level", last("norm", where("drift, outside"))
                ),
            }
        ),
    ),
}  # fmt: skip

figures = (
    Profile(
        name="norms",
        title="Lemma A.2: norms before and after the activation, one network",
        y=("before", "after"),
        runs=(where("one network"),),
        names={"before": r"$|\bar x^{(h)}|$", "after": r"$|x^{(h)}|$"},
        x_label="layer h",
        y_label="norm",
        caption="m = 1024, H = 8. They tend to 2 and √2; the lemma has them between 2/3 and 4/3.",
    ),
    Table(
        name="events",
        title="In how many of the draws all norms lie in the interval",
        y=("after", "corrected after", "corrected before"),
        runs=(where("norms", H=4),),
        names={
            "after": "after, [2/3, 4/3]",
            "corrected after": "after, [2/3, 4/3]·√2",
            "corrected before": "before, [2/3, 4/3]·2",
        },
        caption=f"Of {DRAWS} draws a seed, H = 4.",
    ),
)
