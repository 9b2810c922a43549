"""Checks of CONV's deep network at initialisation."""

import math
from statistics import NormalDist

import numpy as np

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Exponent,
    Frequency,
    Hypothesis,
    Identity,
    Level,
    Open,
    Parts,
    Reading,
    Where,
    last,
    where,
)

from ...theory.orders import bounded
from .plan import DRAWS, MOVED, SHARES


def _tail(runs: Where):
    """Check that the frequency of large norms is at most 2e^{−s²m/2}, the bound of the proof."""
    over = Reading("frequency − 2e^{−s²m/2}", lambda r: r.last("over") - r.last("allowed"),
                   ("over", "allowed"))  # fmt: skip
    return AtMost(over.on(runs), 0.0)


def _frequent(event: str, runs: Where, least: float):
    """Check that the frequency of an event is at least `least` in every run."""
    return Each(runs, lambda run: Frequency(last(event, run), "draws", least))


def _exponents(run) -> np.ndarray:
    """Return −log P(fail), one number per seed.

    If none of the 10·DRAWS draws of a seed fails, half a failure is counted.
    """
    return -np.log(np.maximum(run.last("failed"), 1 / (20 * DRAWS)))


_failure_exponent = Reading("−log P(fail)", _exponents, ("failed",))


def _squared_quantiles(run) -> np.ndarray:
    """Return z², P(normal > z) = P(> 1.5 √m), one number per seed.

    It is proportional to m for a normal tail of variance 1/m, whereas −log P also has a slowly
    varying term. Half an event is counted if there is none.
    """
    least = 1 / (2 * run.parameter("draws"))
    shares = np.clip(run.last("failed"), least, 0.5 - least)
    return np.array([NormalDist().inv_cdf(1 - share) ** 2 for share in shares])


_tail_quantile = Reading("z² of P(> 1.5 √m)", _squared_quantiles, ("failed",))


def _same_gradient(name: str, most: float) -> Check:
    """Check that the gradients of eq. (9) agree with another method at every depth."""
    return Each(where("gradients"), lambda run: Identity(last(name, run), most))


def _equal_networks() -> Check:
    """Check that moving the input and changing the first layer give the same network."""
    return Every(
        *(
            Each(
                where(family),
                lambda run: Every(
                    Identity(last("features", run), 1e-10), Identity(last("patterns", run), 0.0)
                ),
            )
            for family in ("moved inputs", "moved inputs, depths")
        )
    )


