"""Checks of RNRF's setting."""

import math

from adversarium.plans import (
    AtMost,
    Each,
    Every,
    Existence,
    Frequency,
    Hypothesis,
    Identity,
    Level,
    Parts,
    last,
    where,
)

from .plan import (
    ALONG_D,
    APART,
    CONSISTENT,
    DRAWS,
    EXCESS,
    FIG3,
    PAIRS,
    PUBLISHED,
    SEPARATED,
    WIDTHS,
)


def _upper(n, t):
    """Check P[‖X‖_∞ < √(2 log 2n) + t] ≥ 1 − ½e^{−t²/2}, Lemma B.1 of RNRF."""
    return Frequency(last(f"n={n}, t={t}", "tails"), DRAWS, 1 - math.exp(-t * t / 2) / 2)


def _lower(n, delta):
    """Check P[‖X‖_∞ > √(2 log 2n) − δ] ≥ 1 − exp(−e^{δ/2}/(√(2π)(√(2 log 2n) + 1))).

    This is the lower tail in Lemma B.1 of RNRF.
    """
    rate = math.exp(delta / 2) / math.sqrt(2 * math.pi) / (math.sqrt(2 * math.log(2 * n)) + 1)
    return Frequency(last(f"n={n}, δ={delta}", "tails"), DRAWS, 1 - math.exp(-rate))


def _at_every_k(name):
    """Check that a quantity is 1 at every k, on data for which all assumptions hold."""
    return Each(where(CONSISTENT), lambda trial: Existence(last(name, trial)))


checks = {
    "rnrf.def2.1.features": Hypothesis("identity", last("error", "features")),
    "rnrf.asm2.3.strength": Hypothesis("level", last("alpha/beta", "assumptions")),
    "rnrf.asm2.3.density": Hypothesis("level", last("density", "assumptions")),
    "rnrf.asm2.3.conflict": Existence(last("both_possible", "assumptions")),
    "rnrf.asm2.3.conflict.factor": Every(
        Existence(last("both_with_more", "assumptions")),
        Level(last("least_P", "assumptions"), high=18),
    ),
    "rnrf.sec2.5.separation": Each(
        where(APART),
        lambda trial: Every(
            Level(last("least", trial), 2.0),
            Frequency(last("apart", trial), PAIRS, 0.98),
        ),
    ),
    "rnrf.sec2.5.separation.published": Every(
        Level(last("least", PUBLISHED), 2.0), Frequency(last("apart", PUBLISHED), PAIRS, 0.98)
    ),
    "rnrf.act.smooth": Identity(last("error", "activation"), 1e-12),
    "rnrf.prop3.1.clean": _at_every_k("v_fits"),
    "rnrf.prop3.1.nonrobust": _at_every_k("v_broken"),
    "rnrf.prop3.2.clean": Every(
        _at_every_k("u_fits"), Each(where(ALONG_D), lambda trial: Level(last("u_fits", trial), 1))
    ),
    "rnrf.prop3.2.robust": _at_every_k("u_robust"),
    "rnrf.prop3.2.robust.corrected": Each(
        where(SEPARATED), lambda trial: Existence(last("robust", trial))
    ),
    "rnrf.prop3.2.weak": Every(
        Level(last("u_replaced", FIG3), 1.0, 1.0), Level(last("u_lowered", FIG3), 0.75)
    ),
    "rnrf.lemD.3.init": Level(last("slope", "maxima"), 0.9, 1.1, kind="exponent"),
    "rnrf.lemD.3.init.corrected": Every(
        Level(last("least_ratio", "maxima"), 0.7, 1.0, kind="exponent"),
        Level(last("largest_ratio", "maxima"), 0.7, 1.0, kind="exponent"),
        Existence(last("rising", "maxima")),
    ),
    "rnrf.lemB.1.max": Parts(
        {
            "above √(2 log 2n) + t": Every(*(_upper(n, t) for n in WIDTHS for t in EXCESS)),
            "below √(2 log 2n) − δ": Every(*(_lower(n, t) for n in WIDTHS for t in EXCESS)),
        }
    ),
    "rnrf.lemB.2.tpm": Every(
        AtMost(last("third", "tensor power"), 1.0),
        AtMost(last("fourth", "tensor power"), 1.0),
        AtMost(last("closed_form", "tensor power"), 0.05),
    ),
    "rnrf.x.impossibility": Every(
        Existence(last("midpoints", "impossibility")),
        Existence(last("matching", "impossibility")),
        Existence(last("list", "impossibility")),
    ),
    "rnrf.x.masking": Existence(last("masked", "masking")),
}
