"""Checks of RNRF's setting."""

import math

from adversarium.plans import (
    at_most,
    each,
    every,
    existence,
    frequency,
    identity,
    last,
    level,
    parts,
    power,
    setting,
)

from .plan import (
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
    """P[‖X‖_∞ < √(2 log 2n) + t] ≥ 1 − ½e^{−t²/2}, Lemma B.1 of RNRF."""
    return frequency(last(f"n={n}, t={t}", "tails"), DRAWS, 1 - math.exp(-t * t / 2) / 2)


def _lower(n, delta):
    """P[‖X‖_∞ > √(2 log 2n) − δ] ≥ 1 − exp(−e^{δ/2}/(√(2π)(√(2 log 2n) + 1))).

    The lower tail in Lemma B.1 of RNRF.
    """
    rate = math.exp(delta / 2) / math.sqrt(2 * math.pi) / (math.sqrt(2 * math.log(2 * n)) + 1)
    return frequency(last(f"n={n}, δ={delta}", "tails"), DRAWS, 1 - math.exp(-rate))


def _at_every_k(name):
    """Check that a number is 1 at every k, on data for which the assumptions hold together."""
    return each(CONSISTENT, lambda trial: existence(last(name, trial)))


checks = {
    "rnrf.def2.1.features": setting("identity", last("error", "features")),
    "rnrf.asm2.3.strength": setting("level", last("alpha/beta", "assumptions")),
    "rnrf.asm2.3.density": setting("level", last("density", "assumptions")),
    "rnrf.asm2.3.conflict": existence(last("both_possible", "assumptions")),
    "rnrf.asm2.3.conflict.factor": every(
        existence(last("both_with_more", "assumptions")),
        level(last("least_P", "assumptions"), high=18),
    ),
    "rnrf.sec2.5.separation": each(
        APART,
        lambda trial: every(
            level(last("least", trial), 2.0),
            frequency(last("apart", trial), PAIRS, 0.98),
        ),
    ),
    "rnrf.sec2.5.separation.published": every(
        level(last("least", PUBLISHED), 2.0), frequency(last("apart", PUBLISHED), PAIRS, 0.98)
    ),
    "rnrf.act.smooth": identity(last("error", "activation"), 1e-12),
    "rnrf.prop3.1.clean": _at_every_k("v_fits"),
    "rnrf.prop3.1.nonrobust": _at_every_k("v_broken"),
    "rnrf.prop3.2.clean": _at_every_k("u_fits"),
    "rnrf.prop3.2.robust": _at_every_k("u_robust"),
    "rnrf.prop3.2.robust.corrected": each(
        SEPARATED, lambda trial: existence(last("robust", trial))
    ),
    "rnrf.prop3.2.weak": every(
        level(last("u_replaced", FIG3), 1.0, 1.0), level(last("u_lowered", FIG3), 0.75)
    ),
    "rnrf.lemD.3.init": power(last("slope", "maxima"), 0.9, 1.1),
    "rnrf.lemD.3.init.corrected": every(
        power(last("least_ratio", "maxima"), 0.7, 1.0),
        power(last("largest_ratio", "maxima"), 0.7, 1.0),
        existence(last("rising", "maxima")),
    ),
    "rnrf.lemB.1.max": parts(
        {
            "above √(2 log 2n) + t": every(*(_upper(n, t) for n in WIDTHS for t in EXCESS)),
            "below √(2 log 2n) − δ": every(*(_lower(n, t) for n in WIDTHS for t in EXCESS)),
        }
    ),
    "rnrf.lemB.2.tpm": every(
        at_most(last("third", "tensor power"), 1.0),
        at_most(last("fourth", "tensor power"), 1.0),
        at_most(last("closed_form", "tensor power"), 0.05),
    ),
    "rnrf.x.impossibility": every(
        existence(last("midpoints", "impossibility")),
        existence(last("matching", "impossibility")),
        existence(last("list", "impossibility")),
    ),
    "rnrf.x.masking": existence(last("masked", "masking")),
}