checks: dict[str, Check] = {
    "conv.lemA.1": CountedAs(
        "frequency",
        Parts(
            {
                "‖A‖₂ over m, at d = m/16, m/4 and m": Every(
                    *(bounded("A", "m", where("spectral", **{"d/m": s}), 0.1) for s in SHARES)
                ),
                "‖W⁽ʰ⁾‖₂": Every(
                    *(bounded("W", "m", where("spectral", **{"d/m": s}), 0.05) for s in SHARES)
                ),
                "the largest of H layers": bounded("W", "H", where("spectral, all layers"), 0.05),
                "|a|/√m": bounded("a", "m", where("spectral", **{"d/m": 1}), 0.05),
                "its probability, by the proof's own tail": Each(
                    where("spectral, often"), lambda run: _tail(run)
                ),
                "m ≥ d matters: ‖A‖₂ at d = 4m, reported": Hypothesis(
                    "level", last("A", where("spectral", m=64, **{"d/m": 4}))
                ),
            }
        ),
    ),
    "conv.lemA.2": CountedAs(
        "frequency",
        Parts(
            {
                "h = 0, exactly": Each(
                    where("first norm", m=4096), lambda run: Level(last("kept", run), 0.5)
                ),
                "before the activation": _frequent("before", where("norms", **{"m/H": 256}), 0.5),
                "after the activation": _frequent("after", where("norms", **{"m/H": 256}), 0.5),
            }
        ),
    ),
    "conv.lemA.2.corrected": CountedAs(
        "frequency",
        Parts(
            {
                "after the activation, m/H ≥ 128": Every(
                    *(_frequent("corrected after", where("norms", **{"m/H": k}), 0.99)
                      for k in (128, 256))
                ),
                "before the activation, m/H ≥ 128": Every(
                    *(_frequent("corrected before", where("norms", **{"m/H": k}), 0.99)
                      for k in (128, 256))
                ),
                "fails as e^{−Ω(m/H)}: no growth in H at m/H = 16": bounded(
                    "failed", "H", where("norms", **{"m/H": 16}), 0.1
                ),
                "fails as e^{−Ω(m/H)}: power of m/H in −log P": Exponent(
                    "power of m/H in −log P, H = 4", _failure_exponent, "m/H", where("failures"),
                    0.875, 0.225,
                ),
            }
        ),
    ),
    "conv.lemA.3": CountedAs(
        "level",
        Parts(
            {
                "its order, over m": bounded("product", "m", where("products"), 0.05),
                "its order, over H": bounded(
                    "product", "H", where("products over H"), 0.05, per=math.sqrt
                ),
                "its probability: −log P(> 1.5 √m) grows like m, H = 4": Exponent(
                    "power of m in z², P(> 1.5 √m) = P(normal > z)", _tail_quantile, "m",
                    where("products, often"), 1.0, (0.3, math.inf),
                ),
                "its probability: P(≤ 1.5 √(mH)) ≥ 0.9 at m/H = 16, for every H": _frequent(
                    "kept", where("products, often, over H"), 0.9
                ),
            }
        ),
    ),
    "conv.eq9": Parts(
        {
            "against automatic differentiation": _same_gradient("autograd", 1e-10),
            "against Euler's identity": _same_gradient("Euler", 1e-10),
            "against a finite difference": _same_gradient("difference", 1e-6),
        }
    ),
    "conv.lemA.4": CountedAs(
        "identity",
        Parts(
            {
                "equal features and patterns": _equal_networks(),
                "the move is O(δ) for every d: power of d at m = 64, R = 0": bounded(
                    "move", "d", where("moved inputs, d over m"), 0.05
                ),
            }
        ),
    ),
    "conv.lemA.4.corrected": CountedAs(
        "identity",
        Parts(
            {
                "equal features and patterns": _equal_networks(),
                "the move is O(δ) at d = 2, m/4 and m, R from 0 to √m": Every(
                    *(
                        bounded("move", "m", where("moved inputs", **{"d/m": share, "R/√m": R}),
                                0.05)
                        for share, R in MOVED
                    )
                ),
            }
        ),
    ),
    "conv.eq11": CountedAs(
        "exponent",
        Parts(
            {
                "over τ, no unit flips": bounded("drift", "τ", where("drift over τ"), 0.03),
                "over τ, H = 1, up to the gate": bounded(
                    "drift", "τ", where("drift over τ, flips"), 0.03
                ),
                **{
                    f"x⁽ᴴ⁾ from above, no flip, over {along}": bounded(
                        "above", along, where(family), 0.05, per=per
                    )
                    for along, family, per in (
                        ("m", "drift", lambda m: math.sqrt(math.log(m))),
                        ("H", "drift over H", lambda H: H**2.5),
                    )
                },
                "over m": bounded(
                    "drift", "m", where("drift"), 0.05, per=lambda m: math.sqrt(math.log(m))
                ),
                "over H": bounded(
                    "drift", "H", where("drift over H"), 0.05, per=lambda H: H**2.5
                ),
                "H ≥ 2 with flips": Open(
                    "exponent",
                    "within the hypothesis a few units of a layer flip at m = 1024; some hundred "
                    "would flip at m = 10⁷, where a layer has 10¹⁴ weights, too many to store",
                ),
            }
        ),
    ),
    "conv.eq13": CountedAs(
        "level",
        Parts(
            {
                "no growth in m": bounded("norm", "m", where("drift at the gate"), 0.03),
                "no growth in H": bounded("norm", "H", where("gate over H"), 0.03),
                "outside the hypothesis (τ = 1) norms grow, reported": Hypothesis(
                    "level", last("norm", where("drift, outside"))
                ),
            }
        ),
    ),
}  # fmt: skip
