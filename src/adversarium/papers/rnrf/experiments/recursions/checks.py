"""Checks of RNRF's recursions."""

import numpy as np

from adversarium.plans import (
    AtMost,
    CountedAs,
    Each,
    Every,
    Identity,
    Level,
    NoDecay,
    Parts,
    Reading,
    last,
    where,
)

from ...theory.readings import CLEAN, tail_checks
from ...theory.regime import hypotheses
from .plan import STEPS
from .readings import ADV, CLOSED, ELEMENT_CLIP, LAW, PATCH_CLIP, SMALL_STEP, STD, VARIED


def _under_hypotheses(check, *runs):
    """Add the requirement that RNRF's hypotheses hold in these runs."""
    return Every(check, hypotheses(*runs))


def _law(letter):
    """Check that the least share of the law that an increment reaches does not fall with η̃.

    A constant in Θ or in κ changes this share at every η̃ alike.
    """

    def share(rows):
        return np.maximum(1 - rows.last(f"growth_law_error_{letter}"), 1e-6)

    reading = Reading(f"1 − error of the law of {letter}", share, (f"growth_law_error_{letter}",))
    title = f"slope in η̃ of 1 − error of the law of {letter}"
    return CountedAs("level", NoDecay(title, reading, "η̃", where(LAW)))


def _damped_law(step):
    """Check that the growth law with the damping by P_⊥w has a mean relative error of at most
    0.2."""
    return Level(last("growth_law_damped_error_B", where(LAW, η̃=step)), high=0.2)


def _weights_in_span(run):
    """Check that the weights stay in the span of the features and the initial weights."""
    return Identity(last("worst(weights_off_span)", run), 1e-10)


def _published_attack(run):
    """Check that the attacked input of Lemma D.17 of RNRF, as published, is exact."""
    return Identity(last("worst(printed_attack_error)", run), 1e-10)


checks = {
    "rnrf.lem5.1.recursion": Each(
        where((STD, VARIED)), lambda run: Identity(last("recursion_error", run), 1e-12)
    ),
    "rnrf.lemD.2.decomp": Each(
        where(STD), lambda run: Identity(last("worst(off_feature_drift)", run), 0.0)
    ),
    **tail_checks("rnrf.lemD.5.logit", "rnrf.lemD.6", CLEAN, where(STD), hypotheses(where(STD))),
    "rnrf.lemD.7.offdiag": Each(
        where(STD), lambda run: AtMost(last("off_diagonal_growth", run), 0.0)
    ),
    "rnrf.lem5.2.poly": _under_hypotheses(
        Parts({letter: _law(letter) for letter in "AB"}),
        where(LAW),
    ),
    "rnrf.lem5.2.poly.corrected": _under_hypotheses(
        Every(*(_damped_law(step) for step in STEPS[:-1])), where(LAW)
    ),
    "rnrf.lemD.16.decomp": Parts(
        {
            "nothing clipped off the features": _weights_in_span(SMALL_STEP),
            "every patch rescaled": _weights_in_span(PATCH_CLIP),
            "every element clipped": _weights_in_span(ELEMENT_CLIP),
        }
    ),
    "rnrf.lemD.17.advex": Every(_published_attack(SMALL_STEP), _published_attack(ELEMENT_CLIP)),
    "rnrf.lemD.17.advex.corrected": Identity(last("worst(attacked_off_span)", PATCH_CLIP), 1e-10),
    "rnrf.lemD.18.recursion": Identity(last("printed_recursion_error", ADV), 1e-12),
    "rnrf.lemD.18.recursion.unclipped": Identity(last("unclipped_recursion_error", ADV), 1e-12),
    "rnrf.lemD.18.recursion.corrected": Identity(last("recursion_error", CLOSED), 1e-12),
}
